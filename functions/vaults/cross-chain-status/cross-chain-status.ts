import { readTransfer, type Target } from '../../../lib/bridge/status.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import type { Services } from '../../../lib/services.ts'
import type { contract } from './contract.ts'

type Dependencies = Services<'getReader' | 'transfers' | 'sources' | 'now'>

export function getCrossChainStatus({ getReader, transfers, sources, now }: Dependencies) {
  return async ({ client, path, query }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const key = { sourceChainId: query.srcChainId, transactionHash: path.txHash, index: query.index }
    const recorded = (await transfers.get(key)) ?? {}
    const findVault = (target: Target | undefined) =>
      client.vaults.find(({ chainId, address }) => chainId === target?.chainId && address === target.address)
    // A transfer into one of the client's vaults is followed by the job from now on.
    const { status, target } = await readTransfer(
      { getReader, transfers, sources },
      { key, recorded },
      (keep, into) => keep.lookAt ?? (findVault(into) && new Date(now())),
    )
    return { ...status, protocol: findVault(target)?.protocol ?? null }
  }
}
