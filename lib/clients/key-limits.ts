import type { Address as AddressText } from 'viem'
import * as z from 'zod'
import { Address, Amount } from '../core/codecs.ts'
import { AppError, buildTooLargeDetail } from '../core/errors.ts'
import { findVault, type Vault, type VaultKey } from '../vaults/vault.ts'

/** Part of the API that a key may use. */
export const Scope = z.enum(['vaults', 'accounts', 'portfolio', 'markets', 'webhooks'])
export type Scope = z.output<typeof Scope>

/** Rate limit of an API key: the maximum number of requests in each time window, and the window's length in seconds. */
export const RateLimit = z.object({
  requests: z.int().min(1).max(1_000_000),
  seconds: z.int().min(10).max(3600),
})
export type RateLimit = z.output<typeof RateLimit>

const ChainId = z.int().positive()

/** Limits of an API key. An omitted list permits everything. */
export const KeyLimits = z.object({
  scopes: z.array(Scope).min(1),
  rate: RateLimit,
  /** Chains whose vaults the key may see, and from which users may deposit into these vaults. */
  chains: z.array(ChainId).min(1).max(20).optional(),
  /** Vaults of the client that the key may see and deposit into. */
  vaults: z
    .array(z.object({ chainId: ChainId, address: Address }))
    .min(1)
    .max(100)
    .optional(),
  /** Assets that the key may deposit, by source chain. `amount` is the maximum of one deposit in the asset's smallest unit. */
  largestDeposits: z
    .array(z.object({ chainId: ChainId, asset: Address, amount: Amount }))
    .min(1)
    .max(100)
    .optional(),
})
export type KeyLimits = z.output<typeof KeyLimits>

/**
 * Limits of an API key that was created without limits. The rate is half of API Gateway's rate limit in production. The
 * scope `webhooks` is missing, because keys inside wallet apps are public and webhook events report the actions of all
 * users.
 */
export const DEFAULT_LIMITS: KeyLimits = {
  scopes: ['vaults', 'accounts', 'portfolio', 'markets'],
  rate: { requests: 6000, seconds: 60 },
}

type Caller = { readonly client: { readonly vaults: readonly Vault[] }; readonly limits: KeyLimits }

/** Lists the client's vaults that the API key may see. */
export function listVisibleVaults({ client, limits: { chains, vaults } }: Caller): Vault[] {
  const isVisible = (vault: VaultKey) =>
    (chains?.includes(vault.chainId) ?? true) &&
    (vaults?.some(({ chainId, address }) => chainId === vault.chainId && address === vault.address) ?? true)
  return client.vaults.filter(isVisible)
}

/**
 * Returns the vault at this address that the API key may see. Throws `chain_not_allowed` and `vault_not_allowed` only
 * by the key's own limits, so these errors do not reveal existing vaults. Otherwise throws the errors of `findVault`.
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

/** Throws `chain_not_allowed` or `deposit_limit_exceeded` if the API key may not deposit this amount from this chain. */
export function requireAllowedDeposit(
  limits: KeyLimits,
  { chainId, asset, amount }: { readonly chainId: number; readonly asset: AddressText; readonly amount: bigint },
): void {
  requireChain(limits, chainId)
  if (!limits.largestDeposits) return
  const largest = limits.largestDeposits.find((listed) => listed.chainId === chainId && listed.asset === asset)
  if (largest && amount <= largest.amount) return
  const detail = largest
    ? buildTooLargeDetail('amount', largest.amount)
    : { field: 'amount', issue: `is of an asset that this key cannot deposit: ${asset}` }
  throw new AppError('deposit_limit_exceeded', { details: [detail] })
}

function requireChain({ chains }: KeyLimits, chainId: number): void {
  if (chains && !chains.includes(chainId)) throw new AppError('chain_not_allowed')
}
