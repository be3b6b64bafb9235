import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import * as z from 'zod'
import manifest from '../client/package.json' with { type: 'json' }
import { readOptions } from './options.ts'

const USAGE = `Usage: npm run pack -- [--repository <url>] [--out <folder>] [--check]

Packs the client as npm publishes it and prints the path of the package.

  --repository  The repository's address, which the package and the links of its README then name
  --out         The folder of the package: dist/client unless given
  --check       Runs publint and Are The Types Wrong on the package
`
/** Tools that check the package. They are installed in a separate folder: 63 packages and 39 MB that only this script needs. */
const CHECKERS = { publint: '0.3.25', '@arethetypeswrong/cli': '0.18.5' }
const CHECKERS_FOLDER = '.local/package-checkers'
const SOURCES = ['src', 'tsconfig.json']

const options = readOptions(
  USAGE,
  z.object({
    repository: z.url({ protocol: /^https$/ }).optional(),
    out: z.string().default('dist/client'),
    check: z.literal(true).optional(),
  }),
)
if (options) {
  const file = pack(options.out, options.repository)
  process.stdout.write(`${file}\n`)
  if (options.check) check(file)
}

/** Packs the client's npm package in a folder, which it empties first, and returns the package's path. Throws if npm fails. */
function pack(folder: string, repository: string | undefined): string {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const name of SOURCES) cpSync(join('client', name), join(folder, name), { recursive: true })
  cpSync('LICENSE', join(folder, 'LICENSE'))
  const origin = repository && {
    repository: { type: 'git', url: `git+${repository}.git`, directory: 'client' },
    homepage: `${repository}/tree/main/client#readme`,
    bugs: `${repository}/issues`,
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ ...manifest, ...origin }, null, 2)}\n`)
  const readme = readFileSync('client/README.md', 'utf8')
  writeFileSync(
    join(folder, 'README.md'),
    replaceLinks(readme, repository && `${repository}/blob/v${manifest.version}`),
  )
  // npm runs the client's script `prepack`, which compiles the client.
  const [packed] = z
    .array(z.object({ filename: z.string() }))
    .parse(JSON.parse(run('npm', ['pack', '--json', '--silent'], folder)))
  if (!packed) throw new Error('npm has packed nothing.')
  return join(folder, packed.filename)
}

/** Replaces links to files of the repository by links to `base`, or by plain text if there is no `base`. */
function replaceLinks(markdown: string, base: string | undefined): string {
  return markdown.replaceAll(/\[([^\]]+)\]\((?!https:|#)([^)]+)\)/g, (_, text: string, path: string) =>
    base ? `[${text}](${base}/${posix.join('client', path)})` : text,
  )
}

/** Checks a package with publint and Are The Types Wrong. Throws an Error with their findings. */
function check(file: string): void {
  mkdirSync(CHECKERS_FOLDER, { recursive: true })
  writeFileSync(join(CHECKERS_FOLDER, 'package.json'), JSON.stringify({ private: true, dependencies: CHECKERS }))
  run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts'], CHECKERS_FOLDER)
  const bin = (name: string) => join(CHECKERS_FOLDER, 'node_modules/.bin', name)
  run(bin('publint'), ['run', file, '--strict'])
  run(bin('attw'), [file, '--profile', 'esm-only', '--no-emoji', '--format', 'ascii'])
}

function run(command: string, args: readonly string[], cwd = '.'): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (error || status !== 0)
    throw new Error(`${command} ${args.join(' ')} failed: ${stdout}${stderr}`, { cause: error })
  return stdout
}
