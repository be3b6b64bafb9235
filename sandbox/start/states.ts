import { zeroHash } from 'viem'
import { issueKey } from '../../admin/operations/clients.ts'
import { seedClient } from '../../admin/operations/seed-client.ts'
import { createTable } from '../../lib/aws/table.ts'
import { transfersStore } from '../../lib/bridge/store.ts'
import { ACCOUNTS } from '../accounts.ts'
import type { Backends } from '../backends.ts'
import type { StateRequest, States } from '../chains/states.ts'
import { sendHttpRequest } from '../exchange.ts'

/** API requests that show prepared states, such as a pending deposit. A request without its own API key uses `apiKey`. */
export type LocalStates = {
  readonly apiKey: string
  readonly questions: Readonly<Record<string, StateRequest & { readonly apiKey?: string }>>
}

/** Maximum deposit that the API key `limited` allows, in the smallest unit of USDC. */
const LARGEST = 1_000_000n
/** Id of a chain that the API key `limited` does not allow. */
const OTHER_CHAIN = 42161
/** Dummy values for the record of a bridge deposit that never reached the chain. */
const LOST = { hash: zeroHash, quotedAt: 1 }
/** Number of status requests after which the service reports a transfer's final status. */
const STATUS_REQUESTS = 4

/**
 * Registers an API client with the vaults of the prepared states, and issues its API keys. Records a transfer whose transaction was
 * replaced, as the service would.
 */
export async function seedStates(
  { admin, dynamo }: Backends,
  { vaults, questions, dropped }: States,
): Promise<LocalStates> {
  const transfers = transfersStore(createTable(dynamo.connection, dynamo.tableNames.deposits))
  const { chainId: sourceChainId, transactionHash, sender } = dropped
  const [{ apiKey, clientId }] = await Promise.all([
    seedClient(admin, { name: 'States', vaults }),
    transfers.recordSent(
      { sourceChainId, hash: transactionHash },
      { sender: { address: sender, nonce: 0 }, deposits: [{ ...LOST, depositor: sender }], isFinal: false },
    ),
  ])
  return { apiKey, questions: { ...questions, ...(await seedLimits(admin, clientId, vaults)) } }
}

/**
 * Issues API keys with tight limits. Returns requests that these limits reject, by the state's name; returns none if the vaults are
 * missing.
 */
async function seedLimits(
  admin: Backends['admin'],
  clientId: string,
  [vault, other]: States['vaults'],
): Promise<LocalStates['questions']> {
  if (!vault || !other) return {}
  const { chainId, asset } = vault
  const bounds = { chains: [chainId], vaults: [vault], largestDeposits: [{ chainId, asset, amount: LARGEST }] }
  const keys = await Promise.all([
    issueKey(admin, { clientId, name: 'limited', limits: { scopes: ['vaults'], ...bounds } }),
    issueKey(admin, { clientId, name: 'once an hour', limits: { rate: { requests: 1, seconds: 3600 } } }),
  ])
  const [limited, onceAnHour] = keys.map(({ text }) => ({ apiKey: text })) as [{ apiKey: string }, { apiKey: string }]
  const deposit = (into: typeof vault, more: object = {}) => ({
    path: '/defi-vaults/v1/defi/vault/deposit',
    body: { vaultAddress: into.address, amount: `${LARGEST}`, userAddress: ACCOUNTS.states[0]?.address, ...more },
  })
  return {
    'key without the scope': { path: '/portfolio-indexor/markets', ...limited },
    'key for another chain': { ...deposit(vault, { chainId: OTHER_CHAIN }), ...limited },
    'key for another vault': { ...deposit(other), ...limited },
    'deposit above what the key may': { ...deposit(vault, { amount: `${LARGEST + 1n}` }), ...limited },
    'key that has asked too often': { path: '/defi-vaults/v1/vaults', ...onceAnHour },
  }
}

/** Requests the status of the transfers in `slow` repeatedly, until the service reports their final status. */
export async function followTransfers(baseUrl: string, { slow }: States, { apiKey }: LocalStates): Promise<void> {
  await Promise.all(
    slow.map(async ({ path }) => {
      for (let look = 0; look < STATUS_REQUESTS; look += 1) {
        await sendHttpRequest(`${baseUrl}${path}`, { method: 'GET', headers: { 'x-join-key': apiKey } })
      }
    }),
  )
}
