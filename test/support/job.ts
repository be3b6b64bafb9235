import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { getAddress, keccak256, numberToHex, sliceHex, zeroAddress } from 'viem'
import * as z from 'zod'
import { contract } from '../../functions/queues/refresh-group/contract.ts'
import { depositSourceStore } from '../../lib/activity/deposit-source-store.ts'
import { openRequestsStore } from '../../lib/activity/open-requests-store.ts'
import { runsStore } from '../../lib/activity/recording/runs-store.ts'
import { recordsStore } from '../../lib/activity/store.ts'
import { putItems } from '../../lib/aws/dynamo.ts'
import { transfersStore } from '../../lib/bridge/store.ts'
import { chainVaultKey, listedVaultsStore, vaultClientsKey } from '../../lib/clients/listed-vaults-store.ts'
import { VaultOnChain } from '../../lib/protocols/vault-on-chain.ts'
import { pinStore } from '../../lib/vaults/pin-store.ts'
import { stateStore } from '../../lib/vaults/state-store.ts'
import { eventLogStore } from '../../lib/webhooks/log-store.ts'
import { webhooksStore } from '../../lib/webhooks/store.ts'
import { someVault } from './clients.ts'

type Tables = Readonly<Record<'clients' | 'deposits' | 'webhooks', string>>

/** What the job works with besides the chain and the clock, and the messages that it has sent to groups. */
export function jobServices(dynamo: DynamoDBDocumentClient, { clients, deposits, webhooks }: Tables) {
  const messages: z.output<typeof contract.message>[] = []
  const services = {
    listedVaults: listedVaultsStore(dynamo, clients),
    runs: runsStore(dynamo, deposits),
    records: recordsStore(dynamo, deposits),
    openRequests: openRequestsStore(dynamo, deposits),
    states: stateStore(dynamo, deposits),
    pinStore: pinStore(dynamo, deposits),
    transfers: transfersStore(dynamo, deposits),
    sources: depositSourceStore(dynamo, deposits),
    eventLog: eventLogStore(dynamo, webhooks),
    webhooks: webhooksStore(dynamo, webhooks),
    wakeRelays: async () => {},
    wakeGroups: async (asked: readonly object[]) => {
      messages.push(...z.array(contract.message).parse(JSON.parse(JSON.stringify(asked))))
    },
  }
  return { services, messages }
}

/** So many vaults of Base, whose addresses are spread over all. */
export function someVaults(count: number): VaultOnChain[] {
  return Array.from({ length: count }, (_, index) => {
    const address = getAddress(sliceHex(keccak256(numberToHex(index, { size: 32 })), 12))
    return someVault({ address, shareToken: address, poolId: address, asset: zeroAddress })
  })
}

/** Lists vaults for the job, each of the clients that are given for it. */
export async function listVaults(
  dynamo: DynamoDBDocumentClient,
  { clients }: Pick<Tables, 'clients'>,
  vaults: readonly VaultOnChain[],
  clientsOf: (index: number) => readonly string[],
): Promise<void> {
  const items = vaults.flatMap((vault, index) => [
    { ...chainVaultKey(vault), ...VaultOnChain.encode(vault) },
    { ...vaultClientsKey(vault), clients: new Set(clientsOf(index)) },
  ])
  await putItems(dynamo, clients, items)
}
