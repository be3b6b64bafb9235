import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { endpoints } from '../functions/contracts.ts'
import type { EndpointContract } from '../lib/frame/contract.ts'
import { buildPages } from './api-reference/pages.ts'

// Writes docs/api from the contracts that the functions run on. With --check it only reports files that differ.
const FOLDER = 'docs/api'

const routes = Object.values<EndpointContract>(endpoints).filter(({ path }) => path !== '$default')
const pages = buildPages(routes)
await mkdir(FOLDER, { recursive: true })
const written = await readdir(FOLDER)
const stale = written.filter((name) => !pages.has(name))
if (process.argv.includes('--check')) {
  const read = async (name: string) => (written.includes(name) ? readFile(join(FOLDER, name), 'utf8') : undefined)
  const texts = await Promise.all([...pages].map(async ([name, text]) => ((await read(name)) === text ? [] : [name])))
  const wrong = [...texts.flat(), ...stale].map((name) => join(FOLDER, name))
  if (wrong.length > 0) {
    process.stderr.write(`Not what the contracts say: ${wrong.join(', ')}. Run: npm run docs\n`)
    process.exitCode = 1
  }
} else {
  await Promise.all(stale.map((name) => rm(join(FOLDER, name))))
  await Promise.all([...pages].map(([name, text]) => writeFile(join(FOLDER, name), text)))
}
