import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Address, Hex } from 'viem'
import type { LocalToken, LocalVault } from '../chains/world.ts'
import type { TableNames } from '../dynamo.ts'

/** What the running local service tells its users: where it is, and what is there to play with. */
export type LocalState = {
  readonly baseUrl: string
  readonly apiKey: string
  /** A second client, which has one vault only. */
  readonly otherClient: { readonly apiKey: string }
  /** `nodeUrls` are where the service reads the chain, `rpcUrl` is the chain itself. */
  readonly chains: readonly {
    readonly chainId: number
    readonly rpcUrl: string
    readonly nodeUrls: readonly string[]
  }[]
  readonly vaults: readonly LocalVault[]
  readonly tokens: readonly LocalToken[]
  /** Funded accounts to use freely. */
  readonly accounts: readonly { readonly address: Address; readonly privateKey: Hex }[]
  readonly curator: { readonly settlesEverySeconds: number; readonly safe: Address; readonly valuationManager: Address }
  readonly providersUrl: string
  /** Who fills transfers between the chains; `GET` of its control tells what it can be told. */
  readonly relayer: { readonly controlUrl: string; readonly address: Address }
  readonly dynamoEndpoint: string
  readonly tables: TableNames
}

/** Where the state of the running local service is. */
export const STATE_FILE = '.local/state.json'

/** Writes the state of the service that is running from here on. */
export async function writeState(state: LocalState): Promise<void> {
  await mkdir(dirname(STATE_FILE), { recursive: true })
  await writeFile(STATE_FILE, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 })
}

/** The state of the running local service; throws where none is running. */
export async function readState(): Promise<LocalState> {
  const text = await readFile(STATE_FILE, 'utf8').catch(() => {
    throw new Error('The local service is not running. Start it in another terminal: npm start')
  })
  return JSON.parse(text)
}

/** Forgets the service that has stopped. */
export async function removeState(): Promise<void> {
  await rm(STATE_FILE, { force: true })
}
