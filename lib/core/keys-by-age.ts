import * as z from 'zod'

/**
 * Keys from which other secrets are derived, newest first. They are stored as `{"key": …, "before"?: …}`. New secrets
 * are derived from the first key. After a rotation the previous key remains while its derived secrets are valid.
 */
export const KeysByAge = z
  .object({ key: z.string().min(32), before: z.string().min(32).optional() })
  .transform(({ key, before }): readonly [string, ...string[]] => [key, ...(before === undefined ? [] : [before])])
export type KeysByAge = z.output<typeof KeysByAge>
