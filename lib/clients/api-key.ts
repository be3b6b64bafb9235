import { crc32 } from 'node:zlib'

/** Gives this many random bytes that nobody can predict, as node:crypto's randomBytes does. */
export type RandomBytes = (size: number) => Uint8Array

/** Where a key is meant to be used; part of its text. */
export type KeyEnvironment = 'live' | 'test' | 'local'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const SECRET_LENGTH = 32
const CHECK_LENGTH = 6
const FORMAT = /^jk_(?:live|test|local)_([0-9A-Za-z]{10})_[0-9A-Za-z]{38}$/

/** A new API key, `jk_<environment>_<clientId>_<secret><check>`: its only full copy, to be handed to the client. */
export function createApiKey(environment: KeyEnvironment, clientId: string, randomBytes: RandomBytes): string {
  const body = `jk_${environment}_${clientId}_${randomBase62(SECRET_LENGTH, randomBytes)}`
  return body + checkOf(body)
}

/** The client that an API key names, null when the text is no API key or its check is wrong. Says nothing on whether the key was ever issued. */
export function parseApiKey(text: string): { clientId: string } | null {
  const [, clientId] = FORMAT.exec(text) ?? []
  const body = text.slice(0, -CHECK_LENGTH)
  if (clientId === undefined || text !== body + checkOf(body)) return null
  return { clientId }
}

/** Random text of this many base62 characters, each equally likely. */
export function randomBase62(length: number, randomBytes: RandomBytes): string {
  let text = ''
  while (text.length < length) {
    for (const byte of randomBytes(length - text.length)) {
      // Bytes from 248 up would make the first eight characters likelier than the others.
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
