import { zeroHash } from 'viem'
import { issueKey } from '../../admin/operations/clients.ts'
import { seedClient } from '../../admin/operations/seed-client.ts'
import { createTable } from '../../lib/aws/table.ts'
import { transfersStore } from '../../lib/bridge/store.ts'
import { ACCOUNTS } from '../accounts.ts'
import type { Backends } from '../backends.ts'
import type { State, States } from '../chains/states.ts'
import { exchange } from '../exchange.ts'

/** The states that the service can show, as the state file has them: ask each with this key, or with its own. */
export type LocalStates = {
  readonly apiKey: string
  readonly questions: Readonly<Record<string, State & { readonly apiKey?: string }>>
}

/** The most that a key with limits deposits, of a token of six decimals, and a chain that it is not for. */
const LARGEST = 1_000_000n
const OTHER_CHAIN = 42161
/** The terms of a deposit that nobody made. */
const LOST = { hash: zeroHash, quotedAt: 1 }
/** How often it must be asked until it has found it. */
const LOOKS = 4

/** Registers a client that has the vaults of the states, and records what the service would have seen of a lost transfer. */
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

/** Issues keys with tight limits, and returns a question that each refuses; none where the vaults are missing. */
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

/** Asks the running service about the transfers that it finds out about in several looks, as who has followed them. */
export async function followTransfers(baseUrl: string, { slow }: States, { apiKey }: LocalStates): Promise<void> {
  await Promise.all(
    slow.map(async ({ path }) => {
      for (let look = 0; look < LOOKS; look += 1) {
        await exchange(`${baseUrl}${path}`, { method: 'GET', headers: { 'x-join-key': apiKey } })
      }
    }),
  )
}
