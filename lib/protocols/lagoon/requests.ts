import type { Address } from 'viem'
import { requireValue } from '../../chain/call.ts'
import { mapReadPlan, type ReadPlan } from '../../chain/reader.ts'
import { AppError } from '../../core/errors.ts'
import type { CancelTerms, ClaimTerms, RequestFollowUpRead, VaultCall } from '../protocol.ts'
import type { RequestKind } from '../request-kind.ts'
import { type LagoonSnapshot, readClaimableShares, readLagoonAccount, readRedeemableAssets } from './state.ts'
import type { LagoonVault } from './vault.ts'

/**
 * Reads the calls that claim settled requests, which a vault always pays unless it is paused. Parsing throws an
 * AppError if nothing is claimable or the vault is paused.
 */
export function readLagoonClaimTerms(vault: LagoonVault, account: Address, kind: RequestKind): ReadPlan<ClaimTerms> {
  const decide = { deposit: depositClaim, withdrawal: withdrawalClaim }[kind]
  return mapReadPlan(readLagoonAccount(vault, account), (snapshot) => decide(vault, snapshot))
}

/**
 * Reads the call that cancels pending requests entirely. The call works only until the vault's next epoch, a period
 * whose requests settle together.
 */
export function readLagoonCancelTerms(
  vault: LagoonVault,
  account: Address,
  kind: RequestKind,
): ReadPlan<RequestFollowUpRead<CancelTerms>> {
  const toTerms = { deposit: depositCancel, withdrawal: withdrawalCancel }[kind]
  return mapReadPlan(readLagoonAccount(vault, account), (snapshot) => async () => toTerms(snapshot))
}

function depositClaim(vault: LagoonVault, snapshot: LagoonSnapshot): ClaimTerms {
  const { account } = snapshot
  const assets = requireValue(account.claimableAssets)
  if (assets === 0n) throw new AppError('no_claimable_deposit')
  assertNotPaused(snapshot)
  return {
    calls: [{ name: 'deposit', amount: assets }],
    claimable: async (reader, at) => ({
      assets,
      shares: await readClaimableShares(reader, vault, snapshot, at),
    }),
    refusal: refusalOf(snapshot),
  }
}

/**
 * Chooses the calls that claim settled redemptions. `redeem` of all shares leaves no shares behind. `withdraw` pays the
 * same, unless the vault's version rounds differently.
 */
function withdrawalClaim(vault: LagoonVault, snapshot: LagoonSnapshot): ClaimTerms {
  const { account } = snapshot
  const shares = requireValue(account.redeemableShares)
  if (shares === 0n) throw new AppError('no_claimable_withdrawal')
  assertNotPaused(snapshot)
  const assets = account.redeemableAssets
  const withdraw: VaultCall[] = assets ? [{ name: 'withdraw', amount: assets }] : []
  return {
    calls: [{ name: 'redeem', amount: shares }, ...withdraw],
    claimable: async (reader, at) => ({
      assets: await readRedeemableAssets(reader, vault, snapshot, at),
      shares,
    }),
    refusal: refusalOf(snapshot),
  }
}

function depositCancel(snapshot: LagoonSnapshot): CancelTerms {
  const { state, account } = snapshot
  const assets = requireValue(account.pendingAssets)
  assertCancellable(snapshot, assets, account.lastDepositRequestId === state.vaultState.depositEpochId)
  return {
    name: 'cancelRequestDeposit',
    cancelled: { assets },
    isAsync: false,
    refusal: refusalOf(snapshot),
  }
}

/** Chooses the cancellation of a redemption request, which only version 0.6 has. */
function withdrawalCancel(snapshot: LagoonSnapshot): CancelTerms {
  const { state, account } = snapshot
  const shares = requireValue(account.pendingRedeemShares)
  const isOfThisEpoch = account.lastRedeemRequestId === state.vaultState.redeemEpochId
  assertCancellable(snapshot, shares, state.generation === '0.6' && state.lifecycle !== 'closed' && isOfThisEpoch)
  return {
    name: 'cancelRequestRedeem',
    cancelled: { shares },
    isAsync: false,
    refusal: refusalOf(snapshot),
  }
}

/**
 * Throws an AppError if the request cannot be cancelled. The epochs of unknown versions cannot be read, so only a
 * simulation decides for these versions.
 */
function assertCancellable(snapshot: LagoonSnapshot, pending: bigint, isCancellable: boolean): void {
  if (pending === 0n) throw new AppError('no_pending_request')
  assertNotPaused(snapshot)
  if (snapshot.state.generation !== 'unknown' && !isCancellable)
    throw new AppError('request_can_no_longer_be_cancelled')
}

function assertNotPaused({ state }: LagoonSnapshot): void {
  if (requireValue(state.vaultState.paused)) throw new AppError('vault_is_paused')
}

/**
 * Returns the error for an account that is no longer on the vault's access list. Versions before 0.5.1 still pay such
 * accounts, so the error counts only if the simulation fails.
 */
function refusalOf({ account }: LagoonSnapshot): AppError | undefined {
  return account.allowed === false ? new AppError('depositor_not_allowed') : undefined
}
