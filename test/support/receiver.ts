import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'

/** Example webhook receiver of docs/guides/webhooks.md in its own process, with its database. */
export type Receiver = {
  readonly url: string
  readonly database: DatabaseSync
  readonly restart: () => Promise<void>
}

/** Starts the example webhook receiver. It runs until the test ends. */
export async function startReceiver({
  folder,
  file = 'receiver.ts',
  env,
  port,
}: {
  readonly folder: string
  readonly file?: string
  readonly env: Readonly<Record<string, string>>
  readonly port: number
}): Promise<Receiver> {
  const home = await mkdtemp(join(tmpdir(), 'receiver-'))
  const path = join(home, 'entries.db')
  const settings = { ...env, PORT: `${port}`, DATABASE: path, NODE_NO_WARNINGS: '1' }
  let child: ChildProcess | undefined
  const stop = async () => {
    if (child?.kill('SIGKILL')) await once(child, 'exit')
  }
  const restart = async () => {
    await stop()
    child = spawn(process.execPath, [file], { cwd: folder, env: settings, stdio: ['ignore', 'pipe', 'ignore'] })
    // The receiver prints a line when it is ready.
    if (child.stdout) await once(child.stdout, 'data')
  }
  await restart()
  const database = new DatabaseSync(path)
  onTestFinished(async () => {
    database.close()
    await stop()
    await rm(home, { recursive: true })
  })
  return { url: `http://127.0.0.1:${port}`, database, restart }
}
