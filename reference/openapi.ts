import * as z from 'zod'
import { Amount } from '../lib/core/codecs.ts'
import { type ErrorCode, getErrorDefinition } from '../lib/core/errors.ts'
import { fieldErrors } from '../lib/core/field.ts'
import { API_AREAS, type EndpointContract, isSigned, scopeOf } from '../lib/frame/contract.ts'
import { DELIVERIES, DELIVERY_DESCRIPTION, DELIVERY_RESPONSES, DeliveryHeaders } from './deliveries.ts'
import { EVENT_EXAMPLES } from './event-examples.ts'
import { INTRODUCTION } from './introduction.ts'

const ErrorSchema = z
  .object({
    success: z.literal(false),
    statusCode: z.number().int().describe('The HTTP status'),
    error: z.string().describe('Stable text to match on'),
    code: z.string().describe('The same as a stable snake_case word'),
    message: z.string().describe('Next step for the caller'),
    requestId: z.string().describe('Quote it when you report a problem'),
    details: z
      .array(
        z.object({
          field: z.string().describe('Field of the request, with dots between names'),
          issue: z.string().describe('Problem of the field, in words for people'),
          atLeast: Amount.optional().describe(
            'Smallest amount that works, if known, in the smallest unit of what the field counts',
          ),
          atMost: Amount.optional().describe(
            'Largest amount that works, if known, in the smallest unit of what the field counts',
          ),
        }),
      )
      .optional()
      .describe('Every problem of the input'),
  })
  .meta({ id: 'Error', description: 'Body of every error' })

const GatewayErrorSchema = z
  .object({ message: z.string().describe('The status in words') })
  .meta({ id: 'GatewayError', description: 'Body of the errors of the gateway itself' })

/** Reason for each error status that API Gateway itself sends (docs/decisions/0002-http-api.md). */
const GATEWAY_ERRORS: Readonly<Record<number, string>> = {
  413: 'the body is above 10 MB.',
  429: 'all callers together send too many requests. Try again.',
  431: 'the headers are above 10 KiB.',
  500: 'the function crashed. Try again.',
  503: 'the function could not start. Try again.',
}

const CALLER_ERRORS: Record<EndpointContract['caller'], readonly ErrorCode[]> = {
  anyone: [],
  client: ['missing_api_key', 'invalid_api_key', 'rate_limit_exceeded'],
  user: ['missing_api_key', 'invalid_api_key', 'missing_session', 'invalid_session', 'rate_limit_exceeded'],
}
const BODY_ERRORS: readonly ErrorCode[] = [
  'invalid_json',
  'unknown_field',
  'invalid_content_digest',
  'payload_too_large',
]
/** Error codes that every endpoint can return. A firewall may send too_many_requests before any function runs. */
const COMMON_ERRORS: readonly ErrorCode[] = ['too_many_requests', 'timed_out', 'service_unavailable', 'internal']

/** Lists every error code that an endpoint can return, in the order of their statuses. */
export function listErrors(contract: EndpointContract): ErrorCode[] {
  const { caller, request, errors } = contract
  const codes = [
    ...CALLER_ERRORS[caller],
    ...(scopeOf(contract) ? (['insufficient_scope'] as const) : []),
    ...[request.headers, request.path, request.query, request.body].flatMap((part) => (part ? errorsIn(part) : [])),
    ...(request.body ? BODY_ERRORS : []),
    ...(request.path && isSigned(contract) ? (['invalid_path'] as const) : []),
    ...errors,
    ...COMMON_ERRORS,
  ]
  return [...new Set(codes)].sort((a, b) => getErrorDefinition(a).status - getErrorDefinition(b).status)
}

/** Lists the error codes that invalid fields of an object cause, nested ones included. */
function errorsIn(schema: z.ZodType): ErrorCode[] {
  const object = schema instanceof z.ZodOptional ? schema.unwrap() : schema
  const inner = object instanceof z.ZodObject ? Object.values<z.ZodType>(object.shape).flatMap(errorsIn) : []
  return [...inner, ...Object.values(fieldErrors(schema) ?? {})]
}

