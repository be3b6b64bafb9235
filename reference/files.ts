import { endpoints } from '../functions/contracts.ts'
import packageJson from '../package.json' with { type: 'json' }
import examples from './examples.json' with { type: 'json' }
import { buildGuides, buildTexts } from './guides.ts'
import { buildOpenApi } from './openapi.ts'
import { buildPage, type PageOptions } from './page.ts'

/**
 * The reference's files by their names, but for its viewer's script: the page, the OpenAPI document with the guides in its
 * description, and texts.
 */
export async function buildReference(options: PageOptions): Promise<Readonly<Record<string, string>>> {
  const document = buildOpenApi(Object.values(endpoints), packageJson.version, examples)
  const { contents, pages } = await buildGuides()
  const info = { ...document.info, description: [contents, document.info.description, pages].join('\n\n') }
  const servers = [{ url: options.apiOrigin ?? '/' }]
  return {
    'index.html': buildPage(options),
    'openapi.json': JSON.stringify({ ...document, info, servers }),
    'guides.txt': pages,
    ...(await buildTexts()),
  }
}
