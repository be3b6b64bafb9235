import * as z from 'zod'
import { Timestamp } from '../core/codecs.ts'
import { CredentialKind } from './creation-options.ts'
import { type Credential, Factor } from './credential.ts'
import type { User } from './user.ts'

/** A credential as the API shows it to its user. It omits everything that verifies the credential or helps an attacker to guess it. */
export const CredentialEntry = z
  .object({
    id: z.string().describe('Id of the credential, for `DELETE /auth/credentials/{id}`'),
    kind: CredentialKind.describe('Kind of credential'),
    factor: Factor,
    name: z.string().nullable().describe('Name that the user chose'),
    createdAt: Timestamp,
    lastUsedAt: Timestamp.nullable().describe('Time of its last login or confirmed change'),
    credentialId: z
      .string()
      .nullable()
      .describe("Client's id of a key or a passkey; null for others (a recovery key's is secret)"),
    backedUp: z.boolean().optional().describe('Passkeys only: true if it is backed up'),
  })
  .meta({ id: 'Credential', description: 'A credential as its user sees it' })
type CredentialEntry = z.output<typeof CredentialEntry>

/** Builds the API's entry of a credential. */
export function buildCredentialEntry(id: string, credential: Credential): CredentialEntry {
  const { kind, factor, name = null, createdAt, lastUsedAt = null } = credential
  // The id of a recovery key is omitted, because it gives access to the encrypted private key (docs/decisions/0025-recovery.md).
  const hasPublicId = 'id' in credential && kind !== 'RecoveryKey'
  return {
    ...{ id, kind, factor, name, createdAt, lastUsedAt },
    credentialId: hasPublicId ? credential.id : null,
    ...(kind === 'Fido2' && { backedUp: credential.backedUp }),
  }
}

/**
 * Lists the entries of a user's credentials, oldest first. Credentials of the same time are sorted: first factor,
 * second factor, recovery.
 */
export function listCredentials({ credentials }: Pick<User, 'credentials'>): CredentialEntry[] {
  return Object.entries(credentials)
    .map(([id, credential]) => buildCredentialEntry(id, credential))
    .sort(
      (left, right) =>
        left.createdAt.getTime() - right.createdAt.getTime() ||
        Factor.options.indexOf(left.factor) - Factor.options.indexOf(right.factor),
    )
}
