import * as z from 'zod'

const Count = z.number().int().positive()

/**
 * Maximum number of attempts of one kind, such as guesses of a password. `perNetwork` and `perUser` count for ten
 * minutes, `perSeed` counts for thirty days per TOTP seed. Three codes of six digits are valid at a time, so one random
 * code in 333,333 is right. With 100 guesses, one attacker in 3,333 succeeds.
 */
export const AttemptLimits = z.object({ perNetwork: Count, perUser: Count, perSeed: Count })
export type AttemptLimits = z.output<typeof AttemptLimits>
