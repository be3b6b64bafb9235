import * as z from 'zod'

/**
 * Where CoinGecko is. Without a key its public host answers, slowly; `plan` says which of its two hosts a key is for, and
 * so how often the market is asked (https://docs.coingecko.com/docs/errors-and-rate-limits).
 */
export const CoinGeckoApi = z
  .object({
    url: z.url().optional(),
    apiKey: z.string().min(1).optional(),
    plan: z.enum(['demo', 'pro']).default('demo'),
  })
  .transform(({ url, apiKey, plan }) => ({
    url: url ?? { demo: 'https://api.coingecko.com/api/v3', pro: 'https://pro-api.coingecko.com/api/v3' }[plan],
    headers: apiKey ? { [`x-cg-${plan}-api-key`]: apiKey } : {},
    plan,
  }))
export type CoinGeckoApi = z.output<typeof CoinGeckoApi>

/** Where DefiLlama's coin prices are; they need no key (https://api-docs.defillama.com). */
export const DefiLlamaApi = z.object({ url: z.url().default('https://coins.llama.fi') })
export type DefiLlamaApi = z.output<typeof DefiLlamaApi>

/** Where LI.FI's token list is (https://docs.li.fi). */
export const LiFiApi = z
  .object({ url: z.url().default('https://li.quest/v1'), apiKey: z.string().min(1).optional() })
  .transform(({ url, apiKey }) => ({ url, headers: apiKey ? { 'x-lifi-api-key': apiKey } : {} }))
export type LiFiApi = z.output<typeof LiFiApi>
