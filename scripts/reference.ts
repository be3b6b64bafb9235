import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildReference } from '../reference/files.ts'
import { fetchViewer } from '../reference/viewer.ts'

// Writes the API's reference as a folder for any static host (docs/deploy.md).
const { api = '', out } = parseArgs({
  options: { api: { type: 'string' }, out: { type: 'string', default: 'dist/reference' } },
}).values

if (URL.canParse(api)) {
  const { origin } = new URL(api)
  await fetchViewer(out, process.env)
  const files = Object.entries(await buildReference({ apiOrigin: origin }))
  await Promise.all(files.map(([name, text]) => writeFile(join(out, name), text)))
  process.stdout.write(`${out} has the reference of ${origin}.\n`)
} else {
  process.stderr.write("It takes the API's URL: npm run reference -- --api https://… [--out dist/reference]\n")
  process.exitCode = 1
}
