import * as z from 'zod'

/** Endpoint of the index GoldRush (https://goldrush.dev/docs); used only with a key. */
export const GoldRushApi = z.object({
  url: z.url().default('https://api.covalenthq.com/v1'),
  apiKey: z.string().min(1).optional(),
})
export type GoldRushApi = z.output<typeof GoldRushApi>

/** Endpoint of the index Alchemy (https://www.alchemy.com/docs/data); used only with a key. `{network}` stands for a chain. */
export const AlchemyApi = z.object({
  url: z
    .string()
    .regex(/^https?:\/\/.*\{network\}/)
    .default('https://{network}.g.alchemy.com'),
  apiKey: z.string().min(1).optional(),
})
export type AlchemyApi = z.output<typeof AlchemyApi>

/** Indexes in the order of use, the cheaper one first; those without a key are skipped. */
export const TokenIndexApis = z
  .array(z.enum(['alchemy', 'goldRush']))
  .refine((names) => new Set(names).size === names.length, 'must name each index once')
  .default(['alchemy', 'goldRush'])

/** A Solana node with the Digital Asset Standard API; its URL contains the key. Without one, Solana's NFTs are unknown. */
export const SolanaNftsApi = z.object({ url: z.url() })
export type SolanaNftsApi = z.output<typeof SolanaNftsApi>
