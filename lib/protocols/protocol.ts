import type { Abi, Address } from 'viem'
import type { ContractCall } from '../chain/call.ts'
import type { ChainReader, ReadPlan } from '../chain/reader.ts'
import { sum } from '../core/bigint.ts'
import type { AppError } from '../core/errors.ts'
import type { LedgerRules } from './books.ts'
import type { LedgerEntry } from './ledger-entry.ts'
import type { RequestKind } from './request-kind.ts'
import type { ContractTerms } from './terms.ts'
import type { TokenizedVault } from './tokenized-vault.ts'
import type { VaultOnChain } from './vault-on-chain.ts'
import type { VaultState } from './vault-state.ts'

/**
 * Functions that read vaults of one protocol. Parsing the results of a read plan throws only the errors that the
 * function's comment names.
 */
export type Protocol<V extends TokenizedVault = VaultOnChain> = {
  /** ABI of the events that the ledger is computed from, and of the errors that explain a revert. */
  readonly abi: Abi
  /**
   * Reads the properties that only vaults of this protocol have. The result is a text for an operator if the contract
   * is no vault of this protocol. The text names the reason.
   */
  describe(vault: VaultCandidate): ReadPlan<ProtocolDescription<V> | UnknownVersion | string>
  /** Reads the vault's data that the API's list of vaults shows. */
  overview(vault: V): ReadPlan<Overview>
  /** Returns the call that values these shares in the asset's smallest unit; absent if the vault's events show the value. */
  shareValue?(vault: V, shares: bigint): ContractCall<bigint>
  /** Returns the accounts that operate the vault; absent if the protocol defines no such accounts. */
  roles?(vault: V): { readonly safe: Address; readonly valuationManager: Address }
  /** Reads the balances and requests of one account. */
  account(vault: V, account: Address): ReadPlan<AccountSnapshot>
  /**
   * Returns a plan that reads the terms of a deposit of about this amount. `payer` defaults to the account. Parsing the
   * plan's results throws `upstream_bad_answer` if the vault does not report a needed amount.
   */
  depositTerms(vault: V, account: Address, amount: bigint, payer?: Address): ReadPlan<DepositTerms>
  /**
   * Returns a plan that reads the calls by which the vault pays this amount now. Parsing the plan's results throws an
   * AppError if the vault refuses the withdrawal. Parsing throws `upstream_bad_answer` if the vault reports no needed
   * amount, or an impossible fee. The plan's result is a function that may read the chain again. It throws the same
   * errors, and other `upstream_*`.
   */
  withdrawalTerms(vault: V, account: Address, amount: WithdrawalAmount): ReadPlan<FollowUpRead<WithdrawalTerms>>
  /**
   * Returns a plan that reads the calls that claim the account's settled requests; absent if the protocol has no
   * requests. Parsing the plan's results throws an AppError if the vault refuses the claim. Parsing throws
   * `upstream_bad_answer` if the vault does not report a needed amount.
   */
  claimTerms?(vault: V, account: Address, kind: RequestKind): ReadPlan<ClaimTerms>
  /**
   * Returns a plan that reads the call that cancels the account's pending requests; absent if the protocol has no
   * cancellations. Parsing the plan's results throws an AppError if the vault refuses the cancellation. Parsing throws
   * `upstream_bad_answer` if the vault does not report a needed amount.
   */
  cancelTerms?(vault: V, account: Address, kind: RequestKind): ReadPlan<RequestFollowUpRead<CancelTerms>>
  /**
   * Reads the open amounts of the account's requests with the id `requestId`; undefined if the vault does not report
   * them. Absent if the vault's events show settlements, so that the amounts need not be read.
   */
  openRequest?(
    vault: V,
    request: { readonly kind: RequestKind; readonly requestId: bigint; readonly account: Address },
  ): ReadPlan<OpenAmounts | undefined>
  readonly books: LedgerRules<V>
}

/**
 * Amounts of a request by state: assets for deposits, shares for withdrawals. `given` is what a claim of `claimable`
 * pays; undefined if the vault does not report it.
 */
export type OpenAmounts = {
  readonly pending: bigint
  readonly claimable: bigint
  readonly cancelled: bigint
  readonly given?: bigint | undefined
}

