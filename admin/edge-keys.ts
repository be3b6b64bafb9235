import {
  CreateSecretCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import * as z from 'zod'
import { readSecretJson, writeSecretJson } from '../lib/aws/secrets.ts'
import { EdgeKeyHash } from '../lib/frame/edge.ts'

/** Schema of the secret: the keys by which functions recognize CloudFront, by the hash of each key. */
const EdgeKeys = z.record(EdgeKeyHash, z.string())
type EdgeKeys = Readonly<z.output<typeof EdgeKeys>>

/** Secret with the keys that a stage's CloudFront distribution sends to the functions. It reads as empty if it does not exist. */
export type EdgeKeysSecret = {
  read(): Promise<EdgeKeys>
  write(keys: EdgeKeys): Promise<void>
}

/**
 * Returns the secret with this name; the first write creates it. Only CloudFormation reads the secret, at a deploy. Functions have only the
 * hashes of its keys.
 */
export function edgeKeysSecret(name: string, client: SecretsManagerClient): EdgeKeysSecret {
  const orAbsent = (error: unknown) => {
    if (error instanceof ResourceNotFoundException) return undefined
    throw error
  }
  return {
    read: async () => (await readSecretJson(name, EdgeKeys, client).catch(orAbsent)) ?? {},
    async write(keys) {
      const isThere = await writeSecretJson(name, keys, client).then(() => true, orAbsent)
      if (!isThere) await client.send(new CreateSecretCommand({ Name: name, SecretString: JSON.stringify(keys) }))
    },
  }
}
