import * as z from 'zod'
import { parseItem, type Table } from '../aws/table.ts'
import { Address } from '../core/codecs.ts'
import { Vault } from '../vaults/vault.ts'
import { ApiKey, Client, type ClientRecord } from './client.ts'

/** The item of a client itself; its vaults are separate items. */
export const Profile = Client.omit({ vaults: true })
export type Profile = z.output<typeof Profile>

const Keyed = z.looseObject({ sk: z.string() })

/**
 * Reads the table of clients, which operators write (admin/clients.ts). A client's partition holds the client, its API keys and its vaults,
 * so one query returns all. Methods throw if the table cannot be reached or an item does not parse.
 */
export function clientsStore(table: Table) {
  return {
    /** Returns the client with its keys and vaults; null if there is none. */
    async get(clientId: string): Promise<ClientRecord | null> {
      const items = await table.list(Keyed, { partition: profileKey(clientId).pk }, { isConsistent: false })
      const byType = Map.groupBy(items, ({ sk }) => sk.split('#', 1)[0])
      const [profile] = byType.get('CLIENT') ?? []
      if (!profile) return null
      return {
        client: { ...parseItem(Profile, profile), vaults: parseItem(z.array(Vault), byType.get('VAULT') ?? []) },
        keys: parseItem(z.array(ApiKey), byType.get('KEY') ?? []),
      }
    },
  }
}

/** Returns the key of the item of a client itself. */
export function profileKey(clientId: string) {
  return { pk: `CLIENT#${clientId}`, sk: 'CLIENT' }
}

/** Returns the key of an API key's item. */
export function apiKeyKey(clientId: string, keyId: string) {
  return { pk: profileKey(clientId).pk, sk: `KEY#${keyId}` }
}

/** Returns the key of the item of a client's vault. */
export function vaultKey(clientId: string, chainId: number, address: Vault['address']) {
  return { pk: profileKey(clientId).pk, sk: `VAULT#${chainId}#${Address.encode(address)}` }
}
