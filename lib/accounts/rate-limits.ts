import * as z from 'zod'

/** How many failed tries of one kind there can be within ten minutes: from one network, and at one user. */
export const RateLimits = z.object({ perNetwork: z.number().int().positive(), perUser: z.number().int().positive() })
export type RateLimits = z.output<typeof RateLimits>
