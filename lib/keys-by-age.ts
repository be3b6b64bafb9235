import * as z from 'zod'

/**
 * Keys from which secrets follow, as a stage's secret `{"key": …, "before"?: …}` has them: the one of new secrets, and the one
 * before while those that follow from it are still good.
 */
export const KeysByAge = z
  .object({ key: z.string().min(32), before: z.string().min(32).optional() })
  .transform(({ key, before }): readonly [string, ...string[]] => [key, ...(before === undefined ? [] : [before])])
export type KeysByAge = z.output<typeof KeysByAge>
