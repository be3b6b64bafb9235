import * as z from 'zod'
import { parseJson } from '../core/json.ts'
import { assert } from './check.ts'
import { equalTexts } from './token.ts'

/** Values that WebAuthn's client data must contain: our challenge, and one of our origins. */
export type Expected = {
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

/** Returns the challenge in client data; undefined if there is none. */
export function parseChallenge(bytes: Uint8Array): string | undefined {
  return ClientData.safeParse(parseJson(bytes)).data?.challenge
}

/**
 * Checks client data: its type, the challenge (as sent or encoded once more) and the origin. Only credentials of kind
 * `Key` may omit the origin. Throws `invalid_credential`.
 */
export function verifyClientData(
  bytes: Uint8Array,
  type: `${'webauthn' | 'key'}.${'create' | 'get'}`,
  { challenge, origins }: Expected,
): void {
  const clientData = ClientData.safeParse(parseJson(bytes)).data
  assert(clientData !== undefined, 'client data')
  assert(clientData.type === type, 'type')
  // Some clients treat the challenge as text and encode it once more.
  const encoded = Buffer.from(challenge).toString('base64url')
  const isOurs = [challenge, encoded].map((text) => equalTexts(clientData.challenge, text)).includes(true)
  assert(isOurs, 'challenge')
  const { origin, crossOrigin = false, topOrigin } = clientData
  const isKey = type.startsWith('key')
  assert(origin === undefined ? isKey : origins.includes(origin), 'origin')
  assert(!crossOrigin && topOrigin === undefined, 'origin')
}
