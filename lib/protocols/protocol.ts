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

/** What one kind of vault is: everything that differs between vaults of different kinds stands behind this. */
export type Protocol<V extends TokenizedVault = VaultOnChain> = {
  /** Its events are those that keep the books; by its errors a revert is named. */
  readonly abi: Abi
  /**
   * What registration learns of a vault besides what every vault has, or why, for an operator, it is none of this
   * protocol's. Its parsing never throws.
   */
  describe(vault: VaultCandidate): ReadPlan<ProtocolDescription<V> | UnknownVersion | string>
  /** What the list shows of a vault besides its record. Its parsing never throws. */
  overview(vault: V): ReadPlan<Overview>
  /** The call for what these shares are worth, in the asset's smallest unit; absent where events tell the price. */
  shareValue?(vault: V, shares: bigint): Call<bigint>
  /** Who keeps the vault, as its record has it; absent where a protocol has nobody like that. */
  roles?(vault: V): { readonly safe: Address; readonly valuationManager: Address }
  /** What one account has in a vault. Its parsing never throws. */
  account(vault: V, account: Address): ReadPlan<AccountReading>
  /**
   * What decides how the vault takes deposits of about this amount of an account, with `payer` as who pays for it: the
   * account itself unless told. Its parsing throws `upstream_bad_answer` when the vault does not tell an amount.
   */
  depositTerms(vault: V, account: Address, amount: bigint, payer?: Address): ReadPlan<DepositTerms>
  /**
   * How the vault pays an account this much now: its parsing throws the AppError that says why it does not, or
   * `upstream_bad_answer`; what it returns may cost further round trips, and throws the same.
   */
  withdrawalTerms(vault: V, account: Address, amount: WithdrawalAmount): ReadPlan<Finished<WithdrawalTerms>>
  /**
   * How the vault gives what is settled of an account's requests; absent where nothing waits. Its parsing throws the
   * AppError that says why it does not, or `upstream_bad_answer` when the vault does not tell an amount.
   */
  claimTerms?(vault: V, account: Address, kind: RequestKind): ReadPlan<ClaimTerms>
  /** How the vault takes back what is pending of an account's requests; like `claimTerms`. */
  cancelTerms?(vault: V, account: Address, kind: RequestKind): ReadPlan<FinishedRequests<CancelTerms>>
  /**
   * What is open of an account's requests with one id, undefined where the vault does not tell; where no event tells of
   * settlements. Its parsing never throws.
   */
  openRequest?(
    vault: V,
    request: { readonly kind: RequestKind; readonly requestId: bigint; readonly account: Address },
  ): ReadPlan<OpenAmounts | undefined>
  readonly books: Books<V>
}

/**
 * What waits of a request, what can be claimed, and what a cancellation gives back, in what was requested with; and what a
 * claim of it gives, where the vault tells.
 */
export type OpenAmounts = {
  readonly pending: bigint
  readonly claimable: bigint
  readonly cancelled: bigint
  readonly given?: bigint | undefined
}

/** What can be claimed: nothing where that gives nothing, as of requests so small that they round to 0. */
export function worthClaiming(amount: bigint, given: bigint): bigint {
  return given > 0n ? amount : 0n
}

/** A contract that may be a vault, before its protocol is known. */
export type VaultCandidate = Omit<TokenizedVault, 'firstBlock'> & {
  /** Whether it says, by ERC-165, that it takes deposits asynchronously (ERC-7540). */
  readonly isAsync: boolean
}

/** What registration learns of a vault besides what every vault has; `version` is null where there are none. */
export type ProtocolDescription<V extends TokenizedVault = VaultOnChain> = V extends V
  ? Omit<V, keyof TokenizedVault> & { readonly hasCap: boolean; readonly version: string | null }
  : never

/** A vault of the protocol whose version, named here for an operator, the service does not know. */
export type UnknownVersion = { readonly unknownVersion: string }

/** What the list shows of a vault besides its record. */
export type Overview = {
  /** What one whole share is worth, in the asset's smallest unit. */
  readonly sharePrice: bigint | undefined
  readonly hasCap: boolean | undefined
  readonly terms: ReadTerms
  readonly state: VaultState
}

/** What a vault says to deposits of one account. */
export type DepositTerms = {
  /** How money enters and leaves the vault. */
  readonly terms: ReadTerms
  /** How much of the asset the vault may take from the account. */
  readonly allowance: bigint
  /**
   * How much more of the asset the vault takes now, below zero where it has more than it takes; undefined where it knows no
   * limit. Throws `upstream_bad_answer` when it does not tell.
   */
  readonly room: () => bigint | undefined
  /** The shares that so many assets give at the vault's present price, less its fees; null where it does not tell. */
  readonly sharesFor: (assets: bigint) => bigint | null
  /** What shares are worth at that price, in the asset's smallest unit; null where the vault does not tell. */
  readonly worth: (shares: bigint) => bigint | null
  /**
   * The name of the operation that takes this much of the asset now, and, where one is given, until a moment in seconds
   * since 1970. Throws the AppError that says why none does.
   */
  readonly choose: (amount: bigint, until?: bigint) => string
}

/** How much is to be withdrawn: of the asset or of shares, in their smallest units, or everything. */
export type WithdrawalAmount = { readonly assets: bigint } | { readonly shares: bigint } | 'max'

