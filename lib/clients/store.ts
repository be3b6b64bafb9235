import * as z from 'zod'
import { parseItem, type Table } from '../aws/table.ts'
import { Address } from '../codecs.ts'
import { Vault } from '../vaults/vault.ts'
import { ApiKey, Client, type ClientRecord } from './client.ts'

/** A client as its own item has it: without its vaults. */
export const Profile = Client.omit({ vaults: true })
export type Profile = z.output<typeof Profile>

const Keyed = z.looseObject({ sk: z.string() })

/**
 * The table of clients, as the service reads it; operators write it (admin/clients.ts). A client's partition holds the
 * client itself, its API keys and its vaults, so that one query gives all that a request needs. Every method throws when
 * the table cannot be reached or an item does not parse.
 */
export function clientsStore(table: Table) {
  return {
    /** The client with its keys and vaults in one query; null when there is no such client. */
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

/** The key of a client's own item. */
export function profileKey(clientId: string) {
  return { pk: `CLIENT#${clientId}`, sk: 'CLIENT' }
}

/** The key of an API key's item. */
export function apiKeyKey(clientId: string, keyId: string) {
  return { pk: profileKey(clientId).pk, sk: `KEY#${keyId}` }
}

/** The key of the item of a client's vault. */
export function vaultKey(clientId: string, chainId: number, address: Vault['address']) {
  return { pk: profileKey(clientId).pk, sk: `VAULT#${chainId}#${Address.encode(address)}` }
}
