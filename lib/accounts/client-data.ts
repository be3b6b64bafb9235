import * as z from 'zod'
import { parseJson } from '../core/json.ts'
import { requireCheck } from './check.ts'
import { equalTexts } from './token.ts'

/**
 * Values that WebAuthn client data must contain: the issued challenge, and one of the allowed origins. `rpId` is the
 * relying party's domain.
 */
export type ExpectedClientData = {
  readonly challenge: string
  readonly origins: readonly string[]
  readonly rpId: string
}

const ClientData = z.object({
  type: z.string(),
  challenge: z.string(),
  origin: z.string().optional(),
  crossOrigin: z.boolean().optional(),
  topOrigin: z.string().optional(),
})

/** Returns the challenge in WebAuthn client data; undefined if the client data contain none. */
export function parseChallenge(bytes: Uint8Array): string | undefined {
  return ClientData.safeParse(parseJson(bytes)).data?.challenge
}

/**
 * Verifies the type, the challenge and the origin in WebAuthn client data. The challenge may be encoded as base64url
 * once more. Only client data of a key, whose type begins with `key`, may omit the origin. Throws `invalid_credential`.
 */
export function verifyClientData(
  bytes: Uint8Array,
  type: `${'webauthn' | 'key'}.${'create' | 'get'}`,
  { challenge, origins }: ExpectedClientData,
): void {
  const clientData = ClientData.safeParse(parseJson(bytes)).data
  requireCheck(clientData !== undefined, 'client data')
  requireCheck(clientData.type === type, 'type')
  // Some clients treat the challenge as text and encode it as base64url once more.
  const encoded = Buffer.from(challenge).toString('base64url')
  const isOurs = [challenge, encoded].map((text) => equalTexts(clientData.challenge, text)).includes(true)
  requireCheck(isOurs, 'challenge')
  const { origin, crossOrigin = false, topOrigin } = clientData
  const isKey = type.startsWith('key')
  requireCheck(origin === undefined ? isKey : origins.includes(origin), 'origin')
  requireCheck(!crossOrigin && topOrigin === undefined, 'origin')
}
