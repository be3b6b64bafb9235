import { readAccountEntries } from '../../../lib/activity/account-vaults.ts'
import { possible } from '../../../lib/chain/call.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { type AccountRedemptions, totalCancelled } from '../../../lib/protocols/protocol.ts'
import { getProtocol } from '../../../lib/protocols/protocols.ts'
import type { Services } from '../../../lib/services.ts'
import { SETTLEMENT_POLL_MS } from '../../../lib/vaults/settlement.ts'
import { findVault } from '../../../lib/vaults/vault.ts'
import type { contract } from './contract.ts'

/** Where a user's withdrawal from an async vault stands. */
type WithdrawStatus = Reply<typeof contract>['status']

/** What each status means, for people. */
const STATUS_DESCRIPTIONS: Record<WithdrawStatus, string> = {
  pending: 'Withdrawal request submitted, awaiting curator settlement.',
  claimable: 'The curator has settled the epoch; the assets are ready to claim.',
  cancelled: 'The redemption request was cancelled; cancel once more to take the shares back.',
  withdrawn: 'No withdrawal is under way; the last request was paid, or taken back.',
  no_active_withdrawal: 'No pending or claimable withdrawal found for the user.',
}

/** Tells where a user's withdrawal from an async vault stands. Throws `withdraw_status_not_applicable` for another vault, and `upstream_*`. */
export function getWithdrawStatus(dependencies: Services<'getReader' | 'records' | 'getEstimate' | 'now'>) {
  return async ({ client, path, query }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const vault = findVault(client.vaults, path.vaultAddress, query.chainId)
    const { account, claimTerms } = getProtocol(vault)
    if (!claimTerms) throw new AppError('withdraw_status_not_applicable')
    const reader = dependencies.getReader(vault.chainId)
    const [estimatedSettlement, { value, block, evidence }] = await Promise.all([
      dependencies.getEstimate(vault, 'withdrawal'),
      reader.readOne(account(vault, query.userAddress), {
        withHash: true,
      }),
    ])
    const at = { vault, account: query.userAddress, to: block.number }
    const redemptions = possible(
      await value.redemptions(reader, block.number, () => readAccountEntries(dependencies, at)),
    )
    const status = statusOf(redemptions)
    return {
      vaultAddress: vault.address,
      userAddress: query.userAddress,
      chainId: vault.chainId,
      status,
      statusDescription: STATUS_DESCRIPTIONS[status],
      amounts: {
        pendingRedeemShares: redemptions.pendingRedeemShares,
        claimableAssets: redemptions.claimableRedeemAssets,
        claimableShares: redemptions.claimableRedeemShares,
        cancelledRedeemShares: totalCancelled(redemptions.cancelledRedemptions),
      },
      epochId: redemptions.lastRedeemRequestId || null,
      vault: { redeemEpochId: redemptions.redeemEpochId },
      estimatedSettlement,
      nextPollAfterMs: redemptions.pendingRedeemShares > 0n ? SETTLEMENT_POLL_MS : null,
      evidence: [await evidence()],
    }
  }
}

function statusOf(redemptions: AccountRedemptions): WithdrawStatus {
  if (redemptions.claimableRedeemAssets > 0n) return 'claimable'
  if (redemptions.cancelledRedemptions.length > 0) return 'cancelled'
  if (redemptions.pendingRedeemShares > 0n) return 'pending'
  return redemptions.lastRedeemRequestId ? 'withdrawn' : 'no_active_withdrawal'
}
