import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { endpoints } from '../functions/contracts.ts'
import type { EndpointContract } from '../lib/frame/contract.ts'
import packageJson from '../package.json' with { type: 'json' }
import examples from '../reference/examples.json' with { type: 'json' }
import { buildOpenApi } from '../reference/openapi.ts'
import { buildPages } from '../reference/pages.ts'

// Writes the document that `GET /openapi.json` serves, and the pages of docs/api, from the endpoints' contracts and the recorded examples.
// With --check it only reports files that differ.
const FOLDER = 'docs/api'
const DOCUMENT = 'functions/system/openapi/openapi.json'

const routes = Object.values<EndpointContract>(endpoints).filter(({ path }) => path !== '$default')
const document = buildOpenApi(routes, packageJson.version, examples)
const files = new Map([
  [DOCUMENT, `${JSON.stringify(document, null, 2)}\n`],
  ...[...buildPages(routes)].map(([name, text]) => [join(FOLDER, name), text] as const),
])
const stale = (await readdir(FOLDER)).map((name) => join(FOLDER, name)).filter((path) => !files.has(path))

if (process.argv.includes('--check')) {
  const read = (path: string) => readFile(path, 'utf8').catch(() => undefined)
  const same = await Promise.all([...files].map(async ([path, text]) => (await read(path)) === text))
  const wrong = [...[...files.keys()].filter((_, index) => !same[index]), ...stale]
  if (wrong.length > 0) {
    process.stderr.write(`Not what the contracts say: ${wrong.join(', ')}. Run: npm run docs\n`)
    process.exitCode = 1
  }
} else {
  await Promise.all([...stale.map((path) => rm(path)), ...[...files].map(([path, text]) => writeFile(path, text))])
}
