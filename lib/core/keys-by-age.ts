import * as z from 'zod'

/**
 * Keys from which secrets derive, stored as `{"key": …, "before"?: …}`. New secrets use the first key. The previous one
 * remains while its secrets are valid.
 */
export const KeysByAge = z
  .object({ key: z.string().min(32), before: z.string().min(32).optional() })
  .transform(({ key, before }): readonly [string, ...string[]] => [key, ...(before === undefined ? [] : [before])])
export type KeysByAge = z.output<typeof KeysByAge>
