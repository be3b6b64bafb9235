import type { Address } from 'viem'
import type { ChainReader, ReadPlan } from '../chain/reader.ts'
import type { DepositOperation } from '../vaults/calldata.ts'
import type { Erc4626Vault, FollowedVault, LagoonVault, Vault, VaultOnChain } from '../vaults/vault.ts'
import type { VaultState } from '../vaults/vault-state.ts'
import type { Books } from './books.ts'
import type { lagoonFields } from './lagoon/vault.ts'

/** What one kind of vault is: everything that differs between vaults of different kinds stands behind this. */
export type Protocol<V extends Vault = Vault> = {
  /** Whether shares come at once, or after a settlement. */
  readonly type: 'sync' | 'async'
  /**
   * What registration learns of a vault besides what every vault has. Its parsing throws an Error that says, for an
   * operator, why it is none of this protocol's.
   */
  describe(vault: VaultOnChain): ReadPlan<ProtocolDescription>
  /** What the list shows of a vault besides its record. Its parsing never throws. */
  overview(vault: Followed<V>): ReadPlan<Overview>
  /** What one account has in a vault. Its parsing throws `upstream_bad_answer` when the vault does not tell an amount. */
  account(vault: V, account: Address): ReadPlan<AccountReading>
  readonly deposits: Deposits<V>
  /** What an account's deposits wait for; absent where shares come at once. */
  requests?(vault: V, account: Address): ReadPlan<RequestedDeposits>
  readonly books: Books<Followed<V>>
}

/** The part of a vault of this protocol that recording what happens in it takes. */
type Followed<V extends Vault> = Extract<FollowedVault, Pick<V, 'kind'>>

/** What registration learns of a vault besides what every vault has; `version` is null where there are none. */
export type ProtocolDescription = { readonly hasCap: boolean; readonly version: string | null } & (
  | Pick<Erc4626Vault, 'kind'>
  | Pick<LagoonVault, 'kind' | keyof typeof lagoonFields>
)

/** What the list shows of a vault besides its record. */
export type Overview = {
  /** What one whole share is worth, in the asset's smallest unit. */
  readonly sharePrice: bigint | undefined
  readonly hasCap: boolean | undefined
  readonly state: VaultState
}

/** How vaults of a protocol take deposits. */
type Deposits<V extends Vault> = {
  /** The operations that a vault may take, the usual one first. */
  readonly operations: readonly [DepositOperation, ...DepositOperation[]]
  /** What decides between them for an account, with `payer` as who pays for it: the account itself unless told. */
  terms(vault: V, account: Address, payer?: Address): ReadPlan<DepositTerms>
}

/** What a vault says to deposits of one account. */
export type DepositTerms = {
  /** How much of the asset the vault may take from the account. */
  readonly allowance: bigint
  /**
   * The operation that takes this much of the asset now, and, where one is given, until a moment in seconds since 1970.
   * Throws the AppError that says why none does.
   */
  readonly choose: (amount: bigint, until?: bigint) => DepositOperation
}

/** What became of the deposits that one account requested, in the smallest units of asset and share. */
export type RequestedDeposits = {
  readonly pendingAssets: bigint
  readonly claimableAssets: bigint
  /** In the wallet. */
  readonly shares: bigint
  /** Throws `upstream_bad_answer` where the vault does not tell. */
  readonly isPaused: () => boolean
  /** Whether the vault's access list admits the account; undefined where the vault does not say. */
  readonly isAllowed: boolean | undefined
  /** Of the vault; null where its version does not tell. */
  readonly depositEpochId: number | null
  readonly isTotalAssetsValid: boolean | null
  /**
   * What a claim of everything claimable mints, at the block of this reading. Costs further round trips only where that
   * reading does not tell. Throws `upstream_*`.
   */
  readonly readClaimableShares: (reader: ChainReader, at: bigint) => Promise<bigint>
}

/** What one account has in a vault at one block, in the smallest units of asset and share. */
export type LiveAccount = {
  readonly pendingAssets: bigint
  readonly claimableAssets: bigint
  readonly claimableShares: bigint
  /** In the wallet. */
  readonly shares: bigint
  readonly pendingRedeemShares: bigint
  readonly claimableRedeemAssets: bigint
  /** Of the vault; null for synchronous vaults, and where its version does not tell. */
  readonly depositEpochId: number | null
  readonly isTotalAssetsValid: boolean | null
  /** What one whole share is worth, in the asset's smallest unit. */
  readonly sharePrice: bigint
  /** What these shares are worth, in the asset's smallest unit. */
  readonly worth: (shares: bigint) => bigint
}

/** What was read of an account, and how to read what its vault does not tell: a request more, of the same block. */
export type AccountReading = {
  readonly account: LiveAccount
  readonly complete?: (reader: ChainReader, at: bigint) => Promise<LiveAccount>
}
