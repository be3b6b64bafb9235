import type { RandomBytes } from '../clients/api-key.ts'
import { equalHashes, sha256 } from '../core/sha256.ts'

/** Returns a new secret: base64url of 32 random bytes. */
export function randomToken(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(32)).toString('base64url')
}

/** Returns a new id, not a secret: base64url of 16 random bytes. */
export function randomId(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(16)).toString('base64url')
}

/** True if two texts are equal; the time does not depend on where they differ. */
export function equalTexts(left: string, right: string): boolean {
  return equalHashes(sha256(left), sha256(right))
}
