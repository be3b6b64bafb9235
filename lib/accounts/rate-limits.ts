import * as z from 'zod'

const Count = z.number().int().positive()

/**
 * Maximum failed attempts of one kind: per network and per user in ten minutes, per TOTP seed in thirty days. A guessed
 * code of six digits is right once in 333,333 guesses, so 100 guesses succeed once in 3,333.
 */
export const RateLimits = z.object({ perNetwork: Count, perUser: Count, perSeed: Count })
export type RateLimits = z.output<typeof RateLimits>
