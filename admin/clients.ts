import { type DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { getItems, putNew, updateItem } from '../lib/aws/dynamo.ts'
import { ApiKey } from '../lib/clients/client.ts'
import { KeyLimits } from '../lib/clients/key-limits.ts'
import { chainVaultKey, listedVaultsStore, vaultClientsKey } from '../lib/clients/listed-vaults-store.ts'
import { apiKeyKey, clientsStore, Profile, profileKey, vaultKey } from '../lib/clients/store.ts'
import { Timestamp } from '../lib/codecs.ts'
import { VaultOnChain } from '../lib/protocols/vault-on-chain.ts'
import { Vault, type VaultKey } from '../lib/vaults/vault.ts'
import { transactWrite } from './transaction.ts'

const StoredKey = z.object({ pk: z.string(), sk: z.string() })
const StoredClients = z.object({ clients: z.set(z.string()) })

/** A client's vault. */
type UnlistedVault = { readonly clientId: string; readonly vault: VaultOnChain }

/** The table of clients, read as the service reads it and written. Every method throws when the table cannot be reached or an item does not parse. */
export function clientsAdminStore(documentClient: DynamoDBDocumentClient, tableName: string) {
  const put = (item: Parameters<typeof putNew>[2]) => putNew(documentClient, tableName, item)

  const listed = listedVaultsStore(documentClient, tableName)

  const scan = async (FilterExpression: string, ExpressionAttributeValues: Readonly<Record<string, string>>) => {
    const items: unknown[] = []
    const input = { TableName: tableName, FilterExpression, ExpressionAttributeValues }
    for await (const { Items = [] } of paginateScan({ client: documentClient }, input)) items.push(...Items)
    return items
  }

  return {
    ...clientsStore(documentClient, tableName),
    listVaultsOnChain: listed.list,
    listClientsOf: listed.listClientsOf,

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

    /**
     * Adds a vault to a client, and to what is listed of its chain, as the chain told it last; false when the client has it
     * already.
     */
    async putVault(clientId: string, vault: Vault): Promise<boolean> {
      const refused = await transactWrite(documentClient, [
        {
          Put: {
            TableName: tableName,
            Item: { ...vaultKey(clientId, vault.chainId, vault.address), ...Vault.encode(vault) },
            ConditionExpression: 'attribute_not_exists(pk)',
          },
        },
        ...listing(clientId, vault),
      ])
      return refused === undefined
    },

    /**
     * Takes a vault from a client, and from what is listed of its chain where no other client has it: then `isLast`. Undefined
     * when the client does not have it.
     */
    async removeVault(clientId: string, vault: VaultKey): Promise<{ readonly isLast: boolean } | undefined> {
      const Key = vaultKey(clientId, vault.chainId, vault.address)
      const Delete = { TableName: tableName, Key, ConditionExpression: 'attribute_exists(pk)' }
      const clients = { TableName: tableName, Key: vaultClientsKey(vault) }
      const ofClient = new Set([clientId])
      for (;;) {
        const [clientIds = []] = await listed.listClientsOf([vault])
        const isListed = clientIds.includes(clientId)
        const isLast = isListed && clientIds.length === 1
        const asLast = { ConditionExpression: 'clients = :client', ExpressionAttributeValues: { ':client': ofClient } }
        const asOneOfMany = {
          UpdateExpression: 'DELETE clients :client',
          ConditionExpression: 'size(clients) > :one',
          ExpressionAttributeValues: { ':client': ofClient, ':one': 1 },
        }
        const refused = await transactWrite(documentClient, [
          { Delete },
          ...(isListed && !isLast ? [{ Update: { ...clients, ...asOneOfMany } }] : []),
          ...(isLast
            ? [{ Delete: { ...clients, ...asLast } }, { Delete: { TableName: tableName, Key: chainVaultKey(vault) } }]
            : []),
        ])
        if (refused === undefined) return { isLast }
        if (refused === 0) return undefined
        // Others have been given the vault since, or have lost it.
      }
    },

    /** A vault that any client has; undefined where none has. */
    async getVaultOnChain(key: VaultKey): Promise<VaultOnChain | undefined> {
      const [item] = await getItems(documentClient, tableName, [chainVaultKey(key)])
      return item === undefined ? undefined : VaultOnChain.parse(item)
    },

    /** The vaults of clients that are not listed with their chain, or without the client; reads the whole table. */
    async findUnlisted(): Promise<UnlistedVault[]> {
      const items = await scan('begins_with(sk, :vault) OR sk = :clients', {
        ':vault': 'VAULT#',
        ':clients': 'CLIENTS',
      })
      const keys = new Set<string>()
      const copies: UnlistedVault[] = []
      for (const item of items) {
        const { pk, sk } = StoredKey.parse(item)
        const [kind, clientId = ''] = pk.split('#')
        if (kind === 'CLIENT') copies.push({ clientId, vault: VaultOnChain.parse(item) })
        else if (kind === 'CHAIN') keys.add(`${pk} ${sk}`)
        else for (const client of StoredClients.parse(item).clients) keys.add(`${pk} ${client}`)
      }
      return copies.filter(({ clientId, vault }) => {
        const { pk, sk } = chainVaultKey(vault)
        return !keys.has(`${pk} ${sk}`) || !keys.has(`${vaultClientsKey(vault).pk} ${clientId}`)
      })
    },

    /** Lists a client's vault with its chain, where the client has it still. */
    async listAgain({ clientId, vault }: UnlistedVault): Promise<void> {
      const Key = vaultKey(clientId, vault.chainId, vault.address)
      await transactWrite(documentClient, [
        { ConditionCheck: { TableName: tableName, Key, ConditionExpression: 'attribute_exists(pk)' } },
        ...listing(clientId, vault),
      ])
    },
  }

  /** What lists a vault with its chain, and the client with the vault. */
  function listing(clientId: string, vault: VaultOnChain) {
    return [
      {
        Update: {
          TableName: tableName,
          Key: vaultClientsKey(vault),
          UpdateExpression: 'ADD clients :client',
          ExpressionAttributeValues: { ':client': new Set([clientId]) },
        },
      },
      { Put: { TableName: tableName, Item: { ...chainVaultKey(vault), ...VaultOnChain.encode(vault) } } },
    ]
  }
}

function inOrder(profiles: readonly Profile[]): Profile[] {
  return profiles.toSorted((left, right) => left.createdAt.getTime() - right.createdAt.getTime())
}

/** What `clientsAdminStore` gives. */
export type ClientsAdminStore = ReturnType<typeof clientsAdminStore>
