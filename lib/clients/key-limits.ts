import type { Address as AddressText } from 'viem'
import * as z from 'zod'
import { Address, Amount } from '../core/codecs.ts'
import { AppError, mustBeAtMost } from '../core/errors.ts'
import { findVault, type Vault, type VaultKey } from '../vaults/vault.ts'

/** Area of the API that a key can use. */
export const Scope = z.enum(['vaults', 'accounts', 'portfolio', 'markets', 'webhooks'])
export type Scope = z.output<typeof Scope>

/** Rate limit: the maximum number of requests per key in each window, and the window's length in seconds. */
export const Rate = z.object({
  requests: z.int().min(1).max(1_000_000),
  seconds: z.int().min(10).max(3600),
})
export type Rate = z.output<typeof Rate>

const ChainId = z.int().positive()

/** Limits of an API key. A list that is missing limits nothing. */
export const KeyLimits = z.object({
  scopes: z.array(Scope).min(1),
  rate: Rate,
  /** Chains whose vaults the key sees, and from which deposits into its vaults may come. */
  chains: z.array(ChainId).min(1).max(20).optional(),
  /** Vaults that the key sees and may deposit into, out of those of its client. */
  vaults: z
    .array(z.object({ chainId: ChainId, address: Address }))
    .min(1)
    .max(100)
    .optional(),
  /** Assets that the key may deposit, by source chain, and the maximum per deposit in the asset's smallest unit. */
  largestDeposits: z
    .array(z.object({ chainId: ChainId, asset: Address, amount: Amount }))
    .min(1)
    .max(100)
    .optional(),
})
export type KeyLimits = z.output<typeof KeyLimits>

/**
 * Limits of an API key created without any. The rate is half of API Gateway's in production. The scope `webhooks` is
 * missing, because events report all users' actions and keys inside wallets are public.
 */
export const DEFAULT_LIMITS: KeyLimits = {
  scopes: ['vaults', 'accounts', 'portfolio', 'markets'],
  rate: { requests: 6000, seconds: 60 },
}

type Caller = { readonly client: { readonly vaults: readonly Vault[] }; readonly limits: KeyLimits }

/** Lists the client's vaults that the key sees. */
export function listVisibleVaults({ client, limits: { chains, vaults } }: Caller): Vault[] {
  const isVisible = (vault: VaultKey) =>
    (chains?.includes(vault.chainId) ?? true) &&
    (vaults?.some(({ chainId, address }) => chainId === vault.chainId && address === vault.address) ?? true)
  return client.vaults.filter(isVisible)
}

/**
 * Returns the visible vault at this address, on this chain if given. Throws `chain_not_allowed` and `vault_not_allowed`
 * only by the key's own limits, so these errors reveal no vault. Otherwise throws what `findVault` throws.
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

/** Throws `chain_not_allowed` or `deposit_limit_exceeded` if the key may not deposit this amount. */
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
