import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as z from 'zod'
import { buildReference } from '../reference/files.ts'
import { fetchViewer } from '../reference/viewer.ts'
import { readOptions } from './options.ts'

const USAGE = `Usage: npm run reference -- [--api https://…] [--out <folder>]

Fetches the viewer of the API's reference, which the stacks of sites take.

  --api   The API's URL: writes the whole reference of it, as a folder for any static host (docs/operate/sites.md)
  --out   Where to, dist/reference unless given
`

const Options = z.object({
  api: z.url({ error: "takes the API's URL, as https://…" }).optional(),
  out: z.string().default('dist/reference'),
})

const options = readOptions(USAGE, Options)
if (options) {
  const { api, out } = options
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
