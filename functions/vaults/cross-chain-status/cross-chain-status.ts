import { isNews } from '../../../lib/bridge/endings.ts'
import { parseOwnTransfer } from '../../../lib/bridge/events.ts'
import { readTransfer, readTransferUnrecorded, type Target } from '../../../lib/bridge/status.ts'
import type { Transfer } from '../../../lib/bridge/transfer.ts'
import { type ErrorCode, NO_AGREEMENT } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { toResult, unwrap } from '../../../lib/result.ts'
import type { Services } from '../../../lib/services.ts'
import type { Vault } from '../../../lib/vaults/vault.ts'
import type { contract } from './contract.ts'

type Dependencies = Services<'getReader' | 'getAgreedReader' | 'transfers' | 'sources' | 'accountRecords' | 'now'>

export function getCrossChainStatus(services: Dependencies) {
  const { getReader, getAgreedReader, transfers, sources, accountRecords, now } = services
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
    const read = await toResult(
      readTransfer({ getReader: getAgreedReader, transfers, sources }, { key, recorded }, async (keep, into) => {
        if (keep.lookAt && (!isNews(keep) || isNews(recorded))) return keep.lookAt
        return keep.lookAt || findVault(into) || (await mayBeWithdrawal(keep)) ? new Date(now()) : undefined
      }),
    )
    // What is recorded waits for two hosts; what is shown does not.
    const codes: readonly ErrorCode[] = NO_AGREEMENT
    const isDisputed = 'error' in read && codes.includes(read.error.code)
    const { status, target, evidence } = isDisputed
      ? await readTransferUnrecorded({ getReader }, { key, recorded })
      : unwrap(read)
    return { ...status, protocol: findVault(target)?.protocol ?? null, evidence: [...evidence] }
  }
}
