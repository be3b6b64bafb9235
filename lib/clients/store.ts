import * as z from 'zod'
import { parseItem, type Table } from '../aws/table.ts'
import { Address } from '../core/codecs.ts'
import { Vault } from '../vaults/vault.ts'
import { ApiKey, Client, type ClientRecord } from './client.ts'

/** Item of a client in the table of clients. The client's vaults and API keys are separate items. */
export const ClientProfile = Client.omit({ vaults: true })
export type ClientProfile = z.output<typeof ClientProfile>

const Keyed = z.looseObject({ sk: z.string() })

/**
 * Store of clients, which operators write with admin/clients.ts. A client's partition has the client, its API keys and
 * its vaults, so one query returns all. Methods throw if the table cannot be reached or an item does not match its
 * schema.
 */
export function clientsStore(table: Table) {
  return {
    /** Returns a client with its API keys and vaults; null if the client does not exist. */
    async get(clientId: string): Promise<ClientRecord | null> {
      const items = await table.list(Keyed, { partition: profileKey(clientId).pk }, { isConsistent: false })
      const byType = Map.groupBy(items, ({ sk }) => sk.split('#', 1)[0])
      const [profile] = byType.get('CLIENT') ?? []
      if (!profile) return null
      return {
        client: { ...parseItem(ClientProfile, profile), vaults: parseItem(z.array(Vault), byType.get('VAULT') ?? []) },
        keys: parseItem(z.array(ApiKey), byType.get('KEY') ?? []),
      }
    },
  }
}

/** Returns the table key of a client. */
export function profileKey(clientId: string) {
  return { pk: `CLIENT#${clientId}`, sk: 'CLIENT' }
}

/** Returns the table key of an API key, which is in its client's partition. */
export function apiKeyKey(clientId: string, keyId: string) {
  return { pk: profileKey(clientId).pk, sk: `KEY#${keyId}` }
}

/** Returns the table key of a client's vault, which is in the client's partition. */
export function clientVaultKey(clientId: string, chainId: number, address: Vault['address']) {
  return { pk: profileKey(clientId).pk, sk: `VAULT#${chainId}#${Address.encode(address)}` }
}
