import { readFile, writeFile } from 'node:fs/promises'
import * as z from 'zod'

// npm leaves out of the lock file those optional packages of other platforms that its registry does not have, and
// `npm ci` then refuses the file. This adds them. Run it after every change of a dependency: npm run lock

const FILE = 'package-lock.json'
// Records keep the order of their keys, which would be changed with each run otherwise.
const Lock = z.record(z.string(), z.unknown())
const Packages = z.record(z.string(), z.record(z.string(), z.unknown()))
const OptionalDependencies = z.record(z.string(), z.string()).default({})

const PLATFORMS = [
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
] as const
const PROCESSORS: Readonly<Record<string, string>> = {
  ...{ amd64: 'x64', arm: 'arm', arm64: 'arm64', ia32: 'ia32', loong64: 'loong64', mips64el: 'mips64el' },
  ...{ ppc64: 'ppc64', riscv64: 'riscv64', s390x: 's390x', wasm32: 'wasm32', x64: 'x64' },
}

const lock = Lock.parse(JSON.parse(await readFile(FILE, 'utf8')))
const found = Packages.parse(lock['packages'])
const added = Object.values(found)
  .flatMap(({ optionalDependencies }) => Object.entries(OptionalDependencies.parse(optionalDependencies)))
  .filter(([name]) => !Object.keys(found).some((path) => path.endsWith(`node_modules/${name}`)))
for (const [name, version] of added) found[`node_modules/${name}`] = entryOf(name, version)

const [root, ...packages] = Object.entries(found)
if (!root) throw new Error(`${FILE} is empty.`)
const sorted = packages.toSorted(([left], [right]) => left.localeCompare(right, 'en'))
await writeFile(FILE, `${JSON.stringify({ ...lock, packages: Object.fromEntries([root, ...sorted]) }, null, 2)}\n`)
process.stdout.write(`Added ${added.length} optional packages of other platforms to ${FILE}.\n`)

/** The entry of a package that is installed on its own platform only, which its name tells. */
function entryOf(name: string, version: string) {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) throw new Error(`${name} is not pinned: ${version}`)
  const words = name.split(/[/-]/)
  const os = PLATFORMS.filter((platform) => words.includes(platform))
  const cpu = words.flatMap((word) => PROCESSORS[word] ?? [])
  if (cpu.length !== 1) throw new Error(`The name of ${name} does not tell its processor.`)
  const libc = words.includes('musl') ? ['musl'] : words.includes('gnu') ? ['glibc'] : undefined
  return { version, cpu, dev: true, ...(libc && { libc }), optional: true, ...(os.length > 0 && { os }) }
}
