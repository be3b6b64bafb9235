import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const START = join(import.meta.dirname, '../../sandbox/start.ts')

/** What these tests read of the state file. */
type State = { readonly walletUrl: string; readonly controlsUrl: string }

/** `npm start` in a process and a folder of its own. */
export type Sandbox = {
  readonly state: State
  /** Tells it to do something: `POST /sandbox/<name>`. Throws where it refuses. */
  control(name: string, body?: object): Promise<void>
  stop(): Promise<void>
}

/** Starts the whole service without a past, on free ports, and waits until it is ready. */
export async function startSandbox(): Promise<Sandbox> {
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-'))
  const [port, walletPort] = await Promise.all([freePort(), freePort()])
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, PAST: 'none', PORT: `${port}`, WALLET_PORT: `${walletPort}` }
  const child = spawn(process.execPath, [START], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        printed += text
        if (printed.includes('Ctrl-C')) resolve()
      })
    }
    child.once('exit', () => reject(new Error(`It ended instead: ${printed}`)))
  })
  const state: State = JSON.parse(readFileSync(join(folder, '.local/state.json'), 'utf8'))
  return {
    state,
    async control(name, body = {}) {
      const reply = await fetch(`${state.controlsUrl}/${name}`, { method: 'POST', body: JSON.stringify(body) })
      if (!reply.ok) throw new Error(`${name} answered ${reply.status}: ${await reply.text()}`)
    },
    async stop() {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
      rmSync(folder, { recursive: true })
    },
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('There is no port.')
  return address.port
}
