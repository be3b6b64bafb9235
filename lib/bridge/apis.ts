import type { Hex } from 'viem'
import * as z from 'zod'

/**
 * URL of the bridge's API, and the service's credentials for it. The integrator id (two bytes) identifies the service
 * in bridge deposits.
 */
export const BridgeApi = z
  .object({
    url: z.url().default('https://app.across.to/api'),
    apiKey: z.string().min(1).optional(),
    integratorId: z
      .string()
      .refine((text): text is Hex => /^0x[0-9a-f]{4}$/.test(text))
      .optional(),
  })
  .transform(({ url, apiKey, integratorId }) => ({
    url,
    headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
    integratorId,
  }))
