import * as z from 'zod'
import { QuestionsPerClient } from '../cache/budget.ts'

/** Where GoldRush is, which knows tokens beyond the list, spam and NFTs; it is asked only with a key (https://goldrush.dev/docs). */
export const GoldRushApi = z.object({
  url: z.url().default('https://api.covalenthq.com/v1'),
  apiKey: z.string().min(1).optional(),
  questionsPerClient: QuestionsPerClient.default(3_000),
})
export type GoldRushApi = z.output<typeof GoldRushApi>

/** A Solana node with the Digital Asset Standard API, whose URL holds its key; without one Solana's NFTs are not known. */
export const SolanaNftsApi = z.object({ url: z.url(), questionsPerClient: QuestionsPerClient.default(600) })
export type SolanaNftsApi = z.output<typeof SolanaNftsApi>
