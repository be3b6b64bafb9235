import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { readSecretJson, writeSecretJson } from '../lib/aws/secrets.ts'
import { type SigningKey, SigningKeys } from '../lib/signing/keys.ts'

/** Secret with the keys that sign the responses of one environment. The first key signs. */
export type SigningKeysSecret = {
  read(): Promise<readonly SigningKey[]>
  write(keys: readonly SigningKey[]): Promise<void>
}

/** Returns the secret of signing keys with this ARN or name. */
export function signingKeysSecret(secretId: string, client?: SecretsManagerClient): SigningKeysSecret {
  return {
    read: async () => (await readSecretJson(secretId, SigningKeys, client)).keys,
    write: (keys) => writeSecretJson(secretId, SigningKeys.encode({ keys: [...keys] }), client),
  }
}