/** Returns the claimable amount; 0 if `given`, the payment of its claim, is 0 because of rounding. */
export function zeroIfPaysNothing(amount: bigint, given: bigint): bigint {
  return given > 0n ? amount : 0n
}

/** Contract that may be a vault, whose protocol is not known yet. */
export type VaultCandidate = Omit<TokenizedVault, 'firstBlock'> & {
  /** True if the contract reports asynchronous deposits (ERC-7540) by its ERC-165 interfaces. */
  readonly isAsync: boolean
}

/** Properties of a vault that depend on its protocol. `version` is null if the protocol's contracts have no versions. */
export type ProtocolDescription<V extends TokenizedVault = VaultOnChain> = V extends V
  ? Omit<V, keyof TokenizedVault> & { readonly hasCap: boolean; readonly version: string | null }
  : never

/** Text for an operator that names the version of a vault's contract, which the service does not support. */
export type UnknownVersion = { readonly unknownVersion: string }

/** Data of a vault that the API's list of vaults shows. */
export type Overview = {
  /** Value of one whole share, in the asset's smallest unit. */
  readonly sharePrice: bigint | undefined
  readonly hasCap: boolean | undefined
  readonly terms: ContractTerms
  readonly state: VaultState
}

/** Terms of a vault for a deposit of one account. */
export type DepositTerms = {
  readonly terms: ContractTerms
  readonly allowance: bigint
  /**
   * Returns the assets that the vault still takes. The amount is below zero if the vault is over its limit, undefined
   * if no limit is known. Throws `upstream_bad_answer` if the vault does not report a needed amount.
   */
  readonly room: () => bigint | undefined
  /** Returns the shares that a deposit of these assets gives at the present price, after fees; null if unknown. */
  readonly sharesFor: (assets: bigint) => bigint | null
  /** Returns the value of these shares at the present price, in the asset's smallest unit; null if unknown. */
  readonly worth: (shares: bigint) => bigint | null
  /**
   * Returns the name of the operation that takes this amount now and up to the time `until`, in seconds since 1970.
   * Throws an AppError if the vault refuses the deposit.
   */
  readonly choose: (amount: bigint, until?: bigint) => string
}

/** Amount to withdraw: assets or shares in smallest units, or `max` for everything. */
export type WithdrawalAmount = { readonly assets: bigint } | { readonly shares: bigint } | 'max'

/** Terms of a withdrawal at the present state of the vault. Amounts are in smallest units. */
export type WithdrawalTerms = {
  /** Vault calls in the order of sending. The last call withdraws; earlier calls only prepare the withdrawal. */
  readonly steps: readonly [VaultCall, ...(readonly VaultCall[])]
  /** Shares that leave the account; null if unknown. `assets` is the payment for these shares at the present price. */
  readonly shares: bigint | null
  readonly assets: bigint | null
  /** Value of the shares at the present price: `assets` plus fees. */
  readonly value: bigint | null
  /** Part of the fees, in assets, that the vault takes for paying instantly. */
  readonly haircut: bigint
  /** Assets that these calls pay in addition, for earlier requests that are settled. */
  readonly claimedAssets: bigint
  /** Earlier withdrawal whose cooldown starts again because of the new withdrawal; null or absent if there is none. */
  readonly prolongs?: { readonly assets: bigint; readonly claimableAt: Date } | null
  /**
   * Returns the error for a simulation that reverted with this reason. The reason is undefined if no node could
   * simulate. Returns undefined if the state of the vault does not explain the failure.
   */
  readonly refusal?: (reason: string | undefined) => AppError | undefined
  /** View function whose result must rise by `rise` during the simulated withdrawal, and the error if it does not rise. */
  readonly proof?: { readonly call: ContractCall<bigint>; readonly rise: bigint; readonly refusal: AppError }
}

/** Call of a vault: the name of the operation, its amount, and the minimum that the vault must pay. */
export type VaultCall = { readonly name: string; readonly amount: bigint; readonly minimum?: bigint }

/** Terms of a claim of settled requests. */
export type ClaimTerms = {
  /**
   * Alternative calls, each of which claims everything. The call that pays most in its simulation is used, or the first
   * of several that pay the same.
   */
  readonly calls: readonly [VaultCall, ...(readonly VaultCall[])]
  /** Reads the amounts that the first call claims; needed if no node can simulate. */
  readonly claimable: FollowUpRead<ClaimableAmounts>
  /** Error that refuses the claim, unless its simulation succeeds. */
  readonly refusal?: AppError | undefined
}

