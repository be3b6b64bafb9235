import type { Hex } from 'viem'
import * as z from 'zod'

/** Address of the bridge's API, and our credentials for it. The integrator id, two bytes, names us as the integrator. */
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
