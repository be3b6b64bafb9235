import type { Address } from 'viem'
import { readTransfer } from '../../../lib/bridge/status.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import type { Services } from '../../../lib/services.ts'
import type { contract } from './contract.ts'

type Dependencies = Services<'readerOf' | 'transfers' | 'sources' | 'now'>

export const getCrossChainStatus =
  (dependencies: Dependencies) =>
  async ({ client, path, query }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const key = { sourceChainId: query.srcChainId, transactionHash: path.txHash, index: query.index }
    const vaultAt = (target: { chainId: number; address: Address } | undefined) =>
      client.vaults.find(({ chainId, address }) => chainId === target?.chainId && address === target.address)
    const isVault = (target: { chainId: number; address: Address }) => vaultAt(target) !== undefined
    const { status, target } = await readTransfer({ ...dependencies, isVault }, key)
    return { ...status, protocol: vaultAt(target)?.protocol ?? null }
  }
