import { hkdfSync } from 'node:crypto'
import type { RandomBytes } from '../clients/api-key.ts'
import type { KeysByAge } from '../core/keys-by-age.ts'
import { DAY_MS } from '../core/time.ts'
import type { SecretVersions, Webhook } from './webhook.ts'

/** Milliseconds after a rotation during which deliveries are also signed with the previous secret. */
const OVERLAP_MS = DAY_MS

/**
 * Creates the first version of a webhook's secret. The version is random, so a URL that is registered again gets
 * another secret.
 */
export function createSecretVersions(randomBytes: RandomBytes): SecretVersions {
  return { version: Buffer.from(randomBytes(16)).toString('base64url') }
}

/**
 * Adds a new version of a webhook's secret. The previous version signs for one more day. After several rotations within
 * that day the version before the first rotation still signs, because receivers may know only that version.
 */
export function rotateSecret(
  { version, before }: SecretVersions,
  { randomBytes, now }: { readonly randomBytes: RandomBytes; readonly now: number },
) {
  const known = before && now < before.until.getTime() ? before.version : version
  const kept = { version: known, until: new Date(now + OVERLAP_MS) }
  return { ...createSecretVersions(randomBytes), before: kept } satisfies SecretVersions
}

/** Returns the secrets that sign deliveries at `now` (epoch milliseconds). The newest is first; it is the one that the client receives. */
export function listWebhookSecrets(
  webhookKeys: KeysByAge,
  clientId: string,
  { id, secret: { version, before } }: Pick<Webhook, 'id' | 'secret'>,
  now: number,
): [string, ...string[]] {
  const versions = [version, ...(before && now < before.until.getTime() ? [before.version] : [])]
  const derive = (key: string, of: string) => deriveSecret(key, clientId, id, of)
  const [newest = derive(webhookKeys[0], version), ...others] = webhookKeys.flatMap((key) =>
    versions.map((of) => derive(key, of)),
  )
  return [newest, ...others]
}

/** Derives a webhook's secret (RFC 5869): `whsec_` and 32 bytes in base64 (Standard Webhooks 1.0.0). The secret is not stored. */
function deriveSecret(webhookKey: string, clientId: string, webhookId: string, version: string): string {
  const info = `webhook ${clientId} ${webhookId} ${version}`
  return `whsec_${Buffer.from(hkdfSync('sha256', webhookKey, '', info, 32)).toString('base64')}`
}