/** Assets and shares of a claim, in smallest units. `shares` is null if the vault does not report them. */
export type ClaimableAmounts = { readonly assets: bigint; readonly shares: bigint | null }

/** Terms of a cancellation of pending requests. */
export type CancelTerms = {
  readonly name: string
  readonly requestId?: bigint
  /** Amount that the cancellation returns, in smallest units. */
  readonly cancelled: { readonly assets: bigint } | { readonly shares: bigint }
  /** True if this call only requests the cancellation, and a later one has to claim the amount. */
  readonly isAsync: boolean
  /** Error that refuses the cancellation, unless its simulation succeeds. */
  readonly refusal?: AppError | undefined
}

/**
 * Function that completes the result of a read plan at block `at`. It reads the chain again only if the plan did not
 * suffice. It throws `upstream_*`, such as `upstream_bad_answer` for an amount that the vault does not report.
 */
export type FollowUpRead<T> = (reader: ChainReader, at: bigint) => Promise<T>

/**
 * Function like `FollowUpRead`, for an account's requests. If the vault does not report request ids or burned shares,
 * the function takes them from the account's ledger entries. It calls `listEntries` only then, and throws the errors of
 * `listEntries` too.
 */
export type RequestFollowUpRead<T> = (
  reader: ChainReader,
  at: bigint,
  listEntries: () => Promise<readonly LedgerEntry[]>,
) => Promise<T>

/**
 * Data of an account at one block. Each function fails only if its own results are missing. `shares` and `price` throw
 * `upstream_bad_answer`.
 */
export type AccountSnapshot = {
  /** Returns the number of shares in the account's wallet, in the smallest unit. */
  readonly shares: () => bigint
  readonly deposits: RequestFollowUpRead<AccountDeposits>
  readonly redemptions: RequestFollowUpRead<AccountRedemptions>
  readonly price: () => SharePrice
}

/**
 * Request whose cancellation the vault granted. `amount` is what the account can still claim back, in smallest units:
 * assets of a deposit, shares of a withdrawal.
 */
export type CancelledRequest = { readonly requestId: bigint; readonly amount: bigint }

/** Returns the total amount of cancelled requests that the account can still claim back. */
export function sumCancelled(requests: readonly CancelledRequest[]): bigint {
  return sum(requests.map(({ amount }) => amount))
}

/** An account's deposit requests at one block, in smallest units. Ids are null if the vault does not report them. */
export type AccountDeposits = {
  readonly pendingAssets: bigint
  readonly claimableAssets: bigint
  readonly claimableShares: bigint
  readonly cancelledDeposits: readonly CancelledRequest[]
  /** Id of the vault's present deposit epoch; one settlement settles all requests of an epoch. */
  readonly depositEpochId: number | null
  /** Id of the account's last deposit request; 0 before the first. */
  readonly lastDepositRequestId: number | null
  readonly isTotalAssetsValid: boolean | null
}

/** An account's redemption requests at one block, in smallest units. Ids are null if the vault does not report them. */
export type AccountRedemptions = {
  readonly pendingRedeemShares: bigint
  readonly claimableRedeemShares: bigint
  readonly claimableRedeemAssets: bigint
  readonly cancelledRedemptions: readonly CancelledRequest[]
  /** Id of the vault's present redemption epoch; one settlement settles all requests of an epoch. */
  readonly redeemEpochId: number | null
  /** Id of the account's last redemption request; 0 before the first. */
  readonly lastRedeemRequestId: number | null
  readonly cooldown?: AccountCooldown
}

/** Assets of an account that wait for the end of a cooldown, in the smallest unit. */
type AccountCooldown = {
  readonly pendingAssets: bigint
  /** Time from which all of these assets can be claimed; null if there are none. */
  readonly claimableAt: Date | null
}

/** Request functions for an account in a vault that has no requests: all amounts are zero. */
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
  /** Value of one whole share, in the asset's smallest unit. */
  readonly sharePrice: bigint
  /** Returns the value of these shares, in the asset's smallest unit. */
  readonly worth: (shares: bigint) => bigint
}

/** All data of an account in a vault, read at one block. */
export type LiveAccount = AccountDeposits & AccountRedemptions & SharePrice & { readonly shares: bigint }
