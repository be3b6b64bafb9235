import type { Abi, Address } from 'viem'
import { sum } from '../bigint.ts'
import type { Call } from '../chain/call.ts'
import type { ChainReader, ReadPlan } from '../chain/reader.ts'
import type { AppError } from '../errors.ts'
import type { Books } from './books.ts'
import type { LedgerEntry } from './ledger-entry.ts'
import type { RequestKind } from './request-kind.ts'
import type { ReadTerms } from './terms.ts'
import type { TokenizedVault } from './tokenized-vault.ts'
import type { VaultOnChain } from './vault-on-chain.ts'
import type { VaultState } from './vault-state.ts'

/** Behaviour of one kind of vault: everything that differs between protocols. */
export type Protocol<V extends TokenizedVault = VaultOnChain> = {
  /** ABI whose events keep the books and whose errors name a revert. */
  readonly abi: Abi
  /**
   * Reads the protocol's own properties of a vault for registration. A string explains, for an operator, why the vault
   * is not of this protocol. Its parsing never throws.
   */
  describe(vault: VaultCandidate): ReadPlan<ProtocolDescription<V> | UnknownVersion | string>
  /** Reads the list's data that the vault's record does not have. Its parsing never throws. */
  overview(vault: V): ReadPlan<Overview>
  /** Returns the call that values these shares, in the asset's smallest unit; absent if events contain the price. */
  shareValue?(vault: V, shares: bigint): Call<bigint>
  /** Returns the vault's operators from its record; absent if the protocol has none. */
  roles?(vault: V): { readonly safe: Address; readonly valuationManager: Address }
  /** Reads what one account has in a vault. Its parsing never throws. */
  account(vault: V, account: Address): ReadPlan<AccountReading>
  /**
   * Reads the terms of a deposit of about this amount. `payer` defaults to the account itself. Its parsing throws
   * `upstream_bad_answer` if the vault does not return an amount.
   */
  depositTerms(vault: V, account: Address, amount: bigint, payer?: Address): ReadPlan<DepositTerms>
  /**
   * Reads how the vault pays an account this amount now. Its parsing throws the AppError of a refusal, or
   * `upstream_bad_answer`. The function that it returns may need further round trips and throws the same.
   */
  withdrawalTerms(vault: V, account: Address, amount: WithdrawalAmount): ReadPlan<Finished<WithdrawalTerms>>
  /**
   * Reads how the vault pays an account's settled requests; absent if nothing waits. Its parsing throws the AppError of
   * a refusal, or `upstream_bad_answer` if the vault does not return an amount.
   */
  claimTerms?(vault: V, account: Address, kind: RequestKind): ReadPlan<ClaimTerms>
  /** Reads how the vault cancels an account's pending requests; like `claimTerms`. */
  cancelTerms?(vault: V, account: Address, kind: RequestKind): ReadPlan<FinishedRequests<CancelTerms>>
  /**
   * Reads the open amounts of an account's requests with one id; undefined if the vault does not return them. Present
   * only if no event shows settlements. Its parsing never throws.
   */
  openRequest?(
    vault: V,
    request: { readonly kind: RequestKind; readonly requestId: bigint; readonly account: Address },
  ): ReadPlan<OpenAmounts | undefined>
  readonly books: Books<V>
}

/**
 * Amounts of a request that are pending, claimable, or returned by a cancellation, in the unit of the request. `given`
 * is the proceeds of a claim, if the vault reports them.
 */
export type OpenAmounts = {
  readonly pending: bigint
  readonly claimable: bigint
  readonly cancelled: bigint
  readonly given?: bigint | undefined
}

/** Returns the claimable amount; 0 if the claim gives nothing, as for requests that round to 0. */
export function worthClaiming(amount: bigint, given: bigint): bigint {
  return given > 0n ? amount : 0n
}

/** Contract that may be a vault; its protocol is not known yet. */
export type VaultCandidate = Omit<TokenizedVault, 'firstBlock'> & {
  /** True if it reports asynchronous deposits by ERC-165 (ERC-7540). */
  readonly isAsync: boolean
}

/** Properties of a vault that depend on its protocol; `version` is null if the protocol has no versions. */
export type ProtocolDescription<V extends TokenizedVault = VaultOnChain> = V extends V
  ? Omit<V, keyof TokenizedVault> & { readonly hasCap: boolean; readonly version: string | null }
  : never

