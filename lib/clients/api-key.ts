import { crc32 } from 'node:zlib'

/** Function that returns `size` cryptographically random bytes, like randomBytes of node:crypto. */
export type RandomBytes = (size: number) => Uint8Array

/** Environment in which an API key works. It is part of the key's text. */
export type KeyEnvironment = 'live' | 'test' | 'local'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_LENGTH = 32
const CHECK_LENGTH = 6
const FORMAT = /^jk_(?:live|test|local)_([0-9A-Za-z]{10})_[0-9A-Za-z]{38}$/

/**
 * Creates an API key for a client: `jk_<environment>_<clientId>_<secret><checksum>`. Only the hash of the key is
 * stored, so the key cannot be shown again.
 */
export function createApiKey(environment: KeyEnvironment, clientId: string, randomBytes: RandomBytes): string {
  const body = `jk_${environment}_${clientId}_${randomBase62(SECRET_LENGTH, randomBytes)}`
  return body + checkOf(body)
}

/**
 * Returns the client id in an API key; null if the format or checksum is wrong. The key is not looked up, so it may
 * never have been issued.
 */
export function parseApiKey(text: string): { clientId: string } | null {
  const [, clientId] = FORMAT.exec(text) ?? []
  const body = text.slice(0, -CHECK_LENGTH)
  if (clientId === undefined || text !== body + checkOf(body)) return null
  return { clientId }
}

/** Returns a text of random base62 characters. Each character is equally likely. */
export function randomBase62(length: number, randomBytes: RandomBytes): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length)) {
      // Bytes from 248 on are skipped. They would make the first eight characters more likely than the others.
      if (byte < 4 * DIGITS.length) text += DIGITS[byte % DIGITS.length]
    }
  }
  return text
}

function checkOf(body: string): string {
  let check = ''
  for (let rest = crc32(body); check.length < CHECK_LENGTH; rest = Math.floor(rest / DIGITS.length)) {
    check = DIGITS[rest % DIGITS.length] + check
  }
  return check
}
