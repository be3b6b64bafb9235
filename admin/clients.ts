import { DeleteCommand, type DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { listItems, putNew, updateItem } from '../lib/aws/dynamo.ts'
import { ApiKey } from '../lib/clients/client.ts'
import { KeyLimits } from '../lib/clients/key-limits.ts'
import { apiKeyKey, clientsStore, Profile, profileKey, vaultKey } from '../lib/clients/store.ts'
import { Timestamp } from '../lib/codecs.ts'
import { Vault } from '../lib/vaults/vault.ts'

const StoredKey = z.object({ pk: z.string(), sk: z.string() })

/** The table of clients, read as the service reads it and written. Every method throws when the table cannot be reached or an item does not parse. */
export function clientsAdminStore(documentClient: DynamoDBDocumentClient, tableName: string) {
  const put = (item: Parameters<typeof putNew>[2]) => putNew(documentClient, tableName, item)

  const scan = async (FilterExpression: string, ExpressionAttributeValues: Readonly<Record<string, string>>) => {
    const items: unknown[] = []
    const input = { TableName: tableName, FilterExpression, ExpressionAttributeValues }
    for await (const { Items = [] } of paginateScan({ client: documentClient }, input)) items.push(...Items)
    return items
  }

  return {
    ...clientsStore(documentClient, tableName),

    /** All clients, without their vaults, oldest first; reads the whole table. */
    async list(): Promise<Profile[]> {
      return inOrder(z.array(Profile).parse(await scan('sk = :profile', { ':profile': 'CLIENT' })))
    },

    /** All clients with their keys, without their vaults, oldest first; reads the whole table. */
    async listWithKeys(): Promise<(Profile & { readonly keys: readonly ApiKey[] })[]> {
      const items = await scan('sk = :profile OR begins_with(sk, :key)', { ':profile': 'CLIENT', ':key': 'KEY#' })
      const [profiles = [], keys = []] = [true, false].map((isProfile) =>
        items.filter((item) => (StoredKey.parse(item).sk === 'CLIENT') === isProfile),
      )
      const keysOf = Map.groupBy(keys, (item) => StoredKey.parse(item).pk)
      return inOrder(z.array(Profile).parse(profiles)).map((profile) => ({
        ...profile,
        keys: z.array(ApiKey).parse(keysOf.get(profileKey(profile.clientId).pk) ?? []),
      }))
    },

    /** Adds a client; false when its id is taken. */
    create(client: Profile): Promise<boolean> {
      return put({ ...profileKey(client.clientId), ...Profile.encode(client) })
    },

    /** Adds a key to a client; false when the client has a key with this id. */
    putKey(clientId: string, key: ApiKey): Promise<boolean> {
      return put({ ...apiKeyKey(clientId, key.keyId), ...ApiKey.encode(key) })
    },

    /** Replaces what a key may do; nothing happens where there is no such key. */
    async putLimits(clientId: string, keyId: string, limits: KeyLimits): Promise<void> {
      await updateItem(documentClient, tableName, {
        key: apiKeyKey(clientId, keyId),
        set: ['limits = :limits'],
        condition: 'attribute_exists(pk)',
        ExpressionAttributeValues: { ':limits': KeyLimits.encode(limits) },
      })
    },

    /** Marks a key as revoked at this moment; false when there is no such key or it is revoked already. */
    async revokeKey(clientId: string, keyId: string, revokedAt: Date): Promise<boolean> {
      const revoked = await updateItem(documentClient, tableName, {
        key: apiKeyKey(clientId, keyId),
        set: ['revokedAt = :at'],
        condition: 'attribute_exists(pk) AND attribute_not_exists(revokedAt)',
        ExpressionAttributeValues: { ':at': Timestamp.encode(revokedAt) },
      })
      return revoked !== null
    },

    /** Adds a vault to a client; false when the client has it already. */
    putVault(clientId: string, vault: Vault): Promise<boolean> {
      return put({
        ...vaultKey(clientId, vault.chainId, vault.address),
        vaultChainId: vault.chainId,
        ...Vault.encode(vault),
      })
    },

    /** Takes a vault from a client. */
    async removeVault(clientId: string, chainId: number, address: Vault['address']): Promise<void> {
      const Key = vaultKey(clientId, chainId, address)
      await documentClient.send(new DeleteCommand({ TableName: tableName, Key }))
    },

    /** Whether another client has a vault; of what was removed less than a second ago the index may still tell. */
    async isVaultOfAnother(clientId: string, chainId: number, address: Vault['address']): Promise<boolean> {
      const { pk, sk } = vaultKey(clientId, chainId, address)
      const others = await listItems(documentClient, {
        TableName: tableName,
        IndexName: 'byChain',
        KeyConditionExpression: 'vaultChainId = :chain AND sk = :vault',
        FilterExpression: 'pk <> :client',
        ExpressionAttributeValues: { ':chain': chainId, ':vault': sk, ':client': pk },
        ProjectionExpression: 'pk',
      })
      return others.length > 0
    },
  }
}

function inOrder(profiles: readonly Profile[]): Profile[] {
  return profiles.toSorted((left, right) => left.createdAt.getTime() - right.createdAt.getTime())
}

/** What `clientsAdminStore` gives. */
export type ClientsAdminStore = ReturnType<typeof clientsAdminStore>
