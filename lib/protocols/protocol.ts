import type { Abi, Address } from 'viem'
import type { Call } from '../chain/call.ts'
import type { ChainReader, ReadPlan } from '../chain/reader.ts'
import { sum } from '../core/bigint.ts'
import type { AppError } from '../core/errors.ts'
import type { Books } from './books.ts'
import type { LedgerEntry } from './ledger-entry.ts'
import type { RequestKind } from './request-kind.ts'
import type { ReadTerms } from './terms.ts'
import type { TokenizedVault } from './tokenized-vault.ts'
import type { VaultOnChain } from './vault-on-chain.ts'
import type { VaultState } from './vault-state.ts'

/** Behaviour of one kind of vault: everything that differs between protocols. The parsing of its read plans never throws, unless stated. */
export type Protocol<V extends TokenizedVault = VaultOnChain> = {
  /** ABI whose events keep the books, and whose errors name a revert. */
  readonly abi: Abi
  /** Reads the protocol's own properties of a vault. A string is the reason, for an operator, that the vault is not of this protocol. */
  describe(vault: VaultCandidate): ReadPlan<ProtocolDescription<V> | UnknownVersion | string>
  /** Reads the data for the vault list. */
  overview(vault: V): ReadPlan<Overview>
  /** Returns the call that values these shares, in the asset's smallest unit; absent if events do. */
  shareValue?(vault: V, shares: bigint): Call<bigint>
  /** Returns the vault's operators; absent if the protocol has none. */
  roles?(vault: V): { readonly safe: Address; readonly valuationManager: Address }
  /** Reads one account. */
  account(vault: V, account: Address): ReadPlan<AccountSnapshot>
  /**
   * Reads the terms of a deposit of about this amount; `payer` defaults to the account. Its parsing throws
   * `upstream_bad_answer` if an amount is missing.
   */
  depositTerms(vault: V, account: Address, amount: bigint, payer?: Address): ReadPlan<DepositTerms>
  /**
   * Reads how the vault pays an account this amount now. Its parsing throws the AppError of a refusal, or
   * `upstream_bad_answer`; so does the function it returns, which may need further round trips.
   */
  withdrawalTerms(vault: V, account: Address, amount: WithdrawalAmount): ReadPlan<Finished<WithdrawalTerms>>
  /**
   * Reads how the vault pays settled requests; absent if nothing waits. Its parsing throws the AppError of a refusal,
   * or `upstream_bad_answer`.
   */
  claimTerms?(vault: V, account: Address, kind: RequestKind): ReadPlan<ClaimTerms>
  /** Reads how the vault cancels pending requests; like `claimTerms`. */
  cancelTerms?(vault: V, account: Address, kind: RequestKind): ReadPlan<FinishedRequests<CancelTerms>>
  /** Reads the open amounts of an account's requests with one id, undefined if not reported; absent if events show settlements. */
  openRequest?(
    vault: V,
    request: { readonly kind: RequestKind; readonly requestId: bigint; readonly account: Address },
  ): ReadPlan<OpenAmounts | undefined>
  readonly books: Books<V>
}

/** Amounts of a request by state, in the unit of the request; `given` are the proceeds of a claim, if reported. */
export type OpenAmounts = {
  readonly pending: bigint
  readonly claimable: bigint
  readonly cancelled: bigint
  readonly given?: bigint | undefined
}

/** Returns the claimable amount; 0 if the claim gives nothing, as for requests that round to 0. */
export function claimableUnlessWorthless(amount: bigint, given: bigint): bigint {
  return given > 0n ? amount : 0n
}

/** Contract that may be a vault, of a protocol not known yet. */
export type VaultCandidate = Omit<TokenizedVault, 'firstBlock'> & {
  /** True if it reports asynchronous deposits (ERC-7540) by ERC-165. */
  readonly isAsync: boolean
}

/** Properties of a vault that depend on its protocol; `version` is null without versions. */
export type ProtocolDescription<V extends TokenizedVault = VaultOnChain> = V extends V
  ? Omit<V, keyof TokenizedVault> & { readonly hasCap: boolean; readonly version: string | null }
  : never

/** Version of the protocol, named for an operator, that the service does not support. */
export type UnknownVersion = { readonly unknownVersion: string }

/** Data of a vault for the list. */
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
  readonly allowance: bigint
  /**
   * Returns the assets that the vault still takes: below zero if over its limit, undefined without a known one. Throws
   * `upstream_bad_answer` if not reported.
   */
  readonly room: () => bigint | undefined
  /** Returns the shares for these assets at the present price, after fees; null if unknown. */
  readonly sharesFor: (assets: bigint) => bigint | null
  /** Returns the shares' value at that price, in the asset's smallest unit; null if unknown. */
  readonly worth: (shares: bigint) => bigint | null
  /**
   * Returns the name of the operation that takes this amount now and until then, in seconds since 1970. Throws the
   * AppError of a refusal.
   */
  readonly choose: (amount: bigint, until?: bigint) => string
}

/** Amount to withdraw, in smallest units. */
export type WithdrawalAmount = { readonly assets: bigint } | { readonly shares: bigint } | 'max'

