import { seedClient } from '../../admin/operations.ts'
import { documentClient } from '../../lib/aws/dynamo.ts'
import { transfersStore } from '../../lib/bridge/store.ts'
import type { Backends } from '../backends.ts'
import type { State, States } from '../chains/states.ts'
import { localConfig } from '../dynamo.ts'
import { exchange } from '../exchange.ts'

/** The states that the service can show, as the state file has them: ask each with this key. */
export type LocalStates = { readonly apiKey: string; readonly questions: Readonly<Record<string, State>> }

/** How often it must be asked until it has found it. */
const LOOKS = 4

/** Registers a client that has the vaults of the states, and records what the service would have seen of a lost transfer. */
export async function seedStates(
  { admin, dynamo }: Backends,
  { vaults, questions, dropped }: States,
): Promise<LocalStates> {
  const transfers = transfersStore(documentClient(localConfig(dynamo.endpoint)), dynamo.tableNames.deposits)
  const { chainId: sourceChainId, transactionHash, sender } = dropped
  const [{ apiKey }] = await Promise.all([
    seedClient(admin, { name: 'States', vaults }),
    transfers.record(
      { sourceChainId, transactionHash, index: 0 },
      { sender: { address: sender, nonce: 0 }, droppedAt: { number: 1n, timestamp: 1n } },
    ),
  ])
  return { apiKey, questions }
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
