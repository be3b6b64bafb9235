import * as z from 'zod'

const Texts = z.union([z.string(), z.array(z.string())]).transform((texts) => [texts].flat())

/** Schema of an IAM policy statement. It rejects denials and conditions, which `isAllowed` does not support. */
const Statement = z.strictObject({ Effect: z.literal('Allow'), Action: Texts, Resource: Texts })
export type Statement = Readonly<z.output<typeof Statement>>

/** Schema of a role's policy document. */
export const PolicyDocument = z.object({ Statement: z.array(Statement) })

/** Schema of a role's trust policy: the services that may assume the role. It ignores conditions. */
export const TrustPolicy = z.object({
  Statement: z.array(z.object({ Effect: z.literal('Allow'), Principal: z.object({ Service: z.string() }) })),
})

/** Returns whether one of the statements allows an action on a resource. */
export function isAllowed(statements: readonly Statement[], action: string, resource: string): boolean {
  return statements.some(
    ({ Action, Resource }) =>
      Action.some((pattern) => matchesPattern(pattern.toLowerCase(), action.toLowerCase())) &&
      Resource.some((pattern) => matchesPattern(pattern, resource)),
  )
}

/** Returns whether a text matches an IAM pattern with `*` and `?`. */
export function matchesPattern(pattern: string, text: string): boolean {
  const expression = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${expression}$`).test(text)
}