/** Terms on which a vault pays now; amounts in smallest units. */
export type WithdrawalTerms = {
  /** Calls in order: the last one withdraws, the others prepare it. */
  readonly steps: readonly [Step, ...(readonly Step[])]
  /** Shares that leave the account, and their payment at the present price; null if unknown. */
  readonly shares: bigint | null
  readonly assets: bigint | null
  /** Value of the shares: `assets` plus fees. */
  readonly value: bigint | null
  /** Part of the fees for instant payment. */
  readonly haircut: bigint
  /** Assets of earlier requests, paid together with this one. */
  readonly claimedAssets: bigint
  /** Earlier withdrawal whose waiting time this one restarts. */
  readonly prolongs?: { readonly assets: bigint; readonly claimableAt: Date } | null
  /** Returns the error for a dry run that reverted with this reason, or that was impossible; undefined if only the reason is known. */
  readonly refusal?: (reason: string | undefined) => AppError | undefined
  /** View that must rise by this amount in the calls' dry run, and the error if it does not. */
  readonly proof?: { readonly call: Call<bigint>; readonly rise: bigint; readonly refusal: AppError }
}

/** Call of a vault, by its operation's name. */
export type Step = { readonly name: string; readonly amount: bigint; readonly minimum?: bigint }

/** Terms on which a vault pays settled requests. */
export type ClaimTerms = {
  /** Calls that each claim everything: the one that gives most is used, the first of equals. */
  readonly calls: readonly [Step, ...(readonly Step[])]
  /** Reads what the first call claims, for lack of a dry run. */
  readonly claimable: Finished<Claimable>
  /** Error of the refusal, unless a dry run succeeds. */
  readonly refusal?: AppError | undefined
}

/** Assets and shares of a claim, in smallest units; `shares` null if not reported. */
export type Claimable = { readonly assets: bigint; readonly shares: bigint | null }

/** Terms on which a vault cancels pending requests. */
export type CancelTerms = {
  readonly name: string
  readonly requestId?: bigint
  /** Returned amount, in the smallest unit. */
  readonly cancelled: { readonly assets: bigint } | { readonly shares: bigint }
  /** True if this call only requests the cancellation, and another one claims the amount later. */
  readonly isAsync: boolean
  /** Error of the refusal, unless a dry run succeeds. */
  readonly refusal?: AppError | undefined
}

/**
 * Completes a read of block `at`, with further round trips only if needed. Throws `upstream_*`, such as
 * `upstream_bad_answer` for a missing amount.
 */
export type Finished<T> = (reader: ChainReader, at: bigint) => Promise<T>

/**
 * Completes a read of requests like `Finished`. Some vaults report requests only by id: only for them it calls
 * `listEntries`, the account's ledger in the vault up to that block, and throws its errors.
 */
export type FinishedRequests<T> = (
  reader: ChainReader,
  at: bigint,
  listEntries: () => Promise<readonly LedgerEntry[]>,
) => Promise<T>

/** Read of an account at one block; each part fails only for its own missing results. `shares` and `price` throw `upstream_bad_answer`. */
export type AccountSnapshot = {
  /** Returns the shares in the wallet. */
  readonly shares: () => bigint
  readonly deposits: FinishedRequests<AccountDeposits>
  readonly redemptions: FinishedRequests<AccountRedemptions>
  readonly price: () => SharePrice
}

/** Request whose cancellation is granted, with the amount left to claim, in the smallest unit of what it requested with. */
export type CancelledRequest = { readonly requestId: bigint; readonly amount: bigint }

/** Returns the amount left to claim of these requests. */
export function sumCancelled(requests: readonly CancelledRequest[]): bigint {
  return sum(requests.map(({ amount }) => amount))
}

/** State of an account's deposits at one block, in smallest units. Ids are null if the vault does not report them. */
export type AccountDeposits = {
  readonly pendingAssets: bigint
  readonly claimableAssets: bigint
  readonly claimableShares: bigint
  readonly cancelledDeposits: readonly CancelledRequest[]
  /** Epoch of the vault. */
  readonly depositEpochId: number | null
  /** Last request of the account; 0 before the first. */
  readonly lastDepositRequestId: number | null
  readonly isTotalAssetsValid: boolean | null
}

/** State of an account's redemptions at one block, in smallest units. Ids are null if the vault does not report them. */
export type AccountRedemptions = {
  readonly pendingRedeemShares: bigint
  readonly claimableRedeemShares: bigint
  readonly claimableRedeemAssets: bigint
  readonly cancelledRedemptions: readonly CancelledRequest[]
  /** Epoch of the vault. */
  readonly redeemEpochId: number | null
  /** Last request of the account; 0 before the first. */
  readonly lastRedeemRequestId: number | null
  readonly cooldown?: AccountCooldown
}

/** Fixed assets of an account in a cooldown, in the smallest unit. */
type AccountCooldown = {
  readonly pendingAssets: bigint
  /** Time from which all can be claimed; null if none wait. */
  readonly claimableAt: Date | null
}

/** State of an account in vaults without requests. */
export const NO_REQUESTS: Pick<AccountSnapshot, 'deposits' | 'redemptions'> = {
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

type SharePrice = {
  /** Value of one whole share. */
  readonly sharePrice: bigint
  /** Returns the value of these shares. */
  readonly worth: (shares: bigint) => bigint
}

/** Full read of an account in a vault at one block. */
export type LiveAccount = AccountDeposits & AccountRedemptions & SharePrice & { readonly shares: bigint }
