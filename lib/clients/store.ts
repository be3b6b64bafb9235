import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { listItems, queryPages } from '../aws/dynamo.ts'
import { Address } from '../codecs.ts'
import { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { Vault } from '../vaults/vault.ts'
import { ApiKey, Client, type ClientRecord } from './client.ts'

/** A client as its own item has it: without its vaults. */
export const Profile = Client.omit({ vaults: true })
export type Profile = z.output<typeof Profile>

const Key = z.object({ sk: z.string() })
const Owned = z.object({ pk: z.string() })
const CLIENT = 'CLIENT#'

/** The vaults of a chain, and which clients have the one with an address. */
export type ClientsVaults = {
  readonly vaults: VaultOnChain[]
  readonly clientsOf: (vault: Vault['address']) => readonly string[]
}

/** The names of the fields of vaults that do not differ from client to client. */
const ON_CHAIN = [...new Set(VaultOnChain.options.flatMap(({ shape }) => Object.keys(shape)))]

/**
 * The table of clients, as the service reads it; operators write it (admin/clients.ts). A client's partition holds the
 * client itself, its API keys and its vaults, so that one query gives all that a request needs. Every method throws when
 * the table cannot be reached or an item does not parse.
 */
export function clientsStore(documentClient: DynamoDBDocumentClient, tableName: string) {
  return {
    /** The client with its keys and vaults in one query; null when there is no such client. */
    async get(clientId: string): Promise<ClientRecord | null> {
      const items = await listItems(documentClient, {
        TableName: tableName,
        KeyConditionExpression: 'pk = :client',
        ExpressionAttributeValues: { ':client': profileKey(clientId).pk },
      })
      const byType = Map.groupBy(items, (item) => Key.parse(item).sk.split('#', 1)[0])
      const [profile] = byType.get('CLIENT') ?? []
      if (!profile) return null
      return {
        client: { ...Profile.parse(profile), vaults: z.array(Vault).parse(byType.get('VAULT') ?? []) },
        keys: z.array(ApiKey).parse(byType.get('KEY') ?? []),
      }
    },

    /** Each vault that any client has on this chain, once, whoever configured it, and the ids of the clients that have it. */
    async listVaultsOnChain(chainId: number): Promise<ClientsVaults> {
      const vaults = new Map<Vault['address'], VaultOnChain>()
      const clients = new Map<Vault['address'], string[]>()
      const pages = queryPages(documentClient, {
        TableName: tableName,
        IndexName: 'byChain',
        KeyConditionExpression: 'vaultChainId = :chain',
        ExpressionAttributeValues: { ':chain': chainId },
        ProjectionExpression: ['pk', ...ON_CHAIN.map((_, index) => `#${index}`)].join(),
        ExpressionAttributeNames: Object.fromEntries(ON_CHAIN.map((field, index) => [`#${index}`, field])),
      })
      for await (const page of pages) {
        for (const item of page) {
          const vault = VaultOnChain.parse(item)
          const ofVault = clients.get(vault.address) ?? []
          ofVault.push(Owned.parse(item).pk.slice(CLIENT.length))
          vaults.set(vault.address, vault)
          clients.set(vault.address, ofVault)
        }
      }
      return { vaults: [...vaults.values()], clientsOf: (address) => clients.get(address) ?? [] }
    },
  }
}
export type ClientsStore = ReturnType<typeof clientsStore>

/** The key of a client's own item. */
export function profileKey(clientId: string) {
  return { pk: `${CLIENT}${clientId}`, sk: 'CLIENT' }
}

/** The key of an API key's item. */
export function apiKeyKey(clientId: string, keyId: string) {
  return { pk: profileKey(clientId).pk, sk: `KEY#${keyId}` }
}

/** The key of the item of a client's vault. */
export function vaultKey(clientId: string, chainId: number, address: Vault['address']) {
  return { pk: profileKey(clientId).pk, sk: `VAULT#${chainId}#${Address.encode(address)}` }
}
