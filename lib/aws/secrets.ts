import {
  GetSecretValueCommand,
  type GetSecretValueCommandOutput,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import type * as z from 'zod'
import { parseJson } from '../json.ts'
import { refreshed } from '../once.ts'
import { CLIENT_DEFAULTS } from './client-defaults.ts'

let shared: SecretsManagerClient | undefined

function secretsManager(): SecretsManagerClient {
  shared ??= new SecretsManagerClient(CLIENT_DEFAULTS)
  return shared
}

/** What is changed in a secret reaches every container within this time. */
const LIFETIME_MS = 5 * 60_000

/** The secrets that this container has read: those of its functions' environment. */
const latest = new Map<string, () => Promise<GetSecretValueCommandOutput>>()

/** The latest value of the secret with this ARN or name; read anew every five minutes. Throws when it was never read. */
function readLatest(secretId: string): Promise<GetSecretValueCommandOutput> {
  const read = latest.get(secretId) ?? refreshed(() => readSecret(secretId, secretsManager()), LIFETIME_MS, Date.now)
  latest.set(secretId, read)
  return read()
}

/** What differs once a secret was changed, known after five minutes at the latest. Throws when it was never read. */
export async function readSecretVersion(secretId: string): Promise<string | undefined> {
  return (await readLatest(secretId)).VersionId
}

/** The same as `readSecretJson`, of what `readSecretVersion` tells the version of. */
export async function readLatestSecretJson<Schema extends z.ZodType>(
  secretId: string,
  schema: Schema,
): Promise<z.output<Schema>> {
  return parseSecret(secretId, await readLatest(secretId), schema)
}

/**
 * The JSON secret with this ARN or name, parsed by the schema.
 * Throws when it cannot be read or does not fit the schema; no error carries any part of the secret.
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
  // Neither cause nor issues: a JSON error quotes the text, and an issue can quote keys and values.
  if (!parsed.success) throw new Error(`The secret ${secretId} does not have the form that is expected of it.`)
  return parsed.data
}

/** Puts JSON into the secret with this ARN or name. Throws when it cannot be written. */
export async function writeSecretJson(secretId: string, value: unknown, client = secretsManager()): Promise<void> {
  await client.send(new PutSecretValueCommand({ SecretId: secretId, SecretString: JSON.stringify(value) }))
}
