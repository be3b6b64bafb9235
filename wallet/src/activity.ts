import type { Deposit, Withdrawal } from '@vaultline/client'

/** A deposit or a withdrawal, in one form for both. */
export type Movement = {
  readonly id: string
  readonly kind: 'deposit' | 'withdrawal'
  readonly vaultAddress: `0x${string}`
  readonly vaultName: string
  readonly chainId: number
  readonly status: Deposit['status']
  readonly statusDescription: string
  readonly symbol: string
  readonly decimals: number
  /** In the asset's smallest unit; null where it is not settled what a withdrawal pays. */
  readonly assets: bigint | null
  /** What a withdrawal gives up, at the price that shares have now; null without the vault's decimals, and for deposits. */
  readonly estimate: bigint | null
  readonly timestamp: string
  readonly hashes: readonly { readonly what: string; readonly hash: string; readonly chainId: number }[]
}

/** A history as far as it is loaded, newest first. */
export type LoadedHistory = { readonly movements: readonly Movement[]; readonly hasMore: boolean }

/** A deposit as a movement; of a deposit from another chain, with the transaction there. */
export function describeDeposit(deposit: Deposit): Movement {
  const { depositId: id, chainId, amounts, vault, epochId, transactionHash, source } = deposit
  // Only what is deposited at once has no request.
  const what = source ? 'Arrived' : epochId === 0 ? 'Deposited' : 'Requested'
  return {
    ...placeOf(deposit),
    id,
    kind: 'deposit',
    symbol: vault.assetSymbol,
    decimals: vault.assetDecimals,
    assets: BigInt(amounts.depositedAssets),
    estimate: null,
    hashes: [
      ...(source ? [{ what: 'Sent', hash: source.transactionHash, chainId: source.chainId }] : []),
      { what, hash: transactionHash, chainId },
    ],
  }
}

/** A withdrawal as a movement. `shareDecimals` are the vault's, where they are known. */
export function describeWithdrawal(withdrawal: Withdrawal, shareDecimals: number | undefined): Movement {
  const { withdrawalId: id, chainId, assets, shares, vault, transactionHash, claimTransactionHash } = withdrawal
  const isClaimed = claimTransactionHash !== null && claimTransactionHash !== transactionHash
  return {
    ...placeOf(withdrawal),
    id,
    kind: 'withdrawal',
    symbol: vault.assetSymbol,
    decimals: vault.assetDecimals,
    assets: assets === null ? null : BigInt(assets),
    estimate:
      shareDecimals === undefined ? null : (BigInt(shares) * BigInt(vault.sharePrice)) / 10n ** BigInt(shareDecimals),
    hashes: [
      { what: isClaimed || assets === null ? 'Requested' : 'Withdrawn', hash: transactionHash, chainId },
      ...(isClaimed ? [{ what: 'Paid', hash: claimTransactionHash, chainId }] : []),
    ],
  }
}

/**
 * Histories as one, newest first, down to the moment to which all of them are loaded: what is older could still get something
 * in between.
 */
export function mergeHistories(histories: readonly LoadedHistory[]): readonly Movement[] {
  const start = histories
    .filter(({ hasMore }) => hasMore)
    .map(({ movements }) => movements.at(-1)?.timestamp ?? '')
    .reduce((latest, time) => (time > latest ? time : latest), '')
  return histories
    .flatMap(({ movements }) => movements)
    .filter(({ timestamp }) => timestamp >= start)
    .toSorted((left, right) => (left.timestamp < right.timestamp ? 1 : left.timestamp > right.timestamp ? -1 : 0))
}

function placeOf({ vaultAddress, vaultName, chainId, status, statusDescription, timestamp }: Deposit | Withdrawal) {
  return { vaultAddress, vaultName, chainId, status, statusDescription, timestamp }
}
