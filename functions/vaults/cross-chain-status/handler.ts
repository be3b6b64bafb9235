import { findTransferVault, readTransfersByHash } from '../../../lib/bridge/status.ts'
import { isUnreported } from '../../../lib/bridge/timeline.ts'
import type { Transfer } from '../../../lib/bridge/transfer.ts'
import { type ErrorCode, NO_AGREEMENT } from '../../../lib/core/errors.ts'
import { toResult, unwrap } from '../../../lib/core/result.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { depositSources, fetchHint, getAgreedReader, getReader, now, quotes, transfers } from '../../../lib/services.ts'
import type { VaultKey } from '../../../lib/vaults/vault.ts'
import { contract } from './contract.ts'

export const handler = endpoint(
  contract,
  { getReader, getAgreedReader, transfers, quotes, depositSources, fetchHint, now },
  ({ getReader, getAgreedReader, now, ...services }) =>
    async ({ client, path, query }) => {
      const { srcChainId: sourceChainId, userAddress: account, index } = query
      const question = { sourceChainId, hash: path.txHash, account, index }
      const findVault = (vault: VaultKey | undefined) =>
        client.vaults.find(({ chainId, address }) => chainId === vault?.chainId && address === vault.address)
      // Returns the time at which the job refresh-chain polls a transfer next. The job polls only transfers that go into
      // a client's vault or use a quote of this service. A new one is polled at once.
      const lookAt = (keep: Transfer, recorded: Transfer | undefined) => {
        if (keep.lookAt && (!isUnreported(keep) || (recorded && isUnreported(recorded)))) return keep.lookAt
        return keep.lookAt || keep.quote || findVault(findTransferVault(keep)) ? new Date(now()) : undefined
      }
      const read = await toResult(readTransfersByHash({ ...services, getReader: getAgreedReader }, question, lookAt))
      // These error codes mean that two nodes did not agree on the transfer. The response then comes from one node, and
      // nothing is recorded.
      const codes: readonly ErrorCode[] = NO_AGREEMENT
      const isDisputed = 'error' in read && codes.includes(read.error.code)
      const { statuses, targets, evidence } = isDisputed
        ? await readTransfersByHash({ ...services, getReader }, question, lookAt, { isRecorded: false })
        : unwrap(read)
      return {
        ...statuses[0],
        protocol: findVault(targets[0])?.protocol ?? null,
        evidence: [...evidence],
        transfers: [...statuses],
      }
    },
)
