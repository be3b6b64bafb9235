import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, stat, utimes } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type WalletConfig, walletPolicy } from '../../infra/wallet-config.ts'
import { listen } from '../listen.ts'

/** How to serve the demo wallet: where, where its build is kept, and what it is told now. */
type WalletOptions = { readonly port: number; readonly folder: string; readonly config: () => WalletConfig }

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const WALLET = join(ROOT, 'wallet')
/** What the build is made of, below the root; folders with all that is in them. */
const SOURCES = [
  'wallet/index.html',
  'wallet/vite.config.ts',
  'wallet/src',
  'wallet/public',
  'client/src',
  'package-lock.json',
]

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
}

/**
 * Serves the demo wallet on localhost. It is built when a page is first opened, and again when its sources have changed
 * since; meanwhile requests wait. `stop` ends it all.
 */
export async function startWallet({ port, folder, config }: WalletOptions): Promise<{ stop(): Promise<void> }> {
  const { keepBuilt, stop } = walletBuilder(folder)
  const securityHeaders = {
    'content-security-policy': walletPolicy(config()),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  }

  const answer = async ({ method, url = '/', headers: { host } }: IncomingMessage, response: ServerResponse) => {
    if (method !== 'GET' && method !== 'HEAD') return response.writeHead(405, { allow: 'GET, HEAD' }).end()
    // A passkey for localhost can be made and used on no other host, this machine's number included.
    if (host === `127.0.0.1:${port}`) {
      return response.writeHead(302, { location: `http://localhost:${port}${url}` }).end()
    }
    const { pathname } = new URL(`http://localhost${url}`)
    if (pathname === '/config.json') {
      const noStore = { 'content-type': 'application/json', 'cache-control': 'no-store' }
      return response.writeHead(200, noStore).end(JSON.stringify(config()))
    }
    const files = await keepBuilt()
    // A path that names no file is a page of the wallet's own.
    const name = extname(pathname) === '' ? 'index.html' : pathname.slice(1)
    if (!files.has(name)) return response.writeHead(404).end()
    response.writeHead(200, {
      ...securityHeaders,
      'content-type': TYPES[extname(name)] ?? 'application/octet-stream',
      // The name of an asset changes with its content.
      'cache-control': name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
    })
    return response.end(await readFile(join(folder, name)))
  }

  const serve = (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response).catch((error) => {
      const report = `The wallet could not be built.\n\n${error instanceof Error ? error.message : error}\n`
      response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8' }).end(report)
    })
  }
  const { stop: close } = await listen(serve, { port })
  return {
    async stop() {
      await Promise.all([close(), stop()])
    },
  }
}

/** Keeps the wallet's build in this folder newer than its sources; `keepBuilt` gives its files' names. */
function walletBuilder(folder: string) {
  let vite: ChildProcess | undefined
  let running: Promise<ReadonlySet<string>> | undefined

  const build = async () => {
    const startedAt = new Date()
    vite = spawn(
      process.execPath,
      [
        ...[viteBinary(), 'build', WALLET, '--mode', 'sandbox', '--configLoader', 'native'],
        ...['--outDir', join(process.cwd(), folder), '--emptyOutDir', '--logLevel', 'warn'],
      ],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    )
    const [complaint, [status]] = await Promise.all([vite.stderr ? text(vite.stderr) : '', once(vite, 'exit')])
    vite = undefined
    if (status !== 0) throw new Error(complaint)
    // What changes during a build is newer than the build.
    await utimes(join(folder, 'index.html'), startedAt, startedAt)
  }
  const refresh = async () => {
    const [builtAt, changedAt] = await Promise.all([timeOf(join(folder, 'index.html')), newest(SOURCES)])
    if (builtAt <= changedAt) await build()
    return new Set(await readdir(folder, { recursive: true }))
  }
  return {
    keepBuilt: () => {
      running ??= refresh().finally(() => {
        running = undefined
      })
      return running
    },
    async stop() {
      vite?.kill()
      await running?.catch(() => undefined)
    },
  }
}

/** When the newest of these, and of what is in them, changed. */
async function newest(paths: readonly string[]): Promise<number> {
  const times = paths.map(async (path) => {
    const place = join(ROOT, path)
    // A file that was deleted or renamed leaves its trace in its folder alone.
    const inside = await readdir(place, { recursive: true }).catch(() => [])
    return Math.max(...(await Promise.all(['', ...inside].map((name) => timeOf(join(place, name))))))
  })
  return Math.max(...(await Promise.all(times)))
}

/** When a file or folder changed, in epoch milliseconds; 0 for none. */
async function timeOf(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
}

/** Vite is a dependency of the wallet's, not of ours. */
function viteBinary(): string {
  return join(createRequire(join(WALLET, 'package.json')).resolve('vite/package.json'), '../bin/vite.js')
}
