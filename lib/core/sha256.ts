import { createHash, timingSafeEqual } from 'node:crypto'

/** Returns the SHA-256 of a text or bytes as 64 hex digits. API keys and session tokens are stored only as such hashes. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

/** Compares two SHA-256 hashes (64 hex digits) in constant time, so the duration does not reveal where they differ. */
export function equalHashes(left: string, right: string): boolean {
  return timingSafeEqual(Buffer.from(left, 'hex'), Buffer.from(right, 'hex'))
}
