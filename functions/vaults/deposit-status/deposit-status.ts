import { readAccountEntries } from '../../../lib/activity/account-vaults.ts'
import { possible } from '../../../lib/chain/call.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { type AccountDeposits, totalCancelled } from '../../../lib/protocols/protocol.ts'
import { getProtocol } from '../../../lib/protocols/protocols.ts'
import { vaultType } from '../../../lib/protocols/vault-on-chain.ts'
import type { Services } from '../../../lib/services.ts'
import { SETTLEMENT_POLL_MS } from '../../../lib/vaults/settlement.ts'
import { findVault } from '../../../lib/vaults/vault.ts'
import type { contract } from './contract.ts'

/** Where a user's deposit into an async vault stands. */
type DepositStatus = Reply<typeof contract>['status']

/** What each status means, for people. */
const STATUS_DESCRIPTIONS: Record<DepositStatus, string> = {
  pending: 'Deposit request submitted, awaiting curator settlement.',
  claimable: 'The curator has settled the epoch; the shares are ready to claim.',
  cancelled: 'The deposit request was cancelled; cancel once more to take the assets back.',
  deposited: 'The shares have been claimed and are in the user wallet.',
  no_active_deposit: 'No pending or claimable deposit found for the user.',
}

/** Tells where a user's deposit in an async vault stands. Throws `deposit_status_not_applicable` for another vault, and `upstream_*`. */
export function getDepositStatus(dependencies: Services<'getReader' | 'records' | 'getEstimate' | 'now'>) {
  return async ({ client, path, query }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const vault = findVault(client.vaults, path.vaultAddress, query.chainId)
    if (vaultType(vault) === 'sync') throw new AppError('deposit_status_not_applicable')
    const reader = dependencies.getReader(vault.chainId)
    const [estimatedSettlement, { value, block, evidence }] = await Promise.all([
      dependencies.getEstimate(vault, 'deposit'),
      reader.readOne(getProtocol(vault).account(vault, query.userAddress), {
        withHash: true,
      }),
    ])
    const at = { vault, account: query.userAddress, to: block.number }
    const deposits = possible(await value.deposits(reader, block.number, () => readAccountEntries(dependencies, at)))
    const shares = value.shares()
    const status = statusOf(deposits, shares)
    return {
      vaultAddress: vault.address,
      userAddress: query.userAddress,
      chainId: vault.chainId,
      status,
      statusDescription: STATUS_DESCRIPTIONS[status],
      amounts: {
        pendingDeposit: deposits.pendingAssets,
        claimableShares: deposits.claimableShares,
        currentShares: shares,
        cancelledDeposit: totalCancelled(deposits.cancelledDeposits),
      },
      // null: the vault runs a version that does not tell.
      vault: { depositEpochId: deposits.depositEpochId, isTotalAssetsValid: deposits.isTotalAssetsValid },
      estimatedSettlement,
      nextPollAfterMs: deposits.pendingAssets > 0n ? SETTLEMENT_POLL_MS : null,
      evidence: [await evidence()],
    }
  }
}

function statusOf(deposits: AccountDeposits, shares: bigint): DepositStatus {
  if (deposits.claimableAssets > 0n) return 'claimable'
  if (deposits.cancelledDeposits.length > 0) return 'cancelled'
  if (deposits.pendingAssets > 0n) return 'pending'
  return shares > 0n ? 'deposited' : 'no_active_deposit'
}
