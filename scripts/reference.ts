import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildReference } from '../reference/files.ts'
import { fetchViewer } from '../reference/viewer.ts'

// Fetches the viewer of the API's reference, which the stacks of sites take; with the API's URL it writes the whole reference
// as a folder for any other static host (docs/deploy.md).
const { api, out } = parseArgs({
  options: { api: { type: 'string' }, out: { type: 'string', default: 'dist/reference' } },
}).values

if (api !== undefined && !URL.canParse(api)) {
  process.stderr.write("--api takes the API's URL: npm run reference -- --api https://… [--out dist/reference]\n")
  process.exitCode = 1
} else {
  await fetchViewer(out, process.env)
  if (api === undefined) {
    process.stdout.write(`${out} has the viewer of the reference.\n`)
  } else {
    const { origin } = new URL(api)
    const files = Object.entries(await buildReference({ apiOrigin: origin }))
    await Promise.all(files.map(([name, text]) => writeFile(join(out, name), text)))
    process.stdout.write(`${out} has the reference of ${origin}.\n`)
  }
}
