import { describePending, readRequestStatus } from '../../../lib/activity/request-status.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import type { LedgerEntry } from '../../../lib/protocols/ledger-entry.ts'
import { type AccountRedemptions, totalCancelled } from '../../../lib/protocols/protocol.ts'
import type { Services } from '../../../lib/services.ts'
import type { contract } from './contract.ts'

/** The meaning of each status but `pending`, for users. */
const STATUS_DESCRIPTIONS: Record<Exclude<Reply<typeof contract>['status'], 'pending'>, string> = {
  claimable: 'The curator has settled the epoch; the assets are ready to claim.',
  cancelled: 'The redemption request was cancelled; cancel once more to take the shares back.',
  withdrawn: 'No withdrawal is under way; the last request was paid, or taken back.',
  no_active_withdrawal: 'No pending or claimable withdrawal found for the user.',
}

export function getWithdrawStatus(services: Services<'getReader' | 'records' | 'now'>) {
  return async (request: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { requests, listEntries, open, reply } = await readRequestStatus(services, request, {
      kind: 'withdrawal',
      of: ({ redemptions }) => redemptions,
      amounts: (of: AccountRedemptions) => ({
        pending: of.pendingRedeemShares,
        claimable: of.claimableRedeemAssets,
        cancelled: totalCancelled(of.cancelledRedemptions),
        requestId: of.lastRedeemRequestId,
        epochId: of.redeemEpochId,
      }),
    })
    const hadRequest = async () =>
      requests.lastRedeemRequestId === null ? (await listEntries()).some(endsRequest) : requests.lastRedeemRequestId > 0
    const status = open ?? ((await hadRequest()) ? 'withdrawn' : 'no_active_withdrawal')
    return {
      ...reply,
      status,
      statusDescription:
        status === 'pending' ? describePending('Withdrawal', reply.missedSettlements) : STATUS_DESCRIPTIONS[status],
      amounts: {
        pendingRedeemShares: requests.pendingRedeemShares,
        claimableAssets: requests.claimableRedeemAssets,
        claimableShares: requests.claimableRedeemShares,
        cancelledRedeemShares: totalCancelled(requests.cancelledRedemptions),
      },
      epochId: requests.lastRedeemRequestId || null,
      vault: { redeemEpochId: requests.redeemEpochId },
    }
  }
}

/** True if the entry pays a redemption request, or takes it back. */
function endsRequest(entry: LedgerEntry): boolean {
  return entry.kind === 'cancelRedeem' || (entry.kind === 'withdraw' && entry.isClaim)
}
