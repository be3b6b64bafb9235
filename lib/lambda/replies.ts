import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import * as z from 'zod'
import { type AppError, ERRORS, type ErrorDefinition } from '../errors.ts'

/** The body that every failed request gets. */
export const ErrorBody = z.object({
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
export type ErrorBody = z.output<typeof ErrorBody>

/** An HTTP reply with a JSON body. */
export function jsonReply(
  statusCode: number,
  body: unknown,
  headers: Record<string, string>,
): APIGatewayProxyStructuredResultV2 {
  return { statusCode, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

/** The HTTP reply of a failure, in the one body that all errors share. */
export function errorReply(error: AppError, requestId: string): APIGatewayProxyStructuredResultV2 {
  const { status, error: text, message, retryAfterSeconds }: ErrorDefinition = ERRORS[error.code]
  const body: ErrorBody = {
    success: false,
    statusCode: status,
    error: text,
    code: error.code,
    message,
    requestId,
    ...(error.details && { details: [...error.details] }),
  }
  return jsonReply(status, body, {
    'cache-control': 'no-store',
    ...(retryAfterSeconds && { 'retry-after': retryAfterSeconds.toString() }),
    ...error.headers,
  })
}
