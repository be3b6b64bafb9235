import * as z from 'zod'
import { Timestamp } from '../core/codecs.ts'
import { Vault } from '../vaults/vault.ts'
import { DEFAULT_LIMITS, KeyLimits } from './key-limits.ts'

const id = () => z.string().regex(/^[0-9A-Za-z]{10}$/, 'must be 10 letters and digits')

/** Application that calls this service, and the vaults that it may see. */
export const Client = z.object({
  clientId: id(),
  name: z.string().min(1),
  createdAt: Timestamp,
  vaults: z.array(Vault),
})
export type Client = z.output<typeof Client>

/** Stored API key. It contains the key's SHA-256 as 64 hex digits, never the key itself. */
export const ApiKey = z.object({
  keyId: id(),
  name: z.string().min(1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  lastFour: z.string().length(4),
  createdAt: Timestamp,
  /** Time from which the key is refused. A key without this time does not expire. */
  expiresAt: Timestamp.optional(),
  revokedAt: Timestamp.optional(),
  /** Keys that were created before limits existed have no stored limits, so they get the default limits. */
  limits: KeyLimits.default(DEFAULT_LIMITS),
})
export type ApiKey = z.output<typeof ApiKey>

/** A client with all its API keys. One query of the table returns both. */
export type ClientRecord = { readonly client: Client; readonly keys: readonly ApiKey[] }

/** Returns the status of an API key at `now` (epoch milliseconds). */
export function keyStatus(key: ApiKey, now: number): 'active' | 'expired' | 'revoked' {
  if (key.revokedAt) return 'revoked'
  return key.expiresAt && key.expiresAt.getTime() <= now ? 'expired' : 'active'
}