/** Vault of the protocol with a version, named here for an operator, that the service does not support. */
export type UnknownVersion = { readonly unknownVersion: string }

/** Data of the vault list that the vault's record does not have. */
export type Overview = {
  /** Value of one whole share, in the asset's smallest unit. */
  readonly sharePrice: bigint | undefined
  readonly hasCap: boolean | undefined
  readonly terms: ReadTerms
  readonly state: VaultState
}

/** Terms of a vault for deposits of one account. */
export type DepositTerms = {
  readonly terms: ReadTerms
  /** Assets that the vault may take from the account. */
  readonly allowance: bigint
  /**
   * Returns the assets that the vault still takes: below zero if it is over its limit, undefined without a known limit.
   * Throws `upstream_bad_answer` if the vault does not report it.
   */
  readonly room: () => bigint | undefined
  /** Returns the shares for these assets at the vault's present price, after fees; null if unknown. */
  readonly sharesFor: (assets: bigint) => bigint | null
  /** Returns the value of shares at that price, in the asset's smallest unit; null if unknown. */
  readonly worth: (shares: bigint) => bigint | null
  /**
   * Returns the name of the operation that takes this amount of the asset now. With `until`, in seconds since 1970, it
   * must work until then. Throws the AppError of the refusal if no operation does.
   */
  readonly choose: (amount: bigint, until?: bigint) => string
}

/** Amount to withdraw: assets or shares, in their smallest units, or everything. */
export type WithdrawalAmount = { readonly assets: bigint } | { readonly shares: bigint } | 'max'

/** Terms on which a vault pays now; amounts in the smallest units of asset and share. */
export type WithdrawalTerms = {
  /** Calls in order: the last one is the withdrawal, the others prepare it. */
  readonly steps: readonly [Step, ...(readonly Step[])]
  /** Shares that leave the account, and the assets paid for them at the vault's present price; null if unknown. */
  readonly shares: bigint | null
  readonly assets: bigint | null
  /** Value of the shares; fees keep what exceeds `assets`. */
  readonly value: bigint | null
  /** Part of the fees that the vault charges for instant payment. */
  readonly haircut: bigint
  /** Assets of earlier requests that the vault pays together with this withdrawal. */
  readonly claimedAssets: bigint
  /** Earlier withdrawal whose waiting time this one restarts; null or absent if there is none. */
  readonly prolongs?: { readonly assets: bigint; readonly claimableAt: Date } | null
  /**
   * Returns the error for a dry run that reverted with this reason, or for a withdrawal that could not be simulated.
   * Absent or undefined if only the reason is known.
   */
  readonly refusal?: (reason: string | undefined) => AppError | undefined
  /** Amount by which the calls raise a view, which only their dry run shows, and the error if they do not. */
  readonly proof?: { readonly call: Call<bigint>; readonly rise: bigint; readonly refusal: AppError }
}

/** Call of a vault function, by the operation's name. */
export type Step = { readonly name: string; readonly amount: bigint; readonly minimum?: bigint }

/** Terms on which a vault pays one account's settled requests. */
export type ClaimTerms = {
  /** Calls that each claim everything. The claim is the one that gives most, or the first of equals. */
  readonly calls: readonly [Step, ...(readonly Step[])]
  /** Reads what the first call claims, if no dry run shows it. */
  readonly claimable: Finished<Claimable>
  /** Error of the refusal, unless a dry run succeeds. */
  readonly refusal?: AppError | undefined
}

/** Assets and shares of a claim, in their smallest units; `shares` is null if the vault does not report them. */
export type Claimable = { readonly assets: bigint; readonly shares: bigint | null }

/** Terms on which a vault cancels one account's pending requests. */
export type CancelTerms = {
  /** Name of the operation that cancels, and the request's id if the operation names one. */
  readonly name: string
  readonly requestId?: bigint
  /** Amount that comes back, in the smallest unit. */
  readonly cancelled: { readonly assets: bigint } | { readonly shares: bigint }
  /** True if this call only requests the cancellation: once the vault has agreed, another call claims the amount. */
  readonly isAsync: boolean
  /** Error of the refusal, unless a dry run succeeds. */
  readonly refusal?: AppError | undefined
}

