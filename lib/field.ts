import * as z from 'zod'
import type { ErrorCode } from './errors.ts'

/**
 * What a bad value of a request's field is answered with: `missing` where it lacks, `unsupported` where it is of the right
 * form and none of ours, `tooLong` where it is too long, as its schema reports, else `invalid`.
 */
export type FieldErrors = {
  readonly invalid: ErrorCode
  readonly missing?: ErrorCode
  readonly unsupported?: ErrorCode
  readonly tooLong?: ErrorCode
}

const FIELD_ERRORS = z.registry<FieldErrors>()

/** A copy of the schema that tells with which error a request is refused whose field does not fit it. */
export function field<Schema extends z.ZodType>(schema: Schema, errors: ErrorCode | FieldErrors): Schema {
  const own = schema.clone()
  FIELD_ERRORS.add(own, typeof errors === 'string' ? { invalid: errors } : errors)
  return own
}

/**
 * Runs a check of several fields on an object in which none of them has a problem of its own: its problem is reported together with
 * those of other fields. Never runs on a value that is no object.
 */
export const whereFit =
  (...fields: readonly string[]) =>
  ({ value, issues }: z.core.ParsePayload): boolean =>
    typeof value === 'object' && value !== null && !issues.some(({ path }) => fields.includes(String(path?.[0])))

/** A problem that other fields make of this one. */
export const problemBeside = (field: string, message: string) => ({ path: [field], message, when: whereFit(field) })

/** The checks that a request has both of these fields or neither. */
export function bothOrNeither<Name extends string>(one: Name, other: Name) {
  const requires = (name: Name, beside: Name) =>
    z.refine<Partial<Record<Name, unknown>>>(
      (fields) => fields[name] !== undefined || fields[beside] === undefined,
      problemBeside(name, 'is required'),
    )
  return [requires(one, other), requires(other, one)] as const
}

/** The errors of a field's schema, or of the one inside it where it is optional or has a default; undefined for none. */
export function fieldErrors(schema: z.ZodType): FieldErrors | undefined {
  const errors = FIELD_ERRORS.get(schema)
  if (errors) return errors
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
  // What these wrap is a schema of the same library.
  return isWrapped ? fieldErrors(schema.unwrap() as z.ZodType) : undefined
}

/** An object of a request without those of its fields, and of the objects in it, that are null: nothing was given for them. */
export function withoutNulls(value: object): object {
  const fields = Object.entries(value).filter(([, field]) => field !== null)
  const isObject = (field: unknown): field is object => typeof field === 'object' && !Array.isArray(field)
  return Object.fromEntries(fields.map(([name, field]) => [name, isObject(field) ? withoutNulls(field) : field]))
}
