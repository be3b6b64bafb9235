import {
  CreateSecretCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import * as z from 'zod'
import { readSecretJson, writeSecretJson } from '../lib/aws/secrets.ts'
import { EdgeKeyHash } from '../lib/frame/edge.ts'

/** Keys by which functions recognize CloudFront, by their hashes. */
const EdgeKeys = z.record(EdgeKeyHash, z.string())
type EdgeKeys = Readonly<z.output<typeof EdgeKeys>>

/** Secret with a stage's keys of the edge; empty if it does not exist. */
export type EdgeKeysSecret = {
  read(): Promise<EdgeKeys>
  write(keys: EdgeKeys): Promise<void>
}

/** Opens the secret with this name; the first write creates it. Only CloudFormation reads it, no function. */
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
