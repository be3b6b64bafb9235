import * as z from 'zod'

/**
 * Endpoint of CoinGecko's API. Without a key it is the slow public host. `plan` is the key's plan, which selects the
 * host and how often prices are fetched (https://docs.coingecko.com/docs/errors-and-rate-limits).
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

/** Endpoint of DefiLlama's coin prices, which needs no key (https://api-docs.defillama.com). */
export const DefiLlamaApi = z.object({ url: z.url().default('https://coins.llama.fi') })
export type DefiLlamaApi = z.output<typeof DefiLlamaApi>

/** Endpoint of LI.FI's API, which supplies the list of tokens (https://docs.li.fi). */
export const LiFiApi = z
  .object({ url: z.url().default('https://li.quest/v1'), apiKey: z.string().min(1).optional() })
  .transform(({ url, apiKey }) => ({ url, headers: apiKey ? { 'x-lifi-api-key': apiKey } : {} }))
export type LiFiApi = z.output<typeof LiFiApi>
