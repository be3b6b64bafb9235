import * as z from 'zod'
import {
  all,
  any,
  beginsWith,
  type Condition,
  exists,
  is,
  missing,
  removeElements,
  set,
  sizeIs,
} from '../lib/aws/conditions.ts'
import type { OperatorTable } from '../lib/aws/operator-table.ts'
import { buildItem } from '../lib/aws/table.ts'
import { ApiKey } from '../lib/clients/client.ts'
import { KeyLimits } from '../lib/clients/key-limits.ts'
import {
  buildListingWrites,
  chainVaultKey,
  createVaultLister,
  listedVaultsStore,
  vaultClientsKey,
} from '../lib/clients/listed-vaults-store.ts'
import { apiKeyKey, ClientProfile, clientsStore, clientVaultKey, profileKey } from '../lib/clients/store.ts'
import { Timestamp } from '../lib/core/codecs.ts'
import { VaultOnChain } from '../lib/protocols/vault-on-chain.ts'
import { Vault, type VaultKey } from '../lib/vaults/vault.ts'

const StoredKey = z.looseObject({ pk: z.string(), sk: z.string() })

/**
 * Returns a store over the clients' table: the service's reads and the operator's writes. Every method throws if DynamoDB is unreachable or
 * an item does not parse.
 */
export function clientsAdminStore(table: OperatorTable) {
  const listed = listedVaultsStore(table)

  const scan = async (filter: Condition) => {
    const items: z.output<typeof StoredKey>[] = []
    for await (const page of table.scan(StoredKey, { filter })) items.push(...page)
    return items
  }

  return {
    ...clientsStore(table),
    listVaultsOnChain: listed.list,
    listClientsOf: listed.listClientsOf,
    relistVaults: createVaultLister(table).relist,

    /** Lists all clients without their vaults, oldest first; reads the whole table. */
    async list(): Promise<ClientProfile[]> {
      return inOrder(z.array(ClientProfile).parse(await scan(is('sk', '=', 'CLIENT'))))
    },

    /** Lists all clients with their API keys, without their vaults, oldest first; reads the whole table. */
    async listWithKeys(): Promise<(ClientProfile & { readonly keys: readonly ApiKey[] })[]> {
      const items = await scan(any(is('sk', '=', 'CLIENT'), beginsWith('sk', 'KEY#')))
      const [profiles = [], keys = []] = [true, false].map((isProfile) =>
        items.filter(({ sk }) => (sk === 'CLIENT') === isProfile),
      )
      const keysOf = Map.groupBy(keys, ({ pk }) => pk)
      return inOrder(z.array(ClientProfile).parse(profiles)).map((profile) => ({
        ...profile,
        keys: z.array(ApiKey).parse(keysOf.get(profileKey(profile.clientId).pk) ?? []),
      }))
    },

    /** Adds a client; returns false if a client with the same id exists. */
    create: (client: ClientProfile): Promise<boolean> => table.add(ClientProfile, profileKey(client.clientId), client),

    /** Adds an API key to a client; returns false if the client has a key with this id. */
    putKey: (clientId: string, key: ApiKey): Promise<boolean> => table.add(ApiKey, apiKeyKey(clientId, key.keyId), key),

    /** Replaces the limits of an API key; does nothing if the client has no such key. */
    async putLimits(clientId: string, keyId: string, limits: KeyLimits): Promise<void> {
      const changes = [set('limits', KeyLimits.encode(limits))]
      await table.update(apiKeyKey(clientId, keyId), { changes, when: exists('pk') })
    },

    /** Marks an API key as revoked at this time. Returns false if the client has no such key, or if the key is revoked already. */
    revokeKey: (clientId: string, keyId: string, revokedAt: Date): Promise<boolean> =>
      table.update(apiKeyKey(clientId, keyId), {
        changes: [set('revokedAt', Timestamp.encode(revokedAt))],
        when: all(exists('pk'), missing('revokedAt')),
      }),

    /**
     * Adds a vault to a client, and to the list of all vaults on the chain, which keeps the latest description. Returns false if the client
     * has the vault already.
     */
    async putVault(clientId: string, vault: Vault): Promise<boolean> {
      const item = buildItem(Vault, clientVaultKey(clientId, vault.chainId, vault.address), vault)
      const refused = await table.transact([{ put: item, when: missing('pk') }, ...buildListingWrites(clientId, vault)])
      return refused.length === 0
    },

    /**
     * Removes a vault from a client. If no other client has the vault, also removes it from the list of all vaults on the chain, and
     * `isLast` is true. Returns undefined if the client does not have the vault.
     */
    async removeVault(clientId: string, vault: VaultKey): Promise<{ readonly isLast: boolean } | undefined> {
      const clients = vaultClientsKey(vault)
      for (;;) {
        const [clientIds = []] = await listed.listClientsOf([vault])
        const isListed = clientIds.includes(clientId)
        const isLast = isListed && clientIds.length === 1
        const refused = await table.transact([
          { delete: clientVaultKey(clientId, vault.chainId, vault.address), when: exists('pk') },
          ...(isListed && !isLast
            ? [{ update: clients, changes: [removeElements('clients', clientId)], when: sizeIs('clients', '>', 1) }]
            : []),
          ...(isLast
            ? [{ delete: clients, when: is('clients', '=', new Set([clientId])) }, { delete: chainVaultKey(vault) }]
            : []),
        ])
        if (refused.length === 0) return { isLast }
        if (refused.includes(0)) return undefined
        // Another command added or removed the vault for another client meanwhile. The next try reads the list of the vault's clients
        // again.
      }
    },

    /** Returns the description of a vault if at least one client has it, else undefined. */
    async getVaultOnChain(key: VaultKey): Promise<VaultOnChain | undefined> {
      const [vault] = await table.getMany(VaultOnChain, [chainVaultKey(key)])
      return vault
    },
  }
}

function inOrder(profiles: readonly ClientProfile[]): ClientProfile[] {
  return profiles.toSorted((left, right) => left.createdAt.getTime() - right.createdAt.getTime())
}

/** Store that `clientsAdminStore` returns. */
export type ClientsAdminStore = ReturnType<typeof clientsAdminStore>
