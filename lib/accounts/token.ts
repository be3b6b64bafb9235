import type { RandomBytes } from '../clients/api-key.ts'
import { equalHashes, sha256 } from '../sha256.ts'

/** New text that nobody can guess: base64url of 32 random bytes. */
export function randomToken(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(32)).toString('base64url')
}

/** New text that names something and is no secret: base64url of 16 random bytes. */
export function randomId(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(16)).toString('base64url')
}

/** Whether two texts are the same, in a time that does not depend on where they differ. */
export function equalTexts(left: string, right: string): boolean {
  return equalHashes(sha256(left), sha256(right))
}