/** Recorded request of an operation, and its response, as sent. */
export type Example = {
  readonly parameters: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly response?: unknown
}

/** Builds the OpenAPI 3.1 document of these endpoints (https://spec.openapis.org/oas/v3.1.0). `examples` are keyed by operation name. */
export function buildOpenApi(
  contracts: readonly EndpointContract[],
  version: string,
  examples: Readonly<Record<string, Example>> = {},
) {
  const routes = contracts.filter(({ path }) => path !== '$default')
  const byPath = Map.groupBy(routes, ({ path }) => path)
  const components: Components = { schemas: {}, parameters: {}, responses: {} }
  for (const schema of [ErrorSchema, GatewayErrorSchema]) nameSchema(jsonSchema(schema), components)
  return {
    openapi: '3.1.0' as const,
    info: {
      title: 'Vaultline',
      version,
      description: `${DESCRIPTION}\n\n${INTRODUCTION}`,
      contact: { name: 'Vaultline' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'Server of this document' }],
    security: [{ apiKey: [] }],
    tags: Object.entries(API_AREAS).flatMap(([name, description]) => [
      { name, description },
      ...(name === 'Webhooks' ? [EVENTS] : []),
    ]),
    paths: Object.fromEntries(
      [...byPath].map(([path, group]) => [
        path,
        Object.fromEntries(
          group.map((contract) => [
            contract.method.toLowerCase(),
            operation(contract, components, examples[operationId(contract)]),
          ]),
        ),
      ]),
    ),
    webhooks: deliveries(components),
    components: {
      ...components,
      headers: HEADERS,
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'x-join-key', description: 'Names the client: your key' },
        session: { type: 'http', scheme: 'bearer', description: 'Names the user: the token from a login' },
      },
    },
  }
}

const DESCRIPTION = `The back end of a self-custody wallet. It signs and sends nothing: it returns transactions, which the
wallet signs and sends.

The examples follow one user through a service on one machine. Prices and vaults are made up, long lists are cut short, and
tokens are replaced by their names.`

type Components = {
  readonly schemas: Record<string, z.core.JSONSchema._JSONSchema>
  readonly parameters: Record<string, object>
  readonly responses: Record<string, object>
}

function operation(contract: EndpointContract, components: Components, example?: Example) {
  const { title, summary, tag, caller, request, response, status = 200, aged = false, cacheControl } = contract
  const isKept = cacheControl !== 'no-store'
  const id = operationId(contract)
  const name = id.charAt(0).toUpperCase() + id.slice(1)
  const responses: Readonly<Record<string, object>> = {
    [status]: {
      description: 'Success',
      headers: headers(
        ...REQUESTED,
        ...(caller === 'anyone' ? [] : RATE_LIMITED),
        ...(aged ? AGED : []),
        ...(isKept ? TAGGED : []),
        ...(isSigned(contract) ? SIGNED : []),
      ),
      ...(!(response instanceof z.ZodUndefined) && {
        content: json(nameSchema(jsonSchema(response), components, `${name}Response`), example?.response),
      }),
    },
    ...(isKept && { 304: { description: 'Not modified.', headers: headers(...TAGGED) } }),
    ...errorResponses(listErrors(contract), components),
  }
  return {
    operationId: id,
    summary: title,
    description: summary,
    tags: [tag],
    security: security(contract),
    parameters: [
      ...parameters('header', request.headers, components, example),
      ...parameters('path', request.path, components, example),
      ...parameters('query', request.query, components, example),
    ],
    ...(request.body && {
      requestBody: {
        required: true,
        content: json(nameSchema(allowNulls(jsonSchema(request.body)), components, `${name}Request`), example?.body),
      },
    }),
    responses,
  }
}

