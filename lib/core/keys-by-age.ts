import * as z from 'zod'

/**
 * Keys from which secrets are derived, newest first; stored as `{"key": …, "before"?: …}`. New secrets are derived from
 * the first key. The previous key remains while secrets derived from it are valid.
 */
export const KeysByAge = z
  .object({ key: z.string().min(32), before: z.string().min(32).optional() })
  .transform(({ key, before }): readonly [string, ...string[]] => [key, ...(before === undefined ? [] : [before])])
export type KeysByAge = z.output<typeof KeysByAge>
