import * as z from 'zod'

const Texts = z.union([z.string(), z.array(z.string())]).transform((texts) => [texts].flat())

/** A statement of a policy, in the forms that are understood here; whatever else a template says is refused. */
const Statement = z.strictObject({ Effect: z.literal('Allow'), Action: Texts, Resource: Texts })
export type Statement = Readonly<z.output<typeof Statement>>

/** The document of a policy of a role. */
export const PolicyDocument = z.object({ Statement: z.array(Statement) })

/** The document that says which services may act as a role; where they must ask from is not looked at. */
export const TrustPolicy = z.object({
  Statement: z.array(z.object({ Effect: z.literal('Allow'), Principal: z.object({ Service: z.string() }) })),
})

/** Whether one of these statements allows an action on a resource. */
export function isAllowed(statements: readonly Statement[], action: string, resource: string): boolean {
  return statements.some(
    ({ Action, Resource }) =>
      Action.some((pattern) => fits(pattern.toLowerCase(), action.toLowerCase())) &&
      Resource.some((pattern) => fits(pattern, resource)),
  )
}

/** Whether a text fits a pattern with `*` and `?`. */
export function fits(pattern: string, text: string): boolean {
  const expression = pattern
    .replaceAll(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${expression}$`).test(text)
}
