import { createHmac } from 'node:crypto'
import type { KeysByAge } from '../core/keys-by-age.ts'
import { equalTexts } from './token.ts'

const STEP_SECONDS = 30
const DIGITS = 6
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** Derives the 20-byte secret of one-time codes from the service's key and a seed. The secret itself is never stored. */
export function deriveTotpSecret(key: string, seed: string): Uint8Array {
  return createHmac('sha256', key).update(`totp ${seed}`).digest().subarray(0, 20)
}

/**
 * Builds the otpauth URL that authenticator apps read from a QR code
 * (https://github.com/google/google-authenticator/wiki/Key-Uri-Format).
 */
export function otpUrl(secret: Uint8Array, { issuer, account }: { issuer: string; account: string }): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(account)}`
  const query = `secret=${base32(secret)}&issuer=${encodeURIComponent(issuer)}`
  return `otpauth://totp/${label}?${query}&algorithm=SHA1&digits=${DIGITS}&period=${STEP_SECONDS}`
}

/**
 * Returns the 30-second step (RFC 6238) to which a one-time code belongs. Accepts codes of the current, previous and
 * next step. Returns null if the code is wrong, or its step is not after `lastStep`. `now` is in epoch milliseconds.
 */
export function totpStep(secret: Uint8Array, code: string, now: number, lastStep = 0): number | null {
  const current = Math.floor(now / 1000 / STEP_SECONDS)
  const fitting = [current - 1, current, current + 1].filter((step) => equalTexts(codeOf(secret, step), code))
  return fitting.find((step) => step > lastStep) ?? null
}

/**
 * Returns the step of a code like `totpStep`, with a secret derived from each of the service's keys. It tries all keys,
 * so the duration does not reveal the matching key.
 */
export function findTotpStep(keys: KeysByAge, seed: string, code: string, now: number, lastStep = 0): number | null {
  const steps = keys.map((key) => totpStep(deriveTotpSecret(key, seed), code, now, lastStep))
  return steps.find((step) => step !== null) ?? null
}

function codeOf(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const hash = createHmac('sha1', secret).update(counter).digest()
  const offset = hash.readUInt8(19) & 0x0f
  const number = hash.readUInt32BE(offset) & 0x7fffffff
  return (number % 10 ** DIGITS).toString().padStart(DIGITS, '0')
}

/** Encodes 20 bytes as 32 base32 characters. Other lengths would need padding, which is not implemented. */
function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{5}/g) ?? []).map((five) => BASE32[Number.parseInt(five, 2)]).join('')
}
