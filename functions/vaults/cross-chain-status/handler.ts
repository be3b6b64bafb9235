import type { Address } from 'viem'
import { type DepositSources, depositSources } from '../../../lib/activity/source.ts'
import { dynamo } from '../../../lib/aws/dynamo.ts'
import { readTransfer } from '../../../lib/bridge/status.ts'
import { type TransfersStore, transfersStore } from '../../../lib/bridge/store.ts'
import type { ChainReader } from '../../../lib/chain/reader.ts'
import { apiKey } from '../../../lib/frame/api-key.ts'
import { readConfig, readersOf } from '../../../lib/frame/config.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { contract } from './contract.ts'

type Dependencies = {
  readerOf: (chainId: number) => ChainReader
  transfers: TransfersStore
  sources: DepositSources
  /** Epoch milliseconds. */
  now: () => number
}

const crossChainStatus =
  (dependencies: Dependencies) =>
  async ({ client, path, query }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const key = { sourceChainId: query.srcChainId, transactionHash: path.txHash, index: query.index }
    const vaultAt = (target: { chainId: number; address: Address } | undefined) =>
      client.vaults.find(({ chainId, address }) => chainId === target?.chainId && address === target.address)
    const isVault = (target: { chainId: number; address: Address }) => vaultAt(target) !== undefined
    const { status, target } = await readTransfer({ ...dependencies, isVault }, key)
    return { ...status, protocol: vaultAt(target)?.kind ?? null }
  }

export const handler = endpoint(
  contract,
  async (env) =>
    crossChainStatus({
      readerOf: readersOf(await readConfig(env)),
      transfers: transfersStore(dynamo(), env.DEPOSITS_TABLE),
      sources: depositSources(dynamo(), env.DEPOSITS_TABLE),
      now: Date.now,
    }),
  apiKey,
)