/**
 * Completes a read of this block, with further round trips only if it left something open. Throws `upstream_bad_answer`
 * if the vault does not return an amount, and `upstream_*`.
 */
export type Finished<T> = (reader: ChainReader, at: bigint) => Promise<T>

/**
 * Completes a read of requests like `Finished`. Some vaults report requests only by their ids, which come from the
 * account's ledger entries in the vault up to that block. `listEntries` is called only for those vaults. Throws also
 * what `listEntries` throws.
 */
export type FinishedRequests<T> = (
  reader: ChainReader,
  at: bigint,
  listEntries: () => Promise<readonly LedgerEntry[]>,
) => Promise<T>

/**
 * Read of an account at one block, in parts, so that each part fails only for its own missing results. `shares` and
 * `price` throw `upstream_bad_answer` if the vault does not return an amount.
 */
export type AccountReading = {
  /** Shares in the wallet. */
  readonly shares: () => bigint
  readonly deposits: FinishedRequests<AccountDeposits>
  readonly redemptions: FinishedRequests<AccountRedemptions>
  readonly price: () => SharePrice
}

/**
 * Request whose cancellation the vault has granted, with the amount left to claim: assets of a deposit, or shares of a
 * redemption, in the smallest unit.
 */
export type CancelledRequest = { readonly requestId: bigint; readonly amount: bigint }

/** Returns the sum that is left to claim of these cancelled requests. */
export function totalCancelled(requests: readonly CancelledRequest[]): bigint {
  return sum(requests.map(({ amount }) => amount))
}

/** State of an account's deposits at one block, in the smallest units of asset and share. */
export type AccountDeposits = {
  readonly pendingAssets: bigint
  readonly claimableAssets: bigint
  readonly claimableShares: bigint
  readonly cancelledDeposits: readonly CancelledRequest[]
  /** Epoch of the vault; null for synchronous vaults, and if its version does not report it. */
  readonly depositEpochId: number | null
  /** Id of the account's last deposit request, 0 before the first; null if the vault does not report it. */
  readonly lastDepositRequestId: number | null
  readonly isTotalAssetsValid: boolean | null
}

/** State of an account's redemptions at one block, in the smallest units of asset and share. */
export type AccountRedemptions = {
  readonly pendingRedeemShares: bigint
  readonly claimableRedeemShares: bigint
  readonly claimableRedeemAssets: bigint
  readonly cancelledRedemptions: readonly CancelledRequest[]
  /** Epoch of the vault; null for synchronous vaults, and if its version does not report it. */
  readonly redeemEpochId: number | null
  /** Id of the account's last redemption request, 0 before the first; null if the vault does not report it. */
  readonly lastRedeemRequestId: number | null
  readonly cooldown?: AccountCooldown
}

/** Assets of an account in a cooldown; their amount is fixed. */
type AccountCooldown = {
  /** Waiting assets, in the smallest unit. */
  readonly pendingAssets: bigint
  /** Time from which all of them can be claimed; null if none wait. */
  readonly claimableAt: Date | null
}

/** State of deposits and redemptions in vaults without requests. */
export const NO_REQUESTS: Pick<AccountReading, 'deposits' | 'redemptions'> = {
  deposits: async () => ({
    pendingAssets: 0n,
    claimableAssets: 0n,
    claimableShares: 0n,
    cancelledDeposits: [],
    depositEpochId: null,
    lastDepositRequestId: null,
    isTotalAssetsValid: null,
  }),
  redemptions: async () => ({
    pendingRedeemShares: 0n,
    claimableRedeemShares: 0n,
    claimableRedeemAssets: 0n,
    cancelledRedemptions: [],
    redeemEpochId: null,
    lastRedeemRequestId: null,
  }),
}

/** Value of a vault's shares at one block, in the asset's smallest unit. */
type SharePrice = {
  /** Value of one whole share. */
  readonly sharePrice: bigint
  /** Returns the value of these shares. */
  readonly worth: (shares: bigint) => bigint
}

/** Everything that one account has in a vault at one block. */
export type LiveAccount = AccountDeposits & AccountRedemptions & SharePrice & { readonly shares: bigint }
