import type { Address } from 'viem'
import type { ChainReader } from '../chain/reader.ts'
import { lagoonAccount, readClaimableShares } from './lagoon.ts'
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

/** A user's deposit in an async vault; amounts in the smallest units of asset and share. Throws `upstream_*`. */
export async function readDepositStatus(reader: ChainReader, vault: Vault, user: Address) {
  const { value, block } = await reader.readOne(lagoonAccount(vault, user))
  const {
    account,
    vault: { state },
  } = value
  return {
    status: statusOf(account),
    pendingDeposit: account.pendingAssets,
    claimableShares: await readClaimableShares(reader, vault, value, block.number),
    currentShares: account.shares,
    // null: the vault runs a version that does not tell.
    depositEpochId: state.depositEpochId ?? null,
    isTotalAssetsValid: state.isTotalAssetsValid ?? null,
  }
}

function statusOf(amounts: { pendingAssets: bigint; claimableAssets: bigint; shares: bigint }): DepositStatus {
  if (amounts.claimableAssets > 0n) return 'claimable'
  if (amounts.pendingAssets > 0n) return 'pending'
  return amounts.shares > 0n ? 'deposited' : 'no_active_deposit'
}
