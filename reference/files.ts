import { readFile } from 'node:fs/promises'
import { endpoints } from '../functions/contracts.ts'
import examples from '../functions/system/openapi/examples.json' with { type: 'json' }
import { buildOpenApi } from '../lib/frame/openapi.ts'
import packageJson from '../package.json' with { type: 'json' }
import { buildPage, type PageOptions } from './page.ts'

/** The reference's files by their names, but for its viewer's script: the page, the OpenAPI document, and docs/api.md. */
export async function buildReference(options: PageOptions): Promise<Readonly<Record<string, string>>> {
  const document = buildOpenApi(Object.values(endpoints), packageJson.version, examples)
  const servers = [{ url: options.apiOrigin ?? '/' }]
  return {
    'index.html': buildPage(options),
    'openapi.json': JSON.stringify({ ...document, servers }),
    // As .txt, because browsers save what is called .md instead of showing it.
    'api.txt': await readFile(new URL('../docs/api.md', import.meta.url), 'utf8'),
  }
}