/** How a vault pays now; amounts in the smallest units of asset and share. */
export type WithdrawalTerms = {
  /** The calls, in order; the last one is the withdrawal, what is before makes it possible. */
  readonly steps: readonly [Step, ...(readonly Step[])]
  /** The shares that leave the account, and the assets that are paid for them at the vault's present price; null where it does not tell. */
  readonly shares: bigint | null
  readonly assets: bigint | null
  /** What the shares are worth; where that is more than the assets, fees keep the rest. */
  readonly value: bigint | null
  /** The part of the fees that is kept for being paid at once. */
  readonly haircut: bigint
  /** What earlier requests pay besides, because the vault pays them with this one. */
  readonly claimedAssets: bigint
  /** The earlier withdrawal that waits, whose waiting time this one restarts; null or absent where there is none. */
  readonly prolongs?: { readonly assets: bigint; readonly claimableAt: Date } | null
  /**
   * Why a vault refuses what its dry run reverted with, for this reason, or what could not be tried; absent or undefined
   * where nothing but the reason is known.
   */
  readonly refusal?: (reason: string | undefined) => AppError | undefined
  /** By how much the calls raise what a view tells, which only their dry run shows, and the refusal where they do not. */
  readonly proof?: { readonly call: Call<bigint>; readonly rise: bigint; readonly refusal: AppError }
}

/** One call of a vault, by its operation's name. */
export type Step = { readonly name: string; readonly amount: bigint; readonly minimum?: bigint }

/** How a vault gives what is settled of one account's requests. */
export type ClaimTerms = {
  /** Calls each of which claims everything. The one that gives most is the claim; of those that give the same, the first. */
  readonly calls: readonly [Step, ...(readonly Step[])]
  /** What the first of them claims, where no dry run tells. */
  readonly claimable: Finished<Claimable>
  /** Why the vault refuses, unless a dry run shows that it does not. */
  readonly refusal?: AppError | undefined
}

/** What a claim turns into what, in the smallest units of asset and share; `shares` null where the vault does not tell. */
export type Claimable = { readonly assets: bigint; readonly shares: bigint | null }

/** How a vault takes back what is pending of one account's requests. */
export type CancelTerms = {
  /** The name of the operation that does, and of which request, where the operation names one. */
  readonly name: string
  readonly requestId?: bigint
  /** What comes back, in the smallest unit. */
  readonly cancelled: { readonly assets: bigint } | { readonly shares: bigint }
  /** Whether the vault only begins with it now: what comes back is taken by another call once the vault has agreed. */
  readonly isAsync: boolean
  /** Why the vault refuses, unless a dry run shows that it does not. */
  readonly refusal?: AppError | undefined
}

/**
 * What was read at this block. Costs further round trips only where that reading did not tell it. Throws
 * `upstream_bad_answer` when the vault does not tell an amount of it, and `upstream_*`.
 */
export type Finished<T> = (reader: ChainReader, at: bigint) => Promise<T>

/**
 * The same of requests, which some vaults tell by their ids alone: those the account's ledger entries in the vault up to
 * that block have, which are asked for only there. Throws also what `listEntries` throws.
 */
export type FinishedRequests<T> = (
  reader: ChainReader,
  at: bigint,
  listEntries: () => Promise<readonly LedgerEntry[]>,
) => Promise<T>

/**
 * What was read of an account at one block, in parts: each needs of the vault only what it tells. `shares` and `price`
 * throw `upstream_bad_answer` when the vault does not tell an amount.
 */
export type AccountReading = {
  /** Those in the wallet. */
  readonly shares: () => bigint
  readonly deposits: FinishedRequests<AccountDeposits>
  readonly redemptions: FinishedRequests<AccountRedemptions>
  readonly price: () => SharePrice
}

/**
 * A request whose cancellation the vault has granted, and what waits to be taken back of it: assets of a deposit, shares of
 * a redemption, in the smallest unit.
 */
export type CancelledRequest = { readonly requestId: bigint; readonly amount: bigint }

/** What waits to be taken back of all of them. */
export function totalCancelled(requests: readonly CancelledRequest[]): bigint {
  return sum(requests.map(({ amount }) => amount))
}

/** What stands of an account's deposits at one block, in the smallest units of asset and share. */
export type AccountDeposits = {
  readonly pendingAssets: bigint
  readonly claimableAssets: bigint
  readonly claimableShares: bigint
  readonly cancelledDeposits: readonly CancelledRequest[]
  /** Of the vault; null for synchronous vaults, and where its version does not tell. */
  readonly depositEpochId: number | null
  /** The id of the account's last deposit request, 0 before there was one; null where the vault does not tell. */
  readonly lastDepositRequestId: number | null
  readonly isTotalAssetsValid: boolean | null
}

/** What stands of an account's redemptions at one block, in the smallest units of asset and share. */
export type AccountRedemptions = {
  readonly pendingRedeemShares: bigint
  readonly claimableRedeemShares: bigint
  readonly claimableRedeemAssets: bigint
  readonly cancelledRedemptions: readonly CancelledRequest[]
  /** Of the vault; null for synchronous vaults, and where its version does not tell. */
  readonly redeemEpochId: number | null
  /** The id of the account's last redemption request, 0 before there was one; null where the vault does not tell. */
  readonly lastRedeemRequestId: number | null
  /** Absent in vaults without a cooldown. */
  readonly cooldown?: AccountCooldown
}

/** What an account has in a cooldown: its assets are fixed. */
type AccountCooldown = {
  /** Assets that wait, in the smallest unit. */
  readonly pendingAssets: bigint
  /** When all of them can be claimed; null if none wait. */
  readonly claimableAt: Date | null
}

/** What stands of deposits and redemptions where both are done at once. */
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

/** What the shares of a vault are worth at one block, in the asset's smallest unit. */
type SharePrice = {
  /** One whole share. */
  readonly sharePrice: bigint
  /** These shares. */
  readonly worth: (shares: bigint) => bigint
}

/** All of what one account has in a vault at one block. */
export type LiveAccount = AccountDeposits & AccountRedemptions & SharePrice & { readonly shares: bigint }
