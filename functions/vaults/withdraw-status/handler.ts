import { describePending, readRequestStatus } from '../../../lib/activity/request-status.ts'
import { HOUR_MS, MINUTE_MS } from '../../../lib/core/time.ts'
import type { Reply } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { isFixedRequest } from '../../../lib/protocols/fixed-requests.ts'
import type { LedgerEntry } from '../../../lib/protocols/ledger-entry.ts'
import { type AccountRedemptions, sumCancelled } from '../../../lib/protocols/protocol.ts'
import { getReader, now, records } from '../../../lib/services.ts'
import { contract } from './contract.ts'

type Status = Reply<typeof contract>['status']

const STATUS_DESCRIPTIONS: Record<Exclude<Status, 'pending'>, string> = {
  claimable: 'The curator has settled the epoch; the assets are ready to claim.',
  cancelled: 'The redemption request was cancelled; cancel once more to get the shares back.',
  withdrawn: 'No withdrawal is under way; the last request was paid or cancelled.',
  no_active_withdrawal: 'No pending or claimable withdrawal found for the user.',
}

const COOLDOWN_DESCRIPTIONS: Record<Status, string> = {
  ...STATUS_DESCRIPTIONS,
  pending: 'Withdrawal begun; the assets can be claimed after the cooldown.',
  claimable: 'The cooldown is over; the assets are ready to claim.',
  withdrawn: 'No withdrawal is under way; the last one was paid.',
}

export const handler = endpoint(contract, { getReader, records, now }, (services) => async (request) => {
  const { requests, listEntries, open, reply } = await readRequestStatus(services, request, {
    kind: 'withdrawal',
    of: ({ redemptions }) => redemptions,
    amounts: (of: AccountRedemptions) => ({
      pending: of.cooldown?.pendingAssets ?? of.pendingRedeemShares,
      claimable: of.claimableRedeemAssets,
      cancelled: sumCancelled(of.cancelledRedemptions),
      requestId: of.lastRedeemRequestId,
      epochId: of.redeemEpochId,
    }),
  })
  const { cooldown } = requests
  const hadRequest = async () =>
    requests.lastRedeemRequestId === null ? (await listEntries()).some(endsRequest) : requests.lastRedeemRequestId > 0
  const status: Status = open ?? ((await hadRequest()) ? 'withdrawn' : 'no_active_withdrawal')
  return {
    ...reply,
    status,
    statusDescription: cooldown ? COOLDOWN_DESCRIPTIONS[status] : describe(status, reply.missedSettlements),
    claimableAt: cooldown?.claimableAt ?? null,
    ...(cooldown?.claimableAt && { nextPollAfterMs: untilEnd(cooldown.claimableAt, services.now()) }),
    amounts: {
      pendingAssets: cooldown?.pendingAssets ?? null,
      pendingRedeemShares: requests.pendingRedeemShares,
      claimableAssets: requests.claimableRedeemAssets,
      claimableShares: requests.claimableRedeemShares,
      cancelledRedeemShares: sumCancelled(requests.cancelledRedemptions),
    },
    epochId: requests.lastRedeemRequestId || null,
    vault: { redeemEpochId: requests.redeemEpochId },
  }
})

function describe(status: Status, missedSettlements: number | null): string {
  return status === 'pending' ? describePending('Withdrawal', missedSettlements) : STATUS_DESCRIPTIONS[status]
}

/**
 * Returns the milliseconds that the client should wait before it requests the status again. This is the rest of the
 * cooldown, but at least a minute and at most an hour.
 */
function untilEnd(claimableAt: Date, now: number): number {
  return Math.min(Math.max(claimableAt.getTime() - now, MINUTE_MS), HOUR_MS)
}

/**
 * Returns true if this ledger entry proves that the account made a withdrawal request. Such an entry pays or cancels a
 * request, or is itself a request whose payment was fixed.
 */
function endsRequest(entry: LedgerEntry): boolean {
  return isFixedRequest(entry) || entry.kind === 'cancelRedeem' || (entry.kind === 'withdraw' && entry.isClaim)
}
