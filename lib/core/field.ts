import * as z from 'zod'
import type { ErrorCode } from './errors.ts'

/**
 * Error codes for invalid values of one request field. `missing` is for an absent value, `unsupported` for a valid
 * value that the service does not support. `tooLong` is for a value that is too long, `invalid` for every other
 * problem.
 */
export type FieldErrors = {
  readonly invalid: ErrorCode
  readonly missing?: ErrorCode
  readonly unsupported?: ErrorCode
  readonly tooLong?: ErrorCode
}

const FIELD_ERRORS = z.registry<FieldErrors>()

/** Returns a copy of a schema, and registers the error codes that the API returns for values which the schema refuses. */
export function field<Schema extends z.ZodType>(schema: Schema, errors: ErrorCode | FieldErrors): Schema {
  const own = schema.clone()
  FIELD_ERRORS.add(own, typeof errors === 'string' ? { invalid: errors } : errors)
  return own
}

/**
 * Returns the `when` option of a zod refinement over several fields. The refinement then runs if these fields have no
 * issue, even if other fields have one.
 */
export const createFieldsCondition =
  (...fields: readonly string[]) =>
  ({ value, issues }: z.core.ParsePayload): boolean =>
    typeof value === 'object' && value !== null && !issues.some(({ path }) => fields.includes(String(path?.[0])))

/** Returns options of a zod refinement over several fields. The refinement then reports its issue at `field`. */
export const buildSiblingIssue = (field: string, message: string) => ({
  path: [field],
  message,
  when: createFieldsCondition(field),
})

/** Issue of a field that a request lacks. The request's parser recognises a missing field by this text. */
export const MISSING = 'is required'

/** Returns zod checks that a request contains both of these fields or neither. */
export function bothOrNeither<Name extends string>(one: Name, other: Name) {
  const requires = (name: Name, beside: Name) =>
    z.refine<Partial<Record<Name, unknown>>>(
      (fields) => fields[name] !== undefined || fields[beside] === undefined,
      buildSiblingIssue(name, MISSING),
    )
  return [requires(one, other), requires(other, one)] as const
}

/**
 * Returns the error codes that `field` registered for a schema. Looks into optional and default schemas. Returns
 * undefined if none are registered.
 */
export function fieldErrors(schema: z.ZodType): FieldErrors | undefined {
  const errors = FIELD_ERRORS.get(schema)
  if (errors) return errors
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
  // The cast is safe: zod's optional and default schemas contain only zod schemas.
  return isWrapped ? fieldErrors(schema.unwrap() as z.ZodType) : undefined
}

/** Returns a copy of an object without fields that are null, also in nested objects. The API treats null as absent. */
export function withoutNulls(value: object): object {
  const fields = Object.entries(value).filter(([, field]) => field !== null)
  const isObject = (field: unknown): field is object => typeof field === 'object' && !Array.isArray(field)
  return Object.fromEntries(fields.map(([name, field]) => [name, isObject(field) ? withoutNulls(field) : field]))
}
