import * as z from 'zod'

const Count = z.number().int().positive()

/**
 * Maximum number of counted attempts of one kind. Limits per network and per user count for ten minutes, per TOTP seed
 * for thirty days. Three codes of six digits are valid at a time, so one guess in 333,333 is right. So 100 guesses
 * succeed once in 3,333.
 */
export const RateLimits = z.object({ perNetwork: Count, perUser: Count, perSeed: Count })
export type RateLimits = z.output<typeof RateLimits>
