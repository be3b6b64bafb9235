import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import type * as z from 'zod'
import { AppError, type ErrorDetail } from '../errors.ts'
import type { EndpointContract } from './contract.ts'

const MAX_BODY_BYTES = 16 * 1024
const MISSING = 'is required'

/**
 * The event's headers, path, query and body as the contract declares them.
 * Throws `payload_too_large`, `invalid_json`, or the error of the first bad field with all problems in its details.
 */
export function parseRequest(contract: EndpointContract, event: APIGatewayProxyEventV2): Record<string, unknown> {
  const received = {
    headers: () => event.headers ?? {},
    path: () => event.pathParameters ?? {},
    query: () => event.queryStringParameters ?? {},
    body: () => readJsonObject(event),
  }
  const parts = Object.entries(contract.request) as [keyof typeof received, z.ZodObject][]
  const parsed = parts.map(([part, schema]) => [part, schema.safeParse(received[part]())] as const)

  const issues = parsed.flatMap(([, { error }]) => error?.issues ?? [])
  if (issues.length > 0) throw invalidRequest(contract, issues)
  return Object.fromEntries(parsed.map(([part, { data }]) => [part, data]))
}

function invalidRequest({ invalid }: EndpointContract, issues: readonly z.core.$ZodIssue[]): AppError {
  const details = issues.flatMap(toDetails)
  const known = issues.filter(({ code }) => code !== 'unrecognized_keys').flatMap(toDetails)
  for (const [field, error] of Object.entries(invalid)) {
    const detail = known.find((candidate) => candidate.field === field || candidate.field.startsWith(`${field}.`))
    if (!detail) continue
    if (typeof error === 'string') return new AppError(error, { details })
    return new AppError(detail.issue === MISSING ? error.missing : error.invalid, { details })
  }
  return new AppError('unknown_field', { details })
}

function toDetails(issue: z.core.$ZodIssue): ErrorDetail[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      field: [...issue.path, key.slice(0, 64)].join('.'),
      issue: 'is not a field of this request',
    }))
  }
  // A finished issue no longer has its input; its message is where zod says that there was none.
  const missing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined')
  return [{ field: issue.path.join('.'), issue: missing ? MISSING : issue.message }]
}

function readJsonObject(event: APIGatewayProxyEventV2): unknown {
  const bytes = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8')
  if (bytes.length > MAX_BODY_BYTES) throw new AppError('payload_too_large')
  if (bytes.length === 0) return {}
  const json = parseJson(bytes)
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json
  throw new AppError('invalid_json')
}

function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    // Not the cause: it quotes the body, and causes are logged.
    throw new AppError('invalid_json')
  }
}
