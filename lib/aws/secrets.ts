import { GetSecretValueCommand, PutSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import type * as z from 'zod'
import { CLIENT_DEFAULTS } from './client-defaults.ts'

let shared: SecretsManagerClient | undefined

function secretsManager(): SecretsManagerClient {
  shared ??= new SecretsManagerClient(CLIENT_DEFAULTS)
  return shared
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
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secretId }))
  const parsed = schema.safeParse(parseJson(SecretString))
  // Neither cause nor issues: a JSON error quotes the text, and an issue can quote keys and values.
  if (!parsed.success) throw new Error(`The secret ${secretId} does not have the form that is expected of it.`)
  return parsed.data
}

/** Puts JSON into the secret with this ARN or name. Throws when it cannot be written. */
export async function writeSecretJson(secretId: string, value: unknown, client = secretsManager()): Promise<void> {
  await client.send(new PutSecretValueCommand({ SecretId: secretId, SecretString: JSON.stringify(value) }))
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}
