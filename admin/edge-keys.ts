import {
  CreateSecretCommand,
  ResourceNotFoundException,
  type SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import * as z from 'zod'
import { readSecretJson, writeSecretJson } from '../lib/aws/secrets.ts'
import { EdgeKeyHash } from '../lib/frame/edge.ts'

/** The keys by which functions know CloudFront, by their hashes. */
const EdgeKeys = z.record(EdgeKeyHash, z.string())
type EdgeKeys = Readonly<z.output<typeof EdgeKeys>>

/** The secret with a stage's keys of the edge; empty where there is none yet. */
export type EdgeKeysSecret = {
  read(): Promise<EdgeKeys>
  write(keys: EdgeKeys): Promise<void>
}

/** The secret with this name, which is made when something is first written. CloudFormation reads it, and no function. */
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
