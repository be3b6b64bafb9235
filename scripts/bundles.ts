import { gzipSync } from 'node:zlib'
import { type Bundle, buildBundles, maxBundleKib } from '../infra/bundling.ts'
import { CONSUMERS, ENDPOINTS, type FunctionName, JOBS } from '../infra/functions.ts'

/** Returns a table row about a function's bundle: its name, minified size, gzip size and maximum in KiB, and its largest packages. */
function describe(name: FunctionName, { code, bytesByFile }: Bundle): string[] {
  const sizes = [code.length / 1024, gzipSync(code).length / 1024, maxBundleKib(name)]
  return [name, ...sizes.map((size) => size.toFixed(0)), largestPackages(bytesByFile).join(', ')]
}

function largestPackages(bytesByFile: ReadonlyMap<string, number>): string[] {
  const byPackage = new Map<string, number>()
  for (const [file, bytes] of bytesByFile) {
    const name = packageOf(file)
    byPackage.set(name, (byPackage.get(name) ?? 0) + bytes)
  }
  const largest = [...byPackage].sort(([, left], [, right]) => right - left).slice(0, 5)
  return largest.map(([name, bytes]) => `${name} ${(bytes / 1024).toFixed(0)}`)
}

function packageOf(file: string): string {
  return file.match(/.*node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1] ?? 'our own code'
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const isNumber = (column: number) => column > 0 && column < 4
  const line = (row: readonly string[]) =>
    row.map((cell, i) => (isNumber(i) ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0))).join('  ')
  return rows.map((row) => line(row).trimEnd()).join('\n')
}

const bundles = buildBundles([...ENDPOINTS, ...JOBS, ...CONSUMERS].map(([name]) => name))
const headings = ['function', 'KiB', 'gzip', 'budget', 'largest (KiB)']
process.stdout.write(`${table([headings, ...[...bundles].map(([name, bundle]) => describe(name, bundle))])}\n`)

const tooLarge = [...bundles].filter(([name, bundle]) => bundle.code.length > maxBundleKib(name) * 1024)
if (tooLarge.length > 0) {
  process.stderr.write(`Over budget: ${tooLarge.map(([name]) => name).join(', ')}\n`)
  process.exitCode = 1
}
