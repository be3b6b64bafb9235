import type { APIGatewayProxyStructuredResultV2 } from 'aws-lambda'
import { type AppError, getErrorDefinition } from '../core/errors.ts'

/** Builds an HTTP reply with a JSON body. The reply has no body if `body` is undefined. */
export function jsonReply(
  statusCode: number,
  body: unknown,
  headers: Record<string, string>,
): APIGatewayProxyStructuredResultV2 {
  if (body === undefined) return { statusCode, headers }
  return { statusCode, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) }
}

/** Builds the HTTP reply of an error. All errors have the same fields in the body. */
export function errorReply(error: AppError, requestId: string): APIGatewayProxyStructuredResultV2 {
  const { status, error: text, message, retryAfterSeconds } = getErrorDefinition(error.code)
  const body = {
    success: false,
    statusCode: status,
    error: text,
    code: error.code,
    message,
    requestId,
    ...(error.details && { details: error.details }),
  }
  return jsonReply(status, body, {
    'cache-control': 'no-store',
    ...(retryAfterSeconds && { 'retry-after': retryAfterSeconds.toString() }),
    ...error.headers,
  })
}
