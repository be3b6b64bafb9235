import { parseOwnTransfer } from '../../../lib/bridge/events.ts'
import { readTransfer, type Target } from '../../../lib/bridge/status.ts'
import type { Transfer } from '../../../lib/bridge/transfer.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import type { Services } from '../../../lib/services.ts'
import type { Vault } from '../../../lib/vaults/vault.ts'
import type { contract } from './contract.ts'

type Dependencies = Services<'getReader' | 'transfers' | 'sources' | 'accountRecords' | 'now'>

export function getCrossChainStatus({ getReader, transfers, sources, accountRecords, now }: Dependencies) {
  return async ({ client, path, query }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const key = { sourceChainId: query.srcChainId, transactionHash: path.txHash, index: query.index }
    const recorded = (await transfers.get(key)) ?? {}
    const findVault = (target: Target | undefined) =>
      client.vaults.find(({ chainId, address }) => chainId === target?.chainId && address === target.address)
    /** Whether somebody who has used a vault of the client's, and sends its asset to their own address, may have been paid by it. */
    const mayBeWithdrawal = async ({ source }: Transfer) => {
      const sent = source && parseOwnTransfer(source.deposit)
      const isPaying = (vault: Vault) => vault.chainId === query.srcChainId && vault.asset === sent?.token
      return sent !== undefined && accountRecords.has(sent.account, client.vaults.filter(isPaying))
    }
    // A transfer into one of the client's vaults, or out of one, is followed by the job from now on.
    const { status, target } = await readTransfer(
      { getReader, transfers, sources },
      { key, recorded },
      async (keep, into) => {
        if (keep.lookAt) return keep.lookAt
        return findVault(into) || (await mayBeWithdrawal(keep)) ? new Date(now()) : undefined
      },
    )
    return { ...status, protocol: findVault(target)?.protocol ?? null }
  }
}
