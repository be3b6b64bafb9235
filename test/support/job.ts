import { getAddress, keccak256, numberToHex, sliceHex, zeroAddress } from 'viem'
import * as z from 'zod'
import { contract } from '../../functions/queues/refresh-shard/contract.ts'
import { depositSourceStore } from '../../lib/activity/deposit-source-store.ts'
import { openRequestsStore } from '../../lib/activity/open-requests-store.ts'
import { recordingStore } from '../../lib/activity/store.ts'
import { buildItem } from '../../lib/aws/table.ts'
import { quotesStore } from '../../lib/bridge/quote-store.ts'
import { transfersStore } from '../../lib/bridge/store.ts'
import { chainVaultKey, listedVaultsStore, vaultClientsKey } from '../../lib/clients/listed-vaults-store.ts'
import { VaultOnChain } from '../../lib/protocols/vault-on-chain.ts'
import { pinStore } from '../../lib/vaults/pin-store.ts'
import { priceStore } from '../../lib/vaults/price-store.ts'
import { stateStore } from '../../lib/vaults/state-store.ts'
import { yieldLookup } from '../../lib/vaults/yields.ts'
import { appendingLogStore } from '../../lib/webhooks/log-store.ts'
import { webhooksStore } from '../../lib/webhooks/store.ts'
import { someVault } from './clients.ts'
import type { Tables } from './tables.ts'

/**
 * Creates all services of the job refresh-chain except its chain reader and clock. `messages` collects the queue messages that
 * the job sends for groups of vaults.
 */
export function createJobServices({ clients, deposits, webhooks }: Pick<Tables, 'clients' | 'deposits' | 'webhooks'>) {
  const messages: z.output<typeof contract.message>[] = []
  const [records, prices] = [recordingStore(deposits), priceStore(deposits)]
  const services = {
    listedVaults: listedVaultsStore(clients),
    relistVaults: async () => {},
    records,
    prices,
    getYield: yieldLookup({ records, prices, now: Date.now }),
    openRequests: openRequestsStore(deposits),
    states: stateStore(deposits),
    pinStore: pinStore(deposits),
    transfers: transfersStore(deposits),
    quotes: quotesStore(deposits),
    depositSources: depositSourceStore(deposits),
    fetchHint: async () => ({}),
    eventLog: appendingLogStore(webhooks),
    webhooks: webhooksStore(webhooks),
    enqueue: async (_: readonly object[]) => {},
    random: () => 0,
    sleep: async (_: number) => {},
    enqueueShards: async (shards: readonly object[]) => {
      messages.push(...z.array(contract.message).parse(JSON.parse(JSON.stringify(shards))))
    },
  }
  return { services, messages }
}

/** Creates `count` vaults on Base. Their addresses are hashes, so they spread evenly over all addresses. */
export function someVaults(count: number): VaultOnChain[] {
  return Array.from({ length: count }, (_, index) => {
    const address = getAddress(sliceHex(keccak256(numberToHex(index, { size: 32 })), 12))
    return someVault({ address, shareToken: address, poolId: address, asset: zeroAddress })
  })
}

/**
 * Stores vaults in the table from which the job lists them. `clientsOf` returns the ids of the API clients that use a vault.
 */
export async function storeVaults(
  { clients }: Pick<Tables, 'clients'>,
  vaults: readonly VaultOnChain[],
  clientsOf: (index: number) => readonly string[],
): Promise<void> {
  await clients.putMany(
    vaults.flatMap((vault, index) => [
      buildItem(VaultOnChain, chainVaultKey(vault), vault),
      { ...vaultClientsKey(vault), clients: new Set(clientsOf(index)) },
    ]),
  )
}
