import * as z from 'zod'
import type { ErrorCode } from './errors.ts'

/**
 * Error codes for bad values of a request's field. `missing`: there is no value. `unsupported`: the value is
 * well-formed, but not supported. `tooLong`: the value is too long. `invalid`: all other problems.
 */
export type FieldErrors = {
  readonly invalid: ErrorCode
  readonly missing?: ErrorCode
  readonly unsupported?: ErrorCode
  readonly tooLong?: ErrorCode
}

const FIELD_ERRORS = z.registry<FieldErrors>()

/** Returns a copy of the schema that remembers the API's error codes for values that it refuses. */
export function field<Schema extends z.ZodType>(schema: Schema, errors: ErrorCode | FieldErrors): Schema {
  const own = schema.clone()
  FIELD_ERRORS.add(own, typeof errors === 'string' ? { invalid: errors } : errors)
  return own
}

/**
 * Returns the `when` option of a zod refinement over several fields. The refinement runs if these fields have no issue,
 * even if others do.
 */
export const createFieldsCondition =
  (...fields: readonly string[]) =>
  ({ value, issues }: z.core.ParsePayload): boolean =>
    typeof value === 'object' && value !== null && !issues.some(({ path }) => fields.includes(String(path?.[0])))

/** Returns options for a zod refinement over several fields, so that it reports its issue at `field`. */
export const buildSiblingIssue = (field: string, message: string) => ({
  path: [field],
  message,
  when: createFieldsCondition(field),
})

/** Returns the checks that a request has both of these fields or neither. */
export function bothOrNeither<Name extends string>(one: Name, other: Name) {
  const requires = (name: Name, beside: Name) =>
    z.refine<Partial<Record<Name, unknown>>>(
      (fields) => fields[name] !== undefined || fields[beside] === undefined,
      buildSiblingIssue(name, 'is required'),
    )
  return [requires(one, other), requires(other, one)] as const
}

/** Returns the error codes given to this schema by `field`, or to the schema inside an optional or default; undefined if there are none. */
export function fieldErrors(schema: z.ZodType): FieldErrors | undefined {
  const errors = FIELD_ERRORS.get(schema)
  if (errors) return errors
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
  // The cast is right: zod's optional and default schemas contain only zod schemas.
  return isWrapped ? fieldErrors(schema.unwrap() as z.ZodType) : undefined
}

/** Returns an object without null fields, also in nested objects: null counts as missing. */
export function withoutNulls(value: object): object {
  const fields = Object.entries(value).filter(([, field]) => field !== null)
  const isObject = (field: unknown): field is object => typeof field === 'object' && !Array.isArray(field)
  return Object.fromEntries(fields.map(([name, field]) => [name, isObject(field) ? withoutNulls(field) : field]))
}
