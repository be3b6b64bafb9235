import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import * as z from 'zod'
import { AppError, type ErrorDetail } from '../core/errors.ts'
import { type FieldErrors, fieldErrors, MISSING, withoutNulls } from '../core/field.ts'
import { parseJson } from '../core/json.ts'
import type { EndpointContract } from './contract.ts'

type Received = Partial<
  Pick<APIGatewayProxyEventV2, 'headers' | 'pathParameters' | 'queryStringParameters' | 'body' | 'isBase64Encoded'>
>

/** Maximum size of a request body in bytes. */
export const MAX_BODY_BYTES = 16 * 1024
const WRONG_FORM = 'has a wrong form'
const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  object: 'an object',
}

/**
 * Parses a request's headers, path, query and body with the contract. An empty required parameter counts as missing. A
 * null in an optional field of the body counts as absent. Throws `payload_too_large` or `invalid_json`. For invalid
 * fields it throws the error code of the first one, with all problems in the details.
 */
export function parseRequest(contract: EndpointContract, event: Received): Record<string, unknown> {
  const { headers, path, query, body } = contract.request
  const parsed = {
    ...(headers && { headers: parse(headers, event.headers ?? {}) }),
    ...(path && { path: parse(path, withoutEmpty(path, event.pathParameters ?? {})) }),
    ...(query && { query: parse(query, withoutEmpty(query, event.queryStringParameters ?? {})) }),
    ...(body && { body: parseBody(body, readJsonObject(event)) }),
  }
  const issues = Object.values(parsed).flatMap(({ error }) => error?.issues ?? [])
  if (issues.length > 0) throw invalidRequest(contract, issues)
  return Object.fromEntries(Object.entries(parsed).map(([part, { data }]) => [part, data]))
}

function parse(schema: z.ZodObject, received: unknown) {
  return schema.safeParse(received, { error: describe })
}

function withoutEmpty({ shape }: z.ZodObject, received: Readonly<Record<string, string | undefined>>) {
  const required = new Set(Object.keys(shape).filter((name) => !shape[name]?.safeParse(undefined).success))
  return Object.fromEntries(Object.entries(received).filter(([name, text]) => text !== '' || !required.has(name)))
}

function parseBody(schema: z.ZodObject, received: object) {
  const asReceived = parse(schema, received)
  if (asReceived.success) return asReceived
  const parsed = parse(schema, withoutNulls(received))
  // An unknown field is refused even if its value is null.
  const unknown = asReceived.error.issues.filter(isOfUnknownFields)
  const others = parsed.error?.issues.filter((issue) => !isOfUnknownFields(issue)) ?? []
  const issues = [...others, ...unknown]
  return issues.length > 0 ? { data: undefined, error: { issues } } : parsed
}

function isOfUnknownFields(issue: z.core.$ZodIssue): issue is z.core.$ZodIssueUnrecognizedKeys {
  return issue.code === 'unrecognized_keys'
}

function invalidRequest({ request }: EndpointContract, issues: readonly z.core.$ZodIssue[]): AppError {
  const details = issues.flatMap(toDetails)
  const ofFields = issues.filter((issue) => !isOfUnknownFields(issue))
  const fields = [request.headers, request.path, request.query, request.body].flatMap((part) =>
    Object.keys(part?.shape ?? {}).map((name) => ({ name, schema: part })),
  )
  for (const { name, schema } of fields) {
    const issue = ofFields.find(({ path }) => path[0] === name)
    const errors = issue && schema && errorsAt(schema, issue.path)
    if (errors) return new AppError(errors[kindOf(issue)] ?? errors.invalid, { details })
  }
  return new AppError('unknown_field', { details })
}

function errorsAt(schema: z.ZodType, [name, ...rest]: readonly PropertyKey[]): FieldErrors | undefined {
  const object = schema instanceof z.ZodOptional ? schema.unwrap() : schema
  const inner = object instanceof z.ZodObject && name !== undefined ? object.shape[String(name)] : undefined
  return (inner && errorsAt(inner, rest)) ?? fieldErrors(schema)
}

function toDetails(issue: z.core.$ZodIssue): ErrorDetail[] {
  if (!isOfUnknownFields(issue)) return [{ field: issue.path.join('.'), issue: issue.message }]
  return issue.keys.map((key) => ({
    field: [...issue.path, key.slice(0, 64)].join('.'),
    issue: 'is not a field of this request',
  }))
}

function kindOf(issue: z.core.$ZodIssue): keyof FieldErrors {
  if (issue.message === MISSING) return 'missing'
  const { unsupported, tooLong } = issue.code === 'custom' ? (issue.params ?? {}) : {}
  if (unsupported === true) return 'unsupported'
  return tooLong === true ? 'tooLong' : 'invalid'
}

/** Returns this service's text for a schema issue. Zod's own texts name TypeScript types. */
function describe(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return MISSING
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? 'of another type'}`
    case 'invalid_value':
      return mustBeOneOf(issue.values)
    case 'invalid_union':
      return describeChoice(issue.input, issue)
    case 'too_small':
      if (issue.origin === 'string') return `must have at least ${issue.minimum} characters`
      return `must be ${issue.inclusive ? 'at least' : 'above'} ${issue.minimum}`
    case 'too_big':
      if (issue.origin === 'string') return `must have at most ${issue.maximum} characters`
      return `must be ${issue.inclusive ? 'at most' : 'below'} ${issue.maximum}`
    case 'invalid_format':
      return issue.format === 'email' ? 'must be an e-mail address' : WRONG_FORM
    default:
      return WRONG_FORM
  }
}

function describeChoice(
  input: unknown,
  { discriminator, options }: { readonly discriminator?: string | undefined; readonly options?: unknown },
): string {
  if (discriminator === undefined || !Array.isArray(options)) return WRONG_FORM
  const isGiven = typeof input === 'object' && input !== null && Object.hasOwn(input, discriminator)
  return isGiven ? mustBeOneOf(options) : MISSING
}

function mustBeOneOf(values: readonly unknown[]): string {
  return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}`
}

function readJsonObject({ body, isBase64Encoded }: Received): object {
  const bytes = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8')
  if (bytes.length > MAX_BODY_BYTES) throw new AppError('payload_too_large')
  if (bytes.length === 0) return {}
  const json = parseJson(bytes)
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json
  throw new AppError('invalid_json')
}
