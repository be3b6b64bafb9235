import { isIP } from 'node:net'
import type { MiddlewareObj } from '@middy/core'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import * as z from 'zod'
import { AppError } from '../errors.ts'
import { equalHashes, sha256 } from '../sha256.ts'

/** The variable that tells endpoints of the edge, where a stage has one: `Edge` as JSON. */
export const EDGE_VARIABLE = 'EDGE'

/** In which header CloudFront sends its key to the API. It takes the place of one that a caller sent. */
export const EDGE_HEADER = 'x-vaultline-edge'

/** A SHA-256 as 64 hex digits: all that is known here of a key. */
export const EdgeKeyHash = z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 of 64 hex digits')

/** How functions know what comes through CloudFront: by one of these keys, two while they change. */
export const Edge = z.strictObject({
  keys: z.array(EdgeKeyHash).min(1).max(2),
  /** Whether nothing else is answered. */
  isOnlyWay: z.boolean(),
})
export type Edge = z.output<typeof Edge>

/** What these variables tell of the edge; undefined where the stage has none. Throws when it has another form. */
export function readEdge(variables: NodeJS.ProcessEnv): Edge | undefined {
  const text = variables[EDGE_VARIABLE]
  return text === undefined ? undefined : Edge.parse(JSON.parse(text))
}

/**
 * Sets `sourceIp` to the viewer's address where a request has a known edge key; others keep theirs, or get `not_found` where
 * the edge is the only way. Removes the key.
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
  // Each is compared, in a time that does not tell which one it is.
  return keys.filter((known) => equalHashes(known, sha256(key))).length > 0
}

/**
 * Who asked CloudFront: it adds that address to the end of what a caller made up, and the gateway may add CloudFront's behind
 * it. CloudFront's own where nothing tells.
 */
function viewerOf(forwardedFor = '', cloudFront: string): string {
  const addresses = forwardedFor.split(',').map((address) => address.trim())
  if (addresses.at(-1) === cloudFront) addresses.pop()
  const viewer = addresses.at(-1) ?? ''
  return isIP(viewer) ? viewer : cloudFront
}
