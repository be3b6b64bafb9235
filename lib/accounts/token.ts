import { createHash, timingSafeEqual } from 'node:crypto'
import type { RandomBytes } from '../clients/api-key.ts'

/** New text that nobody can guess: base64url of 32 random bytes. */
export function randomToken(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(32)).toString('base64url')
}

/** New text that names something and is no secret: base64url of 16 random bytes. */
export function randomId(randomBytes: RandomBytes): string {
  return Buffer.from(randomBytes(16)).toString('base64url')
}

/** The SHA-256 of a text as 64 hex digits: the only form in which tokens are stored. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** Whether two texts are the same, in a time that does not depend on where they differ. */
export function equalTexts(left: string, right: string): boolean {
  return timingSafeEqual(Buffer.from(hashToken(left)), Buffer.from(hashToken(right)))
}
