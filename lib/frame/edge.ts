import { isIP } from 'node:net'
import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import * as z from 'zod'
import { AppError } from '../core/errors.ts'
import { equalHashes, sha256 } from '../core/sha256.ts'

/** Environment variable with the settings of CloudFront in front of the API: `Edge` as JSON. It is missing on stages without CloudFront. */
export const EDGE_VARIABLE = 'EDGE'

/** Header in which CloudFront sends its secret key to the API. It replaces one that a caller sent. */
export const EDGE_HEADER = 'x-vaultline-edge'

/** SHA-256, as 64 hex digits, of the key that CloudFront sends. Functions do not know the key itself. */
export const EdgeKeyHash = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 of 64 hex digits')

/** Hashes of the keys that identify requests through CloudFront; two during a rotation. */
export const Edge = z.strictObject({
  keys: z.array(EdgeKeyHash).min(1).max(2),
  /** True if requests that did not pass through CloudFront are refused. */
  isOnlyWay: z.boolean(),
})
export type Edge = z.output<typeof Edge>

/** Reads the settings of CloudFront from these variables; undefined if the stage has none. Throws if they have another form. */
export function readEdge(variables: NodeJS.ProcessEnv): Edge | undefined {
  const text = variables[EDGE_VARIABLE]
  return text === undefined ? undefined : Edge.parse(JSON.parse(text))
}

/**
 * Sets `sourceIp` to the viewer's address if a request has a known CloudFront key. Other requests keep their address,
 * or get `not_found` if all must pass through CloudFront. Removes the key from the request.
 */
export function edgeVerification(
  findEdge: () => Promise<Edge | undefined>,
): MiddlewareObj<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Error, Context> {
  return {
    before: async ({ event }) => {
      const edge = await findEdge()
      if (!edge) return
      const { [EDGE_HEADER]: key, ...headers } = event.headers
      event.headers = headers
      const { http } = event.requestContext
      if (key !== undefined && isKnown(edge, key)) http.sourceIp = viewerOf(headers['x-forwarded-for'], http.sourceIp)
      else if (edge.isOnlyWay) throw new AppError('not_found')
    },
  }
}

function isKnown({ keys }: Edge, key: string): boolean {
  // All keys are compared, so the time does not reveal which one matches.
  return keys.filter((known) => equalHashes(known, sha256(key))).length > 0
}

/**
 * Returns the address of CloudFront's viewer. CloudFront appends it to the caller's header, and the gateway may append
 * CloudFront's own.
 */
function viewerOf(forwardedFor = '', cloudFront: string): string {
  const addresses = forwardedFor.split(',').map((address) => address.trim())
  if (addresses.at(-1) === cloudFront) addresses.pop()
  const viewer = addresses.at(-1) ?? ''
  return isIP(viewer) ? viewer : cloudFront
}
