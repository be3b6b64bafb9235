import { createHash, timingSafeEqual } from 'node:crypto'

/** The SHA-256 of a text or of bytes as 64 hex digits: the only form in which keys and tokens are kept. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

/** Whether two SHA-256 hashes of 64 hex digits are the same, in a time that does not depend on where they differ. */
export function equalHashes(left: string, right: string): boolean {
  return timingSafeEqual(Buffer.from(left, 'hex'), Buffer.from(right, 'hex'))
}