function deliveries(components: Components) {
  for (const header of parameters('header', DeliveryHeaders, components)) components.parameters[header.name] = header
  const sent = Object.keys(DeliveryHeaders.shape).map((name) => ({ $ref: `#/components/parameters/${name}` }))
  const answers = Object.entries(DELIVERY_RESPONSES).map(([status, { name, description }]) => {
    components.responses[name] = { description }
    return [status, { $ref: `#/components/responses/${name}` }] as const
  })
  const delivery = ({ type, schema, meaning }: (typeof DELIVERIES)[number]) => {
    const name = String(schema.meta()?.id)
    const body = nameSchema(jsonSchema(schema), components)
    return {
      operationId: `receive${name}`,
      summary: type,
      description: meaning,
      tags: [EVENTS.name],
      security: [],
      parameters: sent,
      requestBody: { required: true, content: json(body, EVENT_EXAMPLES[type]) },
      responses: Object.fromEntries(answers),
    }
  }
  return Object.fromEntries(DELIVERIES.map((event) => [event.type, { post: delivery(event) }]))
}

/** Webhook deliveries have a tag of their own, separate from the operations that register webhooks. */
const EVENTS = { name: 'Events', description: DELIVERY_DESCRIPTION }

/** Returns the name of a contract's operation: its title in camel case. */
export function operationId({ title }: EndpointContract): string {
  const [first = '', ...rest] = title.split(' ')
  return [first.toLowerCase(), ...rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('')
}

/**
 * Returns the credentials that an operation requires, by security scheme. The list of the scheme `apiKey` contains the
 * scope that the key needs. OpenAPI 3.1 allows such a list for every scheme, not only for OAuth.
 */
function security(contract: EndpointContract): readonly Record<string, readonly string[]>[] {
  const { caller } = contract
  const scope = scopeOf(contract)
  if (caller === 'anyone') return []
  return [{ apiKey: scope ? [scope] : [], ...(caller === 'user' && { session: [] }) }]
}

const HEADERS = {
  'x-request-id': { description: 'Quote it when you report a problem.', schema: { type: 'string' } },
  'ratelimit-policy': {
    description:
      'Number of requests (q) that the key may make in a window of this many seconds (w). Left out without a known key.',
    schema: { type: 'string' },
  },
  ratelimit: {
    description:
      'Number of requests left (r) until the window ends in this many seconds (t). Left out if requests are not counted.',
    schema: { type: 'string' },
  },
  age: {
    description:
      'Age of the response in seconds. A cache may keep the response to a GET for a minute more, which max-age includes.',
    schema: { type: 'integer' },
  },
  'x-stale': {
    description: 'Present if the response is past its lifetime because its source cannot be reached.',
    schema: { const: 'true' },
  },
  etag: {
    description: 'Send it as If-None-Match: 304 while the response is the same.',
    schema: { type: 'string' },
  },
  'content-digest': { description: 'The SHA-256 of the body (RFC 9530).', schema: { type: 'string' } },
  'signature-input': { description: 'Signed parts, time of the signature and key id.', schema: { type: 'string' } },
  signature: { description: 'Ed25519 signature of these parts (RFC 9421).', schema: { type: 'string' } },
  'retry-after': { description: 'Seconds to wait before the next try.', schema: { type: 'integer' } },
}
type HeaderName = keyof typeof HEADERS

const REQUESTED: readonly HeaderName[] = ['x-request-id']
const RATE_LIMITED: readonly HeaderName[] = ['ratelimit-policy', 'ratelimit']
const AGED: readonly HeaderName[] = ['age', 'x-stale']
const TAGGED: readonly HeaderName[] = ['etag']
const SIGNED: readonly HeaderName[] = ['content-digest', 'signature-input', 'signature']

function headers(...names: readonly HeaderName[]): Readonly<Record<string, object>> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** Returns whether this error can occur only after the API key was recognized. */
function isForKnownKey(code: ErrorCode): boolean {
  return code !== 'missing_api_key' && code !== 'invalid_api_key'
}

function canRetry(code: ErrorCode): boolean {
  return getErrorDefinition(code).retryAfterSeconds !== undefined
}

/** Maximum number of error codes in the name of a shared response. A response with more codes is written inline. */
const MAX_NAMED = 4

/**
 * Builds the responses of these error codes and of API Gateway's own errors, by status. Responses with few codes are shared components,
 * whose names list the codes.
 */
function errorResponses(codes: readonly ErrorCode[], { responses }: Components): Readonly<Record<string, object>> {
  const statuses = new Set([
    ...codes.map((code) => getErrorDefinition(code).status),
    ...Object.keys(GATEWAY_ERRORS).map(Number),
  ])
  return Object.fromEntries(
    [...statuses].map((status): [number, object] => {
      const group = codes.filter((code) => getErrorDefinition(code).status === status)
      if (group.length > MAX_NAMED) return [status, errorResponse(status, group)]
      const name = group.length > 0 ? group.map(pascalCase).join('Or') : `Gateway${status}`
      responses[name] = errorResponse(status, group)
      return [status, { $ref: `#/components/responses/${name}` }]
    }),
  )
}

function errorResponse(status: number, codes: readonly ErrorCode[]) {
  const ofGateway = GATEWAY_ERRORS[status]
  const schemas = [
    ...(codes.length > 0 ? [errorSchema(codes)] : []),
    ...(ofGateway ? [{ $ref: '#/components/schemas/GatewayError' }] : []),
  ]
  return {
    description: [
      ...codes.map((code) => `\`${code}\`: ${getErrorDefinition(code).error}. ${getErrorDefinition(code).message}`),
      ...(ofGateway ? [`\`{ "message": "…" }\` only, from the gateway: ${ofGateway}`] : []),
    ].join('\n\n'),
    ...(codes.length > 0 && {
      headers: headers(
        ...REQUESTED,
        ...(codes.some(isForKnownKey) ? RATE_LIMITED : []),
        ...(codes.some(canRetry) ? (['retry-after'] as const) : []),
      ),
    }),
    content: json(schemas.length > 1 ? { anyOf: schemas } : schemas[0]),
  }
}

function errorSchema(codes: readonly ErrorCode[]) {
  return {
    allOf: [
      { $ref: '#/components/schemas/Error' },
      {
        type: 'object',
        required: ['code'],
        properties: {
          code: { enum: codes },
          error: { enum: [...new Set(codes.map((code) => getErrorDefinition(code).error))] },
        },
      },
    ],
  }
}

function pascalCase(code: ErrorCode): string {
  return code
    .split('_')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

function parameters(
  place: 'header' | 'path' | 'query',
  schema: z.ZodObject | undefined,
  components: Components,
  example?: Example,
) {
  const { properties = {}, required = [] } = schema ? moveDefinitions(jsonSchema(schema), components) : {}
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = typeof property === 'boolean' ? {} : property
    return {
      name,
      in: place,
      ...(description && { description }),
      required: required.includes(name),
      schema: rest,
      ...exampleOf(example?.parameters[name]),
    }
  })
}

