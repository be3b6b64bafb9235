import { scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import type { RandomBytes } from '../clients/api-key.ts'
import { equalTexts } from './token.ts'

type Cost = { readonly N: number; readonly r: number; readonly p: number; readonly maxmem: number }

const derive = promisify<string, Uint8Array, number, Cost, Buffer>(scrypt)

// Cost of one scrypt hash, from OWASP's recommended settings. It takes 32 MiB and about half a second of one vCPU.
const COST = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 }
const PREFIX = '$scrypt$ln=15,r=8,p=3'

/** Hashes a password with a new random salt. Returns the hash in the PHC string format, which includes the cost and the salt. */
export async function hashPassword(password: string, randomBytes: RandomBytes): Promise<string> {
  return await hashWith(password, Buffer.from(randomBytes(16)))
}

/** Returns true if this hash belongs to the password. The duration does not depend on the result. */
export async function isCorrectPassword(password: string, hash: string): Promise<boolean> {
  const salt = hash.split('$').at(-2) ?? ''
  return equalTexts(await hashWith(password, Buffer.from(salt, 'base64')), hash)
}

async function hashWith(password: string, salt: Buffer): Promise<string> {
  // Keyboards can produce different code points for the same text, so the password is normalized.
  const key = await derive(password.normalize('NFKC'), salt, 32, COST)
  return [PREFIX, ...[salt, key].map((bytes) => bytes.toString('base64').replaceAll('=', ''))].join('$')
}
