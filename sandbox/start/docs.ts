import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { buildDocsCsp } from '../../infra/docs-policy.ts'
import { contentTypeOf, createSiteBuilder, pageHeaders, type SiteOptions } from '../built-site.ts'

/** Settings of the local documentation website. */
export type DocsSettings = {
  /** API key that the pages insert into their examples. */
  readonly apiKey: string
  readonly folder: string
  /**
   * Value of the environment variable PATH, with which a build finds npm. The thread that serves the documentation has no PATH of its own.
   */
  readonly path: string | undefined
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const SOURCES = [
  ...['docs', 'client/README.md', 'README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'llms.txt'],
  ...['site/index.md', 'site/package-lock.json'],
  // Sources are listed one by one, because builds change other files in the folder .vitepress.
  ...['config.ts', 'markdown.ts', 'pages.ts', 'theme'].map((name) => `site/.vitepress/${name}`),
]

const HEADERS = pageHeaders(buildDocsCsp())

/**
 * Returns a handler that serves the documentation at `/docs/` and redirects `/` to it. The handler returns false for API requests. Opening
 * a page starts a rebuild of an outdated website, and shows the old one meanwhile. If `build` throws, the next page shows the error's
 * message.
 */
export function serveDocs(
  { apiKey, folder, path: binaries }: DocsSettings,
  { build = () => buildSite(binaries), sources = SOURCES }: Partial<Pick<SiteOptions, 'build' | 'sources'>> = {},
) {
  const site = createSiteBuilder({ folder, sources, build })
  let failure: string | undefined

  const send = async (name: string, response: ServerResponse) => {
    if (name === 'config.json') return reply(response, name, JSON.stringify({ apiUrl: '/', apiKey }))
    // Files in assets/ need no rebuild, because their names change with their content.
    const other = name.startsWith('assets/') ? undefined : await refresh()
    if (other) return reply(response, 'index.html', other)
    const content = await site.read(name)
    if (content) return reply(response, name, content)
    reply(response, '404.html', (await site.read('404.html')) ?? 'Not found', 404)
  }

  const refresh = async (): Promise<string | undefined> => {
    const reason = failure
    failure = undefined
    if (reason !== undefined) return failurePage(reason)
    site.refresh().catch((error) => {
      failure = error instanceof Error ? error.message : String(error)
    })
    return (await site.isBuilt()) ? undefined : WAITING
  }

  return ({ method = '', url = '' }: IncomingMessage, response: ServerResponse): boolean => {
    if (method !== 'GET' && method !== 'HEAD') return false
    const [path = ''] = url.split('?')
    if (path === '/' || path === '/docs') {
      response.writeHead(302, { location: '/docs/' }).end()
      return true
    }
    if (!path.startsWith('/docs/')) return false
    send(path.slice('/docs/'.length) || 'index.html', response).catch((error) => {
      process.stderr.write(`${path} cannot be served: ${error}\n`)
      response.writeHead(500).end()
    })
    return true
  }
}

function reply(response: ServerResponse, name: string, content: string | Buffer, status = 200): void {
  response
    .writeHead(status, { ...HEADERS, 'content-type': contentTypeOf(name), 'cache-control': 'no-cache' })
    .end(content)
}

async function buildSite(binaries: string | undefined): Promise<void> {
  const building = spawn(process.execPath, ['scripts/docs-site.ts'], {
    cwd: ROOT,
    env: { PATH: binaries },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const streams = [text(building.stdout), text(building.stderr)] as const
  const [output, errors, [status]] = await Promise.all([...streams, once(building, 'exit')])
  if (status !== 0) throw new Error(`${output}\n${errors}`.trim().split('\n').slice(-20).join('\n'))
}

const WAITING = page(
  '<meta http-equiv="refresh" content="2">',
  '<p>The documentation is being built. This page shows it when it is there, in about a minute.</p>',
)

function failurePage(reason: string): string {
  return page(
    '',
    `<p>The documentation could not be built. Reload this page to try again.</p>
    <pre>${reason.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</pre>
    <p>The same as Markdown: <code>${join(ROOT, 'docs')}</code>. As OpenAPI: <a href="/openapi.json">/openapi.json</a>.</p>`,
  )
}

function page(head: string, body: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Vaultline</title>
    <link rel="icon" href="data:,">
    ${head}
    <style>body { max-width: 44rem; margin: 15vh auto; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif } pre { overflow: auto }</style>
  </head>
  <body>
    ${body}
  </body>
</html>
`
}
