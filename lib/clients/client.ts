import * as z from 'zod'
import { Timestamp } from '../codecs.ts'
import { Vault } from '../vaults/vault.ts'
import { DEFAULT_LIMITS, KeyLimits } from './key-limits.ts'

const id = () => z.string().regex(/^[0-9A-Za-z]{10}$/, 'must be 10 letters and digits')

/** An application that calls this service, and the vaults that it may see. */
export const Client = z.object({
  clientId: id(),
  name: z.string().min(1),
  createdAt: Timestamp,
  vaults: z.array(Vault),
})
export type Client = z.output<typeof Client>

/** What we keep of an API key: never the key itself, only its SHA-256 as 64 hex digits. */
export const ApiKey = z.object({
  keyId: id(),
  name: z.string().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  lastFour: z.string().length(4),
  createdAt: Timestamp,
  /** From this moment on the key is refused; a key without it does not expire. */
  expiresAt: Timestamp.optional(),
  revokedAt: Timestamp.optional(),
  /** Keys that were issued before there were limits have none stored. */
  limits: KeyLimits.default(DEFAULT_LIMITS),
})
export type ApiKey = z.output<typeof ApiKey>

/** A client with all its keys: what one query of the table gives. */
export type ClientRecord = { readonly client: Client; readonly keys: readonly ApiKey[] }

/** What a key is at a moment, given in epoch milliseconds. */
export function keyStatus(key: ApiKey, now: number): 'active' | 'expired' | 'revoked' {
  if (key.revokedAt) return 'revoked'
  return key.expiresAt && key.expiresAt.getTime() <= now ? 'expired' : 'active'
}
