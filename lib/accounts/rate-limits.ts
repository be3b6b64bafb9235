import * as z from 'zod'

/** How many challenges of one kind are given within ten minutes: to one IP address, and for one e-mail address. */
export const RateLimits = z.object({ perAddress: z.number().int().positive(), perEmail: z.number().int().positive() })
export type RateLimits = z.output<typeof RateLimits>
