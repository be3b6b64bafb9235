import {
  DeleteCommand,
  type DynamoDBDocumentClient,
  PutCommand,
  ScanCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { conditionHeld, listItems, queryPages } from '../aws/dynamo.ts'
import { Address, Timestamp } from '../codecs.ts'
import { VaultOnChain } from '../protocols/vaults.ts'
import { Vault } from '../vaults/vault.ts'
import { ApiKey, Client, type ClientRecord } from './client.ts'

const Profile = Client.omit({ vaults: true })
type Profile = z.output<typeof Profile>

const Key = z.object({ sk: z.string() })

/** The names of the fields of vaults that do not differ from client to client. */
const ON_CHAIN = [...new Set(VaultOnChain.options.flatMap(({ shape }) => Object.keys(shape)))]

/**
 * The table of clients. A client's partition holds the client itself, its API keys and its vaults, so that one query
 * gives all that a request needs. Every method throws when the table cannot be reached or an item does not parse.
 */
export function clientsStore(documentClient: DynamoDBDocumentClient, tableName: string) {
  const putNew = (item: Record<string, unknown>) =>
    conditionHeld(
      documentClient.send(
        new PutCommand({ TableName: tableName, Item: item, ConditionExpression: 'attribute_not_exists(pk)' }),
      ),
    )

  return {
    /** The client with its keys and vaults in one query; null when there is no such client. */
    async get(clientId: string): Promise<ClientRecord | null> {
      const items = await listItems(documentClient, {
        TableName: tableName,
        KeyConditionExpression: 'pk = :client',
        ExpressionAttributeValues: { ':client': partition(clientId) },
      })
      const byKind = Map.groupBy(items, (item) => Key.parse(item).sk.split('#', 1)[0])
      const [profile] = byKind.get('CLIENT') ?? []
      if (!profile) return null
      return {
        client: { ...Profile.parse(profile), vaults: z.array(Vault).parse(byKind.get('VAULT') ?? []) },
        keys: z.array(ApiKey).parse(byKind.get('KEY') ?? []),
      }
    },

    /** All clients, without their vaults, oldest first; reads the whole table, so it is for operators alone. */
    async list(): Promise<Profile[]> {
      const profiles: Profile[] = []
      let from: Record<string, unknown> | undefined
      do {
        const page = await documentClient.send(
          new ScanCommand({
            TableName: tableName,
            FilterExpression: 'sk = :profile',
            ExpressionAttributeValues: { ':profile': 'CLIENT' },
            ExclusiveStartKey: from,
          }),
        )
        profiles.push(...z.array(Profile).parse(page.Items ?? []))
        from = page.LastEvaluatedKey
      } while (from)
      return profiles.sort((left, right) => left.createdAt.getTime() - right.createdAt.getTime())
    },

    /** Adds a client; false when its id is taken. */
    create(client: Profile): Promise<boolean> {
      return putNew({ pk: partition(client.clientId), sk: 'CLIENT', ...Profile.encode(client) })
    },

    /** Adds a key to a client; false when the client has a key with this id. */
    putKey(clientId: string, key: ApiKey): Promise<boolean> {
      return putNew({ pk: partition(clientId), sk: keySort(key.keyId), ...ApiKey.encode(key) })
    },

    /** Marks a key as revoked at this moment; false when there is no such key or it is revoked already. */
    revokeKey(clientId: string, keyId: string, revokedAt: Date): Promise<boolean> {
      return conditionHeld(
        documentClient.send(
          new UpdateCommand({
            TableName: tableName,
            Key: { pk: partition(clientId), sk: keySort(keyId) },
            UpdateExpression: 'SET revokedAt = :at',
            ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(revokedAt)',
            ExpressionAttributeValues: { ':at': Timestamp.encode(revokedAt) },
          }),
        ),
      )
    },

    /** Adds a vault to a client; false when the client has it already. */
    putVault(clientId: string, vault: Vault): Promise<boolean> {
      return putNew({
        pk: partition(clientId),
        sk: vaultSort(vault.chainId, vault.address),
        vaultChainId: vault.chainId,
        ...Vault.encode(vault),
      })
    },

    /** Takes a vault from a client; false when the client does not have it. */
    removeVault(clientId: string, chainId: number, address: Vault['address']): Promise<boolean> {
      return conditionHeld(
        documentClient.send(
          new DeleteCommand({
            TableName: tableName,
            Key: { pk: partition(clientId), sk: vaultSort(chainId, address) },
            ConditionExpression: 'attribute_exists(pk)',
          }),
        ),
      )
    },

    /** Whether another client has a vault; of what was removed less than a second ago the index may still tell. */
    async isVaultOfAnother(clientId: string, chainId: number, address: Vault['address']): Promise<boolean> {
      const others = await listItems(documentClient, {
        TableName: tableName,
        IndexName: 'byChain',
        KeyConditionExpression: 'vaultChainId = :chain AND sk = :vault',
        FilterExpression: 'pk <> :client',
        ExpressionAttributeValues: {
          ':chain': chainId,
          ':vault': vaultSort(chainId, address),
          ':client': partition(clientId),
        },
        ProjectionExpression: 'pk',
      })
      return others.length > 0
    },

    /** Each vault that any client has on this chain, once, whoever configured it. */
    async listVaultsOnChain(chainId: number): Promise<VaultOnChain[]> {
      const vaults = new Map<string, VaultOnChain>()
      const pages = queryPages(documentClient, {
        TableName: tableName,
        IndexName: 'byChain',
        KeyConditionExpression: 'vaultChainId = :chain',
        ExpressionAttributeValues: { ':chain': chainId },
        ProjectionExpression: ON_CHAIN.map((_, index) => `#${index}`).join(),
        ExpressionAttributeNames: Object.fromEntries(ON_CHAIN.map((field, index) => [`#${index}`, field])),
      })
      for await (const page of pages) {
        for (const vault of z.array(VaultOnChain).parse(page)) vaults.set(vault.address, vault)
      }
      return [...vaults.values()]
    },
  }
}

/** The table of clients, as `clientsTable` gives it. */
export type ClientsStore = ReturnType<typeof clientsStore>

function partition(clientId: string): string {
  return `CLIENT#${clientId}`
}

function keySort(keyId: string): string {
  return `KEY#${keyId}`
}

function vaultSort(chainId: number, address: Vault['address']): string {
  return `VAULT#${chainId}#${Address.encode(address)}`
}
