import * as z from 'zod'

const Count = z.number().int().positive()

/**
 * How many failed tries of one kind there can be: within ten minutes from one network and at one user, and within thirty days
 * at the seed of one generator of codes. A guess of six digits is right once in 333,333, so that 100 tries are one in 3,333.
 */
export const RateLimits = z.object({ perNetwork: Count, perUser: Count, perSeed: Count })
export type RateLimits = z.output<typeof RateLimits>
