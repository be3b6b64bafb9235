import type { RandomBytes } from '../clients/api-key.ts'
import { equalHashes, sha256 } from '../core/sha256.ts'

/** Returns a new secret token: 32 random bytes in base64url. */
export function randomToken(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(32)).toString('base64url')
}

/** Returns a new id, which is not secret: 16 random bytes in base64url. */
export function randomId(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(16)).toString('base64url')
}

/** Returns true if two texts are equal. The duration does not depend on the position of the first difference. */
export function equalTexts(left: string, right: string): boolean {
  return equalHashes(sha256(left), sha256(right))
}
