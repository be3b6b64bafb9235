import type { Address as AddressText } from 'viem'
import * as z from 'zod'
import { Address, Amount } from '../codecs.ts'
import { AppError, mustBeAtMost } from '../errors.ts'
import { findVault, type Vault, type VaultKey } from '../vaults/vault.ts'

/** What a key can open: an area of the API, or two that belong together. */
export const Scope = z.enum(['vaults', 'accounts', 'portfolio', 'markets', 'webhooks'])
export type Scope = z.output<typeof Scope>

/** How many requests a key may make in each window of so many seconds. */
export const Rate = z.object({
  requests: z.int().min(1).max(1_000_000),
  seconds: z.int().min(10).max(3600),
})
export type Rate = z.output<typeof Rate>

const ChainId = z.int().positive()

/** What a key may do. A list that it does not have bounds nothing. */
export const KeyLimits = z.object({
  scopes: z.array(Scope).min(1),
  rate: Rate,
  /** Where vaults are that it sees, and where deposits into them come from. */
  chains: z.array(ChainId).min(1).max(20).optional(),
  /** The vaults that it sees and deposits into, of those that its client has. */
  vaults: z
    .array(z.object({ chainId: ChainId, address: Address }))
    .min(1)
    .max(100)
    .optional(),
  /** The assets that it deposits, by where they come from, and the most of each in one deposit, in its smallest unit. */
  largestDeposits: z
    .array(z.object({ chainId: ChainId, asset: Address, amount: Amount }))
    .min(1)
    .max(100)
    .optional(),
})
export type KeyLimits = z.output<typeof KeyLimits>

/**
 * What a key may do that was given no limits: half of what the gateway lets through in production. Webhooks tell what all
 * users do: they are for keys on servers, which say so, and not for those that are in wallets for everybody to read.
 */
export const DEFAULT_LIMITS: KeyLimits = {
  scopes: ['vaults', 'accounts', 'portfolio', 'markets'],
  rate: { requests: 6000, seconds: 60 },
}

/** Who asks about vaults: a client by one of its keys. */
type Caller = { readonly client: { readonly vaults: readonly Vault[] }; readonly limits: KeyLimits }

/** The vaults of the client that the key sees. */
export function listVisibleVaults({ client, limits: { chains, vaults } }: Caller): Vault[] {
  const isVisible = (vault: VaultKey) =>
    (chains?.includes(vault.chainId) ?? true) &&
    (vaults?.some(({ chainId, address }) => chainId === vault.chainId && address === vault.address) ?? true)
  return client.vaults.filter(isVisible)
}

/**
 * The vault that the key sees at this address, on this chain where one is given. Throws `chain_not_allowed` and
 * `vault_not_allowed` by what the key allows alone, so that neither tells whether there is such a vault; else as `findVault`.
 */
export function findVisibleVault(caller: Caller, address: AddressText, chainId: number | undefined): Vault {
  const { limits } = caller
  if (chainId !== undefined) requireChain(limits, chainId)
  const isListed = limits.vaults?.some(
    (listed) => listed.address === address && (chainId ?? listed.chainId) === listed.chainId,
  )
  if (isListed === false) throw new AppError('vault_not_allowed')
  return findVault(listVisibleVaults(caller), address, chainId)
}

/** Throws `chain_not_allowed` or `deposit_limit_exceeded` where the key may not deposit so much of this asset from this chain. */
export function requireAllowedDeposit(
  limits: KeyLimits,
  { chainId, asset, amount }: { readonly chainId: number; readonly asset: AddressText; readonly amount: bigint },
): void {
  requireChain(limits, chainId)
  if (!limits.largestDeposits) return
  const largest = limits.largestDeposits.find((listed) => listed.chainId === chainId && listed.asset === asset)
  if (largest && amount <= largest.amount) return
  const detail = largest
    ? mustBeAtMost('amount', largest.amount)
    : { field: 'amount', issue: `is of an asset that this key cannot deposit: ${asset}` }
  throw new AppError('deposit_limit_exceeded', { details: [detail] })
}

function requireChain({ chains }: KeyLimits, chainId: number): void {
  if (chains && !chains.includes(chainId)) throw new AppError('chain_not_allowed')
}
