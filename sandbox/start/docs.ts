import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { access, readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { extname, join, resolve, sep } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { docsPolicy } from '../../infra/docs-policy.ts'

/** The documentation of the local service. */
export type DocsSettings = {
  /** The key that its pages fill in. */
  readonly apiKey: string
  /** The folder of the built site. */
  readonly folder: string
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  // Browsers save what is called Markdown instead of showing it.
  '.md': 'text/plain; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
}

const HEADERS = {
  'content-security-policy': docsPolicy(),
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

/**
 * Serves the documentation at `/docs/`, and leads there from `/`: true for a request that it takes, false for one of the API's.
 * Where the site is not built, the first page that is opened starts `build`, which throws the reason of its failure. The
 * deployed API has no such pages.
 */
export function serveDocs({ apiKey, folder }: DocsSettings, build: () => Promise<void> = buildSite) {
  let building: Promise<void> | undefined
  let failure: string | undefined

  const send = async (name: string, response: ServerResponse) => {
    if (name === 'config.json') return reply(response, name, JSON.stringify({ apiUrl: '/', apiKey }))
    if (building || !(await isThere(join(folder, 'index.html')))) return reply(response, '.html', waitingPage())
    const path = resolve(folder, name)
    const content = path.startsWith(resolve(folder) + sep) ? await readFile(path).catch(() => undefined) : undefined
    if (content) return reply(response, name, content)
    reply(response, '.html', await readFile(join(folder, '404.html')).catch(() => 'Not found'), 404)
  }

  /** The page in the place of a site that is not built yet; the reason of a failure is shown once, then built anew. */
  const waitingPage = () => {
    const reason = failure
    failure = undefined
    if (reason !== undefined) return failurePage(reason)
    building ??= build()
      .catch((error) => {
        failure = error instanceof Error ? error.message : String(error)
      })
      .finally(() => {
        building = undefined
      })
    return WAITING
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
  const type = TYPES[extname(name) || name] ?? 'application/octet-stream'
  response.writeHead(status, { ...HEADERS, 'content-type': type, 'cache-control': 'no-cache' }).end(content)
}

async function isThere(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  )
}

/** Builds the site by `npm run docs:build`; throws the last lines that it prints where that fails. */
async function buildSite(): Promise<void> {
  const npm = spawn('npm', ['run', '--silent', 'docs:build'], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  const [output, errors, [status]] = await Promise.all([text(npm.stdout), text(npm.stderr), once(npm, 'exit')])
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
