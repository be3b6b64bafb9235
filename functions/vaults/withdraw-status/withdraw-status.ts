import { readRequestStatus } from '../../../lib/activity/request-status.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { type AccountRedemptions, totalCancelled } from '../../../lib/protocols/protocol.ts'
import type { Services } from '../../../lib/services.ts'
import type { contract } from './contract.ts'

/** The meaning of each status, for users. */
const STATUS_DESCRIPTIONS: Record<Reply<typeof contract>['status'], string> = {
  pending: 'Withdrawal request submitted, awaiting curator settlement.',
  claimable: 'The curator has settled the epoch; the assets are ready to claim.',
  cancelled: 'The redemption request was cancelled; cancel once more to take the shares back.',
  withdrawn: 'No withdrawal is under way; the last request was paid, or taken back.',
  no_active_withdrawal: 'No pending or claimable withdrawal found for the user.',
}

export function getWithdrawStatus(services: Services<'getReader' | 'records' | 'getEstimate' | 'now'>) {
  return async (request: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { requests, open, reply } = await readRequestStatus(services, request, {
      kind: 'withdrawal',
      of: ({ redemptions }) => redemptions,
      amounts: ({ pendingRedeemShares, claimableRedeemAssets, cancelledRedemptions }: AccountRedemptions) => ({
        pending: pendingRedeemShares,
        claimable: claimableRedeemAssets,
        cancelled: totalCancelled(cancelledRedemptions),
      }),
    })
    const status = open ?? (requests.lastRedeemRequestId ? 'withdrawn' : 'no_active_withdrawal')
    return {
      ...reply,
      status,
      statusDescription: STATUS_DESCRIPTIONS[status],
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
