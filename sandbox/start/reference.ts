import { readFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { once } from '../../lib/once.ts'
import { buildReference } from '../../reference/files.ts'
import { fetchViewer, VIEWER_FILE } from '../../reference/viewer.ts'

/** What the reference on this machine is made with. */
export type ReferenceSettings = {
  /** The key that is filled in. */
  readonly apiKey: string
  /** Where its viewer's script is kept. */
  readonly folder: string
  /** The environment in which npm fetches the script. */
  readonly env: NodeJS.ProcessEnv
}

const TYPES: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'openapi.json': 'application/json',
  'api.txt': 'text/plain; charset=utf-8',
  'guides.txt': 'text/plain; charset=utf-8',
  'client.txt': 'text/plain; charset=utf-8',
  'deploy.txt': 'text/plain; charset=utf-8',
  [VIEWER_FILE]: 'text/javascript; charset=utf-8',
}

/**
 * Serves the API's reference at `/docs/`, made when it is first opened, and leads there from `/`: true for a request that it
 * answers, false for one that is the API's. The deployed API has no such pages.
 */
export function serveReference({ apiKey, folder, env }: ReferenceSettings) {
  const build = once(() => buildReference({ apiKey }))
  const fetchOnce = once(() => fetchViewer(folder, env))

  const send = async (name: string, response: ServerResponse) => {
    const content = name === VIEWER_FILE ? await readFile(await fetchOnce()) : (await build())[name]
    response
      .writeHead(200, { 'content-type': TYPES[name], 'content-security-policy': "frame-ancestors 'none'" })
      .end(content)
  }

  return ({ method = '', url = '' }: IncomingMessage, response: ServerResponse): boolean => {
    if (method !== 'GET' && method !== 'HEAD') return false
    const [path = ''] = url.split('?')
    if (path === '/' || path === '/docs') {
      response.writeHead(302, { location: '/docs/' }).end()
      return true
    }
    const name = path === '/docs/' ? 'index.html' : path.replace(/^\/docs\//, '')
    if (!path.startsWith('/docs/') || !Object.hasOwn(TYPES, name)) return false
    send(name, response).catch((error) => {
      process.stderr.write(`There is no ${name}: ${error}\n`)
      response.writeHead(502).end()
    })
    return true
  }
}
