import * as z from 'zod'
import { ERRORS, type ErrorCode, type ErrorDefinition } from '../errors.ts'
import { fieldErrors } from '../field.ts'
import type { EndpointContract } from './contract.ts'

const ErrorSchema = z.object({
  success: z.literal(false),
  statusCode: z.number().int(),
  error: z.string().describe('Stable text to match on'),
  code: z.string().describe('The same as a stable snake_case word'),
  message: z.string().describe('What the caller can do'),
  requestId: z.string(),
  details: z
    .array(z.object({ field: z.string(), issue: z.string() }))
    .optional()
    .describe('Every problem of the input'),
})

const CALLER_ERRORS: Record<EndpointContract['caller'], readonly ErrorCode[]> = {
  anyone: [],
  client: ['missing_api_key', 'invalid_api_key'],
  user: ['missing_api_key', 'invalid_api_key', 'missing_session', 'invalid_session'],
}
const BODY_ERRORS: readonly ErrorCode[] = ['invalid_json', 'unknown_field', 'payload_too_large']
const COMMON_ERRORS: readonly ErrorCode[] = ['timed_out', 'service_unavailable', 'internal']

/** Every error that an endpoint can answer, in the order of their statuses. */
export function listErrors({ caller, request, errors }: EndpointContract): ErrorCode[] {
  const codes = [
    ...CALLER_ERRORS[caller],
    ...[request.headers, request.path, request.query, request.body].flatMap((part) => (part ? errorsIn(part) : [])),
    ...(request.body ? BODY_ERRORS : []),
    ...errors,
    ...COMMON_ERRORS,
  ]
  return [...new Set(codes)].sort((a, b) => ERRORS[a].status - ERRORS[b].status)
}

/** The errors of an object's fields, and of those inside of them. */
function errorsIn(schema: z.ZodType): ErrorCode[] {
  const object = schema instanceof z.ZodOptional ? schema.unwrap() : schema
  const inner = object instanceof z.ZodObject ? Object.values<z.ZodType>(object.shape).flatMap(errorsIn) : []
  return [...inner, ...Object.values(fieldErrors(schema) ?? {})]
}

/** The OpenAPI 3.1 document of these endpoints (https://spec.openapis.org/oas/v3.1.0). */
export function buildOpenApi(contracts: readonly EndpointContract[], version: string) {
  const routes = contracts.filter(({ path }) => path !== '$default')
  const byPath = Map.groupBy(routes, ({ path }) => path)
  return {
    openapi: '3.1.0' as const,
    info: {
      title: 'Vaultline',
      version,
      description: 'The back end of a self-custody wallet. Token amounts are strings of digits in the smallest unit.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    paths: Object.fromEntries(
      [...byPath].map(([path, group]) => [
        path,
        Object.fromEntries(group.map((contract) => [contract.method.toLowerCase(), operation(contract)])),
      ]),
    ),
    components: {
      schemas: { Error: jsonSchema(ErrorSchema) },
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-join-key' },
        session: { type: 'http', scheme: 'bearer' },
      },
    },
  }
}

function operation(contract: EndpointContract) {
  const { summary, tag, caller, request, response, status = 200, aged = false } = contract
  return {
    operationId: operationId(contract),
    summary,
    tags: [tag],
    security: SECURITY[caller],
    parameters: [
      ...parameters('header', request.headers),
      ...parameters('path', request.path),
      ...parameters('query', request.query),
    ],
    ...(request.body && { requestBody: { required: true, content: json(jsonSchema(request.body, allowNulls)) } }),
    responses: {
      [status]: {
        description: 'Success',
        headers: { 'x-request-id': REQUEST_ID, ...(aged && AGED) },
        ...(!(response instanceof z.ZodUndefined) && { content: json(jsonSchema(response)) }),
      },
      ...errorResponses(listErrors(contract)),
    },
  }
}

const SECURITY: Record<EndpointContract['caller'], readonly Record<string, readonly string[]>[]> = {
  anyone: [],
  client: [{ apiKey: [] }],
  user: [{ apiKey: [], session: [] }],
}

function operationId({ method, path }: EndpointContract): string {
  const words = path
    .replaceAll(/[{}]/g, '')
    .split(/[/._-]/)
    .filter(Boolean)
  return [method.toLowerCase(), ...words.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('')
}

const REQUEST_ID = { description: 'Quote it when you report a problem.', schema: { type: 'string' } }

const AGED = {
  age: {
    description:
      'How old the answer is, in seconds. Of a GET, a cache may keep it for a minute more, which max-age includes.',
    schema: { type: 'integer' },
  },
  'x-stale': {
    description: 'Present when the answer is past its time, because its source cannot be reached.',
    schema: { const: 'true' },
  },
}

const RETRY_AFTER = { description: 'Seconds to wait before the next try.', schema: { type: 'integer' } }

function canRetry(code: ErrorCode): boolean {
  const definition: ErrorDefinition = ERRORS[code]
  return definition.retryAfterSeconds !== undefined
}

function errorResponses(codes: readonly ErrorCode[]) {
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, group]) => [
      status,
      {
        description: group.map((code) => `\`${code}\`: ${ERRORS[code].error}. ${ERRORS[code].message}`).join('\n\n'),
        headers: { 'x-request-id': REQUEST_ID, ...(group.some(canRetry) && { 'retry-after': RETRY_AFTER }) },
        content: json({
          allOf: [
            { $ref: '#/components/schemas/Error' },
            {
              type: 'object',
              properties: {
                code: { enum: group },
                error: { enum: [...new Set(group.map((code) => ERRORS[code].error))] },
              },
            },
          ],
        }),
      },
    ]),
  )
}

function parameters(place: 'header' | 'path' | 'query', schema: z.ZodObject | undefined) {
  const { properties = {}, required = [] } = schema ? jsonSchema(schema) : {}
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: required.includes(name),
    schema: property,
  }))
}

/** The JSON Schema of what is on the wire: codecs and defaults are described by their text form. `change` is given each part. */
export function jsonSchema(schema: z.ZodType, change: (part: z.core.JSONSchema.BaseSchema) => void = () => {}) {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: part }) => {
      tellDefault(zodSchema, part)
      change(part)
    },
  })
  return rest
}

/** Zod leaves out the default of what is parsed into another form. */
function tellDefault({ _zod: { def } }: z.core.$ZodTypes, part: z.core.JSONSchema.BaseSchema): void {
  if (def.type !== 'default') return
  part.default = part.type === 'string' ? String(def.defaultValue) : def.defaultValue
}

/** Lets null stand in place of every optional field of an object, as parseRequest takes it in bodies. */
function allowNulls({ properties = {}, required = [] }: z.core.JSONSchema.BaseSchema): void {
  for (const [name, field] of Object.entries(properties)) {
    if (typeof field === 'boolean' || required.includes(name)) continue
    const { description, default: value, ...given } = field
    const besides = { ...(description && { description }), ...(value !== undefined && { default: value }) }
    properties[name] = { anyOf: [given, { type: 'null' }], ...besides }
  }
}

function json<Schema>(schema: Schema) {
  return { 'application/json': { schema } }
}
