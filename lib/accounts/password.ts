import { scrypt } from 'node:crypto'
import { promisify } from 'node:util'
import type { RandomBytes } from '../clients/api-key.ts'
import { equalTexts } from './token.ts'

type Cost = { readonly N: number; readonly r: number; readonly p: number; readonly maxmem: number }

const derive = promisify<string, Uint8Array, number, Cost, Buffer>(scrypt)

// Cost of scrypt, one of OWASP's equivalent settings. It takes 32 MiB and about half a second of one vCPU.
const COST = { N: 2 ** 15, r: 8, p: 3, maxmem: 64 * 1024 * 1024 }
const PREFIX = '$scrypt$ln=15,r=8,p=3'

/** Hashes a password with a new salt. Returns the hash in the PHC string format, which includes the cost. */
export async function hashPassword(password: string, randomBytes: RandomBytes): Promise<string> {
  return await hashWith(password, Buffer.from(randomBytes(16)))
}

/** True if this is the hash of the password; takes the same time either way. */
export async function isPassword(password: string, hash: string): Promise<boolean> {
  const salt = hash.split('$').at(-2) ?? ''
  return equalTexts(await hashWith(password, Buffer.from(salt, 'base64')), hash)
}

async function hashWith(password: string, salt: Buffer): Promise<string> {
  // The password is normalized, because keyboards can produce different code points for the same text.
  const key = await derive(password.normalize('NFKC'), salt, 32, COST)
  return [PREFIX, ...[salt, key].map((bytes) => bytes.toString('base64').replaceAll('=', ''))].join('$')
}
