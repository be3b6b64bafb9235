import { isIP } from 'node:net'
import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import * as z from 'zod'
import { AppError } from '../core/errors.ts'
import { equalHashes, sha256 } from '../core/sha256.ts'

/** Environment variable with the settings of CloudFront (`EdgeSettings` as JSON). Stages without CloudFront in front of the API do not set it. */
export const EDGE_VARIABLE = 'EDGE'

/** Request header in which CloudFront sends its secret key to the API. CloudFront overwrites a header that a caller sent. */
export const EDGE_HEADER = 'x-vaultline-edge'

/** SHA-256 of the secret key that CloudFront sends, as 64 hex digits. The functions get only this hash, not the key. */
export const EdgeKeyHash = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 of 64 hex digits')

/**
 * Settings of CloudFront in front of the API. `keys` are hashes of the keys that identify its requests. There are two
 * during a key rotation.
 */
export const EdgeSettings = z.strictObject({
  keys: z.array(EdgeKeyHash).min(1).max(2),
  /** True if requests that bypass CloudFront are refused. */
  isOnlyWay: z.boolean(),
})
export type EdgeSettings = z.output<typeof EdgeSettings>

/**
 * Reads the settings of CloudFront from environment variables. Returns undefined on a stage without CloudFront. Throws
 * if the settings are invalid.
 */
export function readEdgeSettings(variables: NodeJS.ProcessEnv): EdgeSettings | undefined {
  const text = variables[EDGE_VARIABLE]
  return text === undefined ? undefined : EdgeSettings.parse(JSON.parse(text))
}

/**
 * Middleware that recognizes requests from CloudFront by their secret key. It sets `sourceIp` to the viewer's address
 * for these requests, and removes the key. A request without a known key keeps its address, or gets `not_found` if
 * `isOnlyWay` is true.
 */
export function edgeVerification(
  getEdgeSettings: () => Promise<EdgeSettings | undefined>,
): MiddlewareObj<APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Error, Context> {
  return {
    before: async ({ event }) => {
      const edge = await getEdgeSettings()
      if (!edge) return
      const { [EDGE_HEADER]: key, ...headers } = event.headers
      event.headers = headers
      const { http } = event.requestContext
      if (key !== undefined && isKnown(edge, key)) http.sourceIp = viewerOf(headers['x-forwarded-for'], http.sourceIp)
      else if (edge.isOnlyWay) throw new AppError('not_found')
    },
  }
}

function isKnown({ keys }: EdgeSettings, key: string): boolean {
  // The key is compared with all known keys, so the duration does not reveal which key matches.
  return keys.filter((known) => equalHashes(known, sha256(key))).length > 0
}

/**
 * Returns the address of the viewer, who called CloudFront. CloudFront appends this address to X-Forwarded-For. API
 * Gateway may append CloudFront's own address after that.
 */
function viewerOf(forwardedFor = '', cloudFront: string): string {
  const addresses = forwardedFor.split(',').map((address) => address.trim())
  if (addresses.at(-1) === cloudFront) addresses.pop()
  const viewer = addresses.at(-1) ?? ''
  return isIP(viewer) ? viewer : cloudFront
}
