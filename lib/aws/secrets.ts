import {
  GetSecretValueCommand,
  type GetSecretValueCommandOutput,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import type * as z from 'zod'
import { parseJson } from '../core/json.ts'
import { cacheForLifetime } from '../core/once.ts'
import { CLIENT_DEFAULTS } from './client-defaults.ts'

let shared: SecretsManagerClient | undefined

function secretsManager(): SecretsManagerClient {
  shared ??= new SecretsManagerClient(CLIENT_DEFAULTS)
  return shared
}

/** Milliseconds for which a container caches a secret. A changed secret reaches every container within this time. */
const LIFETIME_MS = 5 * 60_000

const latest = new Map<string, () => Promise<GetSecretValueCommandOutput>>()

function readLatest(secretId: string): Promise<GetSecretValueCommandOutput> {
  const read =
    latest.get(secretId) ?? cacheForLifetime(() => readSecret(secretId, secretsManager()), LIFETIME_MS, Date.now)
  latest.set(secretId, read)
  return read()
}

/** Returns the version id of a secret, at most five minutes old. Throws if no version is cached and Secrets Manager cannot be read. */
export async function readSecretVersion(secretId: string): Promise<string | undefined> {
  return (await readLatest(secretId)).VersionId
}

/**
 * Returns a secret like `readSecretJson`, but from the cache of this container. `readSecretVersion` returns the version
 * in the same cache.
 */
export async function readLatestSecretJson<Schema extends z.ZodType>(
  secretId: string,
  schema: Schema,
): Promise<z.output<Schema>> {
  return parseSecret(secretId, await readLatest(secretId), schema)
}

/**
 * Reads the secret with this ARN or name as JSON. Throws if the secret cannot be read or does not match the schema. No
 * error contains any text of the secret.
 */
export async function readSecretJson<Schema extends z.ZodType>(
  secretId: string,
  schema: Schema,
  client = secretsManager(),
): Promise<z.output<Schema>> {
  return parseSecret(secretId, await readSecret(secretId, client), schema)
}

function readSecret(secretId: string, client: SecretsManagerClient): Promise<GetSecretValueCommandOutput> {
  return client.send(new GetSecretValueCommand({ SecretId: secretId }))
}

function parseSecret<Schema extends z.ZodType>(
  secretId: string,
  { SecretString }: GetSecretValueCommandOutput,
  schema: Schema,
): z.output<Schema> {
  const parsed = schema.safeParse(parseJson(SecretString ?? ''))
  // The error omits its cause. A JSON error quotes text of the secret, and a schema error can quote its keys and values.
  if (!parsed.success) throw new Error(`The secret ${secretId} does not have the expected form.`)
  return parsed.data
}

/** Writes a value as JSON to the secret with this ARN or name. Throws if Secrets Manager rejects the write. */
export async function writeSecretJson(secretId: string, value: unknown, client = secretsManager()): Promise<void> {
  await client.send(new PutSecretValueCommand({ SecretId: secretId, SecretString: JSON.stringify(value) }))
}
