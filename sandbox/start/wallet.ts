import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { buildWalletCsp, type WalletConfig } from '../../infra/wallet-config.ts'
import { contentTypeOf, createSiteBuilder, pageHeaders } from '../built-site.ts'
import { listen } from '../listen.ts'

type WalletOptions = { readonly port: number; readonly folder: string; readonly config: () => WalletConfig }

const WALLET = fileURLToPath(new URL('../../wallet', import.meta.url))
const SOURCES = [
  'wallet/index.html',
  'wallet/vite.config.ts',
  'wallet/src',
  'wallet/public',
  'client/src',
  'package-lock.json',
]

/**
 * Serves the demo wallet on localhost. A request rebuilds the wallet if its sources are newer than the last build, and waits for the build.
 * `stop` also ends a running build.
 */
export async function startWallet({ port, folder, config }: WalletOptions): Promise<{ stop(): Promise<void> }> {
  const site = createSiteBuilder({ folder, sources: SOURCES, build: (signal) => buildWallet(folder, signal) })
  const securityHeaders = pageHeaders(buildWalletCsp(config()))

  const answer = async ({ method, url = '/', headers: { host } }: IncomingMessage, response: ServerResponse) => {
    if (method !== 'GET' && method !== 'HEAD') return response.writeHead(405, { allow: 'GET, HEAD' }).end()
    // The page redirects to localhost: a passkey for localhost works on no other host, not even on 127.0.0.1.
    if (host === `127.0.0.1:${port}`) {
      return response.writeHead(302, { location: `http://localhost:${port}${url}` }).end()
    }
    const { pathname } = new URL(`http://localhost${url}`)
    if (pathname === '/config.json') {
      const noStore = { 'content-type': 'application/json', 'cache-control': 'no-store' }
      return response.writeHead(200, noStore).end(JSON.stringify(config()))
    }
    await site.refresh()
    // A path without a file extension is a page of the wallet.
    const name = extname(pathname) === '' ? 'index.html' : pathname.slice(1)
    const content = await site.read(name)
    if (!content) return response.writeHead(404).end()
    response.writeHead(200, {
      ...securityHeaders,
      'content-type': contentTypeOf(name),
      // Files in assets/ may be cached forever, because their names change with their content.
      'cache-control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    })
    return response.end(content)
  }

  const serve = (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch((error) => {
      const report = `The wallet could not be built.\n\n${error instanceof Error ? error.message : error}\n`
      response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end(report)
    })
  }
  const { stop } = await listen(serve, { port })
  return {
    async stop() {
      await Promise.all([stop(), site.stop()])
    },
  }
}

async function buildWallet(folder: string, signal: AbortSignal): Promise<void> {
  const vite = spawn(
    process.execPath,
    [
      ...[viteBinary(), 'build', WALLET, '--mode', 'sandbox', '--configLoader', 'native'],
      ...['--outDir', join(process.cwd(), folder), '--emptyOutDir', '--logLevel', 'warn'],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], signal },
  )
  const [complaint, [status]] = await Promise.all([text(vite.stderr), once(vite, 'exit')])
  if (status !== 0) throw new Error(complaint)
}

/** Returns the path of Vite's program, resolved from the wallet's package, because only that package depends on Vite. */
function viteBinary(): string {
  return join(createRequire(join(WALLET, 'package.json')).resolve('vite/package.json'), '../bin/vite.js')
}
