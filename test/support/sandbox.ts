import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Path of the script that `npm start` runs. */
export const START_SCRIPT = join(import.meta.dirname, '../../sandbox/start.ts')

/** Local service (`npm start`) in its own process and folder. */
export type Sandbox = {
  readonly child: ChildProcess
  readonly folder: string
  readonly printed: () => string
}

/** Starts `npm start` with these environment variables, by default in a new temporary folder. */
export function runSandbox(
  settings: Readonly<Record<string, string>> = {},
  folder = mkdtempSync(join(tmpdir(), 'sandbox-')),
): Sandbox {
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, ...settings }
  const child = spawn(process.execPath, [START_SCRIPT], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      printed += text
    })
  }
  return { child, folder, printed: () => printed }
}

/** Starts `npm start` and waits until its start-up text is complete. Throws if the process exits before. */
export async function startSandbox(settings?: Readonly<Record<string, string>>): Promise<Sandbox> {
  const sandbox = runSandbox(settings)
  const { child, printed } = sandbox
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', () => printed().includes('Ctrl-C') && resolve())
    child.once('exit', () => reject(new Error(`It ended instead: ${printed()}`)))
  })
  return sandbox
}

/** Kills the local service, if it still runs, and deletes its folder. */
export async function clearSandbox({ child, folder }: Sandbox): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  rmSync(folder, { recursive: true })
}

/** Returns the path of the local service's state file. */
export function stateFileOf({ folder }: Sandbox): string {
  return join(folder, '.local/state.json')
}

/** Reads the local service's state file. */
export function readStateFile(sandbox: Sandbox): unknown {
  return JSON.parse(readFileSync(stateFileOf(sandbox), 'utf8'))
}

/** Starts a server that occupies a local port, by default any free one. */
export async function occupyPort(port = 0): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** Returns a free local port. */
export async function freePort(): Promise<number> {
  const server = await occupyPort()
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
