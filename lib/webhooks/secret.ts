import { hkdfSync } from 'node:crypto'
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { readLatestSecretJson, readSecretJson } from '../aws/secrets.ts'
import type { RandomBytes } from '../clients/api-key.ts'
import { KeysByAge } from '../keys-by-age.ts'
import { DAY_MS } from '../time.ts'
import type { SecretVersions, Webhook } from './webhook.ts'

/** The keys that the stage's secret has. Throws when it cannot be read. */
export function readWebhookKeys(secretId: string, client?: SecretsManagerClient): Promise<KeysByAge> {
  return readSecretJson(secretId, KeysByAge, client)
}

/** The same, as the container knows them: five minutes after a change at the latest. */
export function readLatestWebhookKeys(secretId: string): Promise<KeysByAge> {
  return readLatestSecretJson(secretId, KeysByAge)
}

/** For how long the secret before signs beside a new one. */
const OVERLAP_MS = DAY_MS

/** The first secret of a webhook. Its version was never anybody's: a URL that is registered again has another secret. */
export function createSecretVersions(randomBytes: RandomBytes): SecretVersions {
  return { version: Buffer.from(randomBytes(16)).toString('base64url') }
}

/**
 * The versions with a new one. Receivers know the one that they had before the first of several rotations within a day, and
 * perhaps none of those between: it is kept, and they are not.
 */
export function rotateSecret(
  { version, before }: SecretVersions,
  { randomBytes, now }: { readonly randomBytes: RandomBytes; readonly now: number },
) {
  const known = before && now < before.until.getTime() ? before.version : version
  const kept = { version: known, until: new Date(now + OVERLAP_MS) }
  return { ...createSecretVersions(randomBytes), before: kept } satisfies SecretVersions
}

/** The secrets that sign at a moment, in epoch milliseconds: first the newest, which is told its client. */
export function listSecrets(
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

/** `whsec_` and 32 bytes in base64 (Standard Webhooks 1.0.0), which follow from the key by RFC 5869: nothing of them is stored. */
function deriveSecret(webhookKey: string, clientId: string, webhookId: string, version: string): string {
  const info = `webhook ${clientId} ${webhookId} ${version}`
  return `whsec_${Buffer.from(hkdfSync('sha256', webhookKey, '', info, 32)).toString('base64')}`
}
