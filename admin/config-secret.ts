import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import * as z from 'zod'
import { readSecretJson, writeSecretJson } from '../lib/aws/secrets.ts'

const Fields = z.record(z.string(), z.unknown())

/** Secret with the node URLs and API keys of one environment (a stage, or the local service). */
export type ConfigSecret = {
  /** Writes these fields, and leaves all other fields of the secret unchanged. */
  merge(fields: Readonly<Record<string, unknown>>): Promise<void>
}

/** Returns the configuration secret with this ARN or name. */
export function configSecret(secretId: string, client?: SecretsManagerClient): ConfigSecret {
  return {
    async merge(fields) {
      const before = await readSecretJson(secretId, Fields, client)
      await writeSecretJson(secretId, { ...before, ...fields }, client)
    },
  }
}
