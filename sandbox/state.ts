import { mkdir, readFile, readlink, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Address, Hex } from 'viem'
import type { PublicKey } from '../lib/signing/public-key.ts'
import type { LocalToken, LocalVault } from './chains/world.ts'
import type { TableNames } from './dynamo.ts'
import type { LocalStates } from './start/states.ts'
import type { LocalWebhook } from './start/webhook.ts'

/** Content of the file `STATE_FILE`: addresses and keys of the running local service. */
export type LocalState = {
  readonly walletUrl: string
  readonly baseUrl: string
  readonly apiKey: string
  /** Second client of the API, with a single vault. */
  readonly otherClient: { readonly apiKey: string }
  /** Local chains. The service reads a chain through the imitated nodes at `nodeUrls`; `rpcUrl` bypasses these nodes. */
  readonly chains: readonly {
    readonly chainId: number
    readonly rpcUrl: string
    readonly nodeUrls: readonly string[]
  }[]
  readonly vaults: readonly LocalVault[]
  readonly tokens: readonly LocalToken[]
  readonly accounts: readonly { readonly address: Address; readonly privateKey: Hex }[]
  readonly curator: { readonly settlesEverySeconds: number; readonly safe: Address; readonly valuationManager: Address }
  readonly providersUrl: string
  readonly controlsUrl: string
  /** Webhook of the client that owns `apiKey`. */
  readonly webhook: LocalWebhook
  /**
   * Requests that show prepared deposits, rewards and transfers in each status, such as pending; undefined if the chains have no history.
   */
  readonly states?: LocalStates
  /** Public part of the key that signs responses. */
  readonly signingKey: PublicKey
  readonly dynamoEndpoint: string
  readonly deliveryQueueUrl: string
  readonly tables: TableNames
}

/** Path of the JSON file that contains the `LocalState` of the running service. */
export const STATE_FILE = '.local/state.json'

/** Path of the file with environment variables, for `node --env-file`. */
export const ENV_FILE = '.local/.env'

/** Writes the files `STATE_FILE` and `ENV_FILE`, readable only by their owner. */
export async function writeState(state: LocalState): Promise<void> {
  await mkdir(dirname(STATE_FILE), { recursive: true })
  await writeFile(STATE_FILE, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 })
  await writeFile(ENV_FILE, environmentOf(state), { mode: 0o600 })
}

/** Returns the text of the environment file. `ACCOUNT` has coins and tokens; `VAULT` is on the first chain and mints shares instantly. */
function environmentOf({ baseUrl, apiKey, chains, vaults, accounts: [account] }: LocalState): string {
  const vault = vaults.find(({ chainId, type }) => chainId === chains[0]?.chainId && type === 'sync')
  const variables = {
    VAULTLINE_URL: baseUrl,
    VAULTLINE_KEY: apiKey,
    ...Object.fromEntries(chains.map(({ chainId, rpcUrl }) => [`RPC_URL_${chainId}`, rpcUrl])),
    VAULT: vault?.address,
    ACCOUNT: account?.address,
    PRIVATE_KEY: account?.privateKey,
  }
  return Object.entries(variables)
    .map(([name, value = '']) => `${name}=${value}\n`)
    .join('')
}

/** Reads the file `STATE_FILE`. Throws if no service is running. */
export async function readState(): Promise<LocalState> {
  const text = await readFile(STATE_FILE, 'utf8').catch(() => {
    throw new Error('The local service is not running. Start it in another terminal: npm start')
  })
  return JSON.parse(text)
}

/**
 * Lock of the working folder: a symbolic link whose target is the id of the process that holds the lock. Creating a link with its target is
 * atomic.
 */
const LOCK = '.local/process'

/** Locks the working folder, so that only one service runs in it. Throws if another running process holds the lock. */
export async function lockFolder(): Promise<void> {
  await mkdir(dirname(LOCK), { recursive: true })
  while (!(await linked(LOCK, `${process.pid}`))) {
    const holder = Number(await readlink(LOCK).catch(() => 0))
    if (holder !== process.pid && isRunning(holder)) {
      throw new Error(
        `Process ${holder} runs in this folder. Stop it first, or remove ${LOCK} if it is something else.`,
      )
    }
    await rm(LOCK, { force: true })
  }
}

/** Releases the lock of the working folder. */
export async function releaseFolder(): Promise<void> {
  await rm(LOCK, { force: true })
}

async function linked(path: string, target: string): Promise<boolean> {
  try {
    await symlink(target, path)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

function isRunning(pid: number): boolean {
  if (!(pid > 0)) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Removes the files `STATE_FILE` and `ENV_FILE`. */
export async function removeState(): Promise<void> {
  await Promise.all([STATE_FILE, ENV_FILE].map((file) => rm(file, { force: true })))
}
