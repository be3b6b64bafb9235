import * as z from 'zod'

/** Endpoint of GoldRush, a service that lists wallets' tokens (https://goldrush.dev/docs). Without an API key it is not used. */
export const GoldRushApi = z.object({
  url: z.url().default('https://api.covalenthq.com/v1'),
  apiKey: z.string().min(1).optional(),
})
export type GoldRushApi = z.output<typeof GoldRushApi>

/**
 * Endpoint of Alchemy, a service that lists wallets' tokens and NFTs (https://www.alchemy.com/docs/data). Without an
 * API key it is not used. `{network}` in the URL is replaced by Alchemy's name of the chain.
 */
export const AlchemyApi = z.object({
  url: z
    .string()
    .regex(/^https?:\/\/.*\{network\}/)
    .default('https://{network}.g.alchemy.com'),
  apiKey: z.string().min(1).optional(),
})
export type AlchemyApi = z.output<typeof AlchemyApi>

/**
 * Services that list wallets' tokens, in the order in which they are tried. The cheaper service comes first. A service
 * without an API key is skipped.
 */
export const TokenIndexApis = z
  .array(z.enum(['alchemy', 'goldRush']))
  .refine((names) => new Set(names).size === names.length, 'must name each index once')
  .default(['alchemy', 'goldRush'])

/** Solana node with the Digital Asset Standard API. Its URL contains the API key. Without it, NFTs on Solana are unknown. */
export const SolanaNftsApi = z.object({ url: z.url() })
export type SolanaNftsApi = z.output<typeof SolanaNftsApi>
