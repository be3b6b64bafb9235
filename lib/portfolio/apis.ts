import * as z from 'zod'

/** The index GoldRush (https://goldrush.dev/docs), which is asked only with a key. */
export const GoldRushApi = z.object({
  url: z.url().default('https://api.covalenthq.com/v1'),
  apiKey: z.string().min(1).optional(),
})
export type GoldRushApi = z.output<typeof GoldRushApi>

/** The index Alchemy (https://www.alchemy.com/docs/data), which is asked only with a key. `{network}` stands for its name of a chain. */
export const AlchemyApi = z.object({
  url: z
    .string()
    .regex(/^https?:\/\/.*\{network\}/)
    .default('https://{network}.g.alchemy.com'),
  apiKey: z.string().min(1).optional(),
})
export type AlchemyApi = z.output<typeof AlchemyApi>

/** The indexes in the order in which they are asked; those without a key are left out. The cheaper one is the first. */
export const TokenIndexes = z
  .array(z.enum(['alchemy', 'goldRush']))
  .refine((names) => new Set(names).size === names.length, 'must name each index once')
  .default(['alchemy', 'goldRush'])

/** A Solana node with the Digital Asset Standard API, whose URL holds its key; without one Solana's NFTs are not known. */
export const SolanaNftsApi = z.object({ url: z.url() })
export type SolanaNftsApi = z.output<typeof SolanaNftsApi>