/** Adds a schema to the shared components, by its own name or by `name`. Returns a reference to it. */
function nameSchema(schema: JsonSchema, components: Components, name?: string): JsonSchema {
  const own = moveDefinitions(schema, components)
  if (own.$ref || !name) return own
  components.schemas[name] = own
  return { $ref: `#/components/schemas/${name}` }
}

/** Moves a schema's definitions (`$defs`) to the shared components. Returns the schema without them. */
function moveDefinitions({ $defs, ...schema }: JsonSchema, { schemas }: Components): JsonSchema {
  Object.assign(schemas, pointReferences($defs ?? {}))
  return pointReferences(schema)
}

/** Replaces references to `$defs` by references to the document's shared components. */
function pointReferences<Json>(schema: Json): Json {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'))
}

/** JSON Schema, as zod generates it. */
export type JsonSchema = z.core.JSONSchema.BaseSchema

/** Returns the JSON Schema of a value as sent over HTTP: codecs and defaults appear in their text form. Named parts are in `$defs`. */
export function jsonSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: part }) => {
      addDefault(zodSchema, part)
      tidySchema(part)
      nameVariants(part)
      mapVariants(zodSchema, part)
    },
  })
  return rest
}

/** Adds a field's default to its JSON Schema. zod itself omits the default if parsing turns the value into another type. */
function addDefault({ _zod: { def } }: z.core.$ZodTypes, part: z.core.JSONSchema.BaseSchema): void {
  if (def.type !== 'default') return
  part.default = part.type === 'string' ? String(def.defaultValue) : def.defaultValue
}

