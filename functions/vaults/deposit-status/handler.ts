import { describePending, readRequestStatus } from '../../../lib/activity/request-status.ts'
import type { Reply } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { type AccountDeposits, sumCancelled } from '../../../lib/protocols/protocol.ts'
import { getReader, now, records } from '../../../lib/services.ts'
import { contract } from './contract.ts'

type Status = Reply<typeof contract>['status']

const STATUS_DESCRIPTIONS: Record<Exclude<Status, 'pending'>, string> = {
  claimable: 'The curator has settled the epoch; the shares are ready to claim.',
  cancelled: 'The deposit request was cancelled; cancel once more to get the assets back.',
  deposited: 'The shares have been claimed and are in the user wallet.',
  no_active_deposit: 'No pending or claimable deposit found for the user.',
}

export const handler = endpoint(contract, { getReader, records, now }, (services) => async (request) => {
  const { requests, shares, open, reply } = await readRequestStatus(services, request, {
    kind: 'deposit',
    of: ({ deposits }) => deposits,
    amounts: (of: AccountDeposits) => ({
      pending: of.pendingAssets,
      claimable: of.claimableAssets,
      cancelled: sumCancelled(of.cancelledDeposits),
      requestId: of.lastDepositRequestId,
      epochId: of.depositEpochId,
    }),
  })
  const currentShares = shares()
  const status: Status = open ?? (currentShares > 0n ? 'deposited' : 'no_active_deposit')
  return {
    ...reply,
    status,
    statusDescription:
      status === 'pending' ? describePending('Deposit', reply.missedSettlements) : STATUS_DESCRIPTIONS[status],
    amounts: {
      pendingDeposit: requests.pendingAssets,
      claimableShares: requests.claimableShares,
      currentShares,
      cancelledDeposit: sumCancelled(requests.cancelledDeposits),
    },
    // `depositEpochId` and `isTotalAssetsValid` are null if the vault contract's version does not report them.
    vault: { depositEpochId: requests.depositEpochId, isTotalAssetsValid: requests.isTotalAssetsValid },
  }
})
