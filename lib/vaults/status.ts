import type { Address } from 'viem'
import type { ChainReader } from '../chain/reader.ts'
import { AppError } from '../errors.ts'
import type { RequestedDeposits } from '../protocols/protocol.ts'
import { protocolOf } from '../protocols/protocols.ts'
import type { Vault } from './vault.ts'

/** Where a user's deposit into an async vault stands. */
export type DepositStatus = 'pending' | 'claimable' | 'deposited' | 'no_active_deposit'

/** What each status means, for people. */
export const STATUS_DESCRIPTIONS: Record<DepositStatus, string> = {
  pending: 'Deposit request submitted, awaiting curator settlement.',
  claimable: 'The curator has settled the epoch; the shares are ready to claim.',
  deposited: 'The shares have been claimed and are in the user wallet.',
  no_active_deposit: 'No pending or claimable deposit found for the user.',
}

/**
 * A user's deposit in an async vault; amounts in the smallest units of asset and share.
 * Throws `deposit_status_not_applicable` for another vault, and `upstream_*`.
 */
export async function readDepositStatus(reader: ChainReader, vault: Vault, user: Address) {
  const { requests } = protocolOf(vault)
  if (!requests) throw new AppError('deposit_status_not_applicable')
  const { value, block } = await reader.readOne(requests(vault, user))
  return {
    status: statusOf(value),
    pendingDeposit: value.pendingAssets,
    claimableShares: await value.readClaimableShares(reader, block.number),
    currentShares: value.shares,
    // null: the vault runs a version that does not tell.
    depositEpochId: value.depositEpochId,
    isTotalAssetsValid: value.isTotalAssetsValid,
  }
}

function statusOf({ pendingAssets, claimableAssets, shares }: RequestedDeposits): DepositStatus {
  if (claimableAssets > 0n) return 'claimable'
  if (pendingAssets > 0n) return 'pending'
  return shares > 0n ? 'deposited' : 'no_active_deposit'
}