/**
 * Removes limits that hold for every safe integer of JavaScript. Sets the length of tuples. Removes `required` from records, and the
 * keywords `type` and `pattern` beside a reference.
 */
function tidySchema(part: z.core.JSONSchema.BaseSchema): void {
  if (part.minimum === Number.MIN_SAFE_INTEGER) delete part.minimum
  if (part.maximum === Number.MAX_SAFE_INTEGER) delete part.maximum
  if (part.prefixItems) {
    part.minItems = part.maxItems = part.prefixItems.length
    // Some generators need one type for all elements of a list, even if its length is fixed.
    part.items = { anyOf: part.prefixItems.filter((item) => typeof item !== 'boolean') }
  }
  if (part.propertyNames) delete part.required
  // A reference needs no keywords `type` and `pattern` of its own, because the referenced schema has them.
  if (part.$ref) {
    delete part.type
    delete part.pattern
  }
}

/**
 * Sets each variant's title to the variant's value of the field that distinguishes the variants. Documentation tools
 * list variants by title.
 */
function nameVariants({ oneOf = [] }: z.core.JSONSchema.BaseSchema): void {
  for (const variant of oneOf) {
    const fields = Object.values(variant.properties ?? {}).filter((field) => typeof field !== 'boolean')
    const values = fields.flatMap(({ const: only, enum: several = [] }) => (only === undefined ? [several] : [[only]]))
    const [told] = values.filter((words) => words.length > 0)
    if (told) variant.title ??= told.join(' or ')
  }
}

/** Adds OpenAPI's `discriminator` to a union: the field that distinguishes the variants, and each value's variant. */
function mapVariants({ _zod: { def } }: z.core.$ZodTypes, part: z.core.JSONSchema.BaseSchema): void {
  if (def.type !== 'union' || !('discriminator' in def)) return
  const propertyName = String(def.discriminator)
  const mapping = (part.oneOf ?? []).flatMap(({ $ref }, index) => {
    const values = [...(def.options[index]?._zod.propValues?.[propertyName] ?? [])]
    return $ref ? values.map((value) => [String(value), $ref] as const) : []
  })
  if (mapping.length > 0) part['discriminator'] = { propertyName, mapping: Object.fromEntries(mapping) }
}

/** Returns the schema with null allowed in every optional field of an object, because parseRequest accepts null there in request bodies. */
function allowNulls(schema: JsonSchema): JsonSchema {
  const { properties, required = [], items, anyOf, oneOf, $defs } = schema
  const inside = (part: z.core.JSONSchema._JSONSchema) => (typeof part === 'boolean' ? part : allowNulls(part))
  const fields = Object.entries(properties ?? {}).map(
    ([name, field]) => [name, required.includes(name) ? inside(field) : orNull(inside(field))] as const,
  )
  const named = Object.entries($defs ?? {}).map(([name, part]) => [name, allowNulls(part)] as const)
  return {
    ...schema,
    ...(properties && { properties: Object.fromEntries(fields) }),
    ...(items && !Array.isArray(items) && { items: inside(items) }),
    ...(anyOf && { anyOf: anyOf.map(allowNulls) }),
    ...(oneOf && { oneOf: oneOf.map(allowNulls) }),
    ...($defs && { $defs: Object.fromEntries(named) }),
  }
}

function orNull(field: z.core.JSONSchema._JSONSchema): z.core.JSONSchema._JSONSchema {
  if (typeof field === 'boolean') return field
  const { description, default: value, ...given } = field
  const besides = { ...(description && { description }), ...(value !== undefined && { default: value }) }
  return { anyOf: [given, { type: 'null' }], ...besides }
}

function json<Schema>(schema: Schema, example?: unknown) {
  return { 'application/json': { schema, ...exampleOf(example) } }
}

function exampleOf(example: unknown): { readonly example?: unknown } {
  return example === undefined ? {} : { example }
}
