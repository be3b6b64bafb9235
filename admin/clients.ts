import * as z from 'zod'
import { all, any, beginsWith, type Condition, exists, is, missing, set, sizeIs, take } from '../lib/aws/conditions.ts'
import type { OperatorTable } from '../lib/aws/operator-table.ts'
import { buildItem } from '../lib/aws/table.ts'
import { ApiKey } from '../lib/clients/client.ts'
import { KeyLimits } from '../lib/clients/key-limits.ts'
import {
  buildListingWrites,
  chainVaultKey,
  listedVaultsStore,
  vaultClientsKey,
  vaultLister,
} from '../lib/clients/listed-vaults-store.ts'
import { apiKeyKey, clientsStore, Profile, profileKey, vaultKey } from '../lib/clients/store.ts'
import { Timestamp } from '../lib/codecs.ts'
import { VaultOnChain } from '../lib/protocols/vault-on-chain.ts'
import { Vault, type VaultKey } from '../lib/vaults/vault.ts'

const StoredKey = z.looseObject({ pk: z.string(), sk: z.string() })

/** The table of clients, read as the service reads it and written. Every method throws when the table cannot be reached or an item does not parse. */
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
    relistVaults: vaultLister(table).relist,

    /** All clients, without their vaults, oldest first; reads the whole table. */
    async list(): Promise<Profile[]> {
      return inOrder(z.array(Profile).parse(await scan(is('sk', '=', 'CLIENT'))))
    },

    /** All clients with their keys, without their vaults, oldest first; reads the whole table. */
    async listWithKeys(): Promise<(Profile & { readonly keys: readonly ApiKey[] })[]> {
      const items = await scan(any(is('sk', '=', 'CLIENT'), beginsWith('sk', 'KEY#')))
      const [profiles = [], keys = []] = [true, false].map((isProfile) =>
        items.filter(({ sk }) => (sk === 'CLIENT') === isProfile),
      )
      const keysOf = Map.groupBy(keys, ({ pk }) => pk)
      return inOrder(z.array(Profile).parse(profiles)).map((profile) => ({
        ...profile,
        keys: z.array(ApiKey).parse(keysOf.get(profileKey(profile.clientId).pk) ?? []),
      }))
    },

    /** Adds a client; false when its id is taken. */
    create: (client: Profile): Promise<boolean> => table.add(Profile, profileKey(client.clientId), client),

    /** Adds a key to a client; false when the client has a key with this id. */
    putKey: (clientId: string, key: ApiKey): Promise<boolean> => table.add(ApiKey, apiKeyKey(clientId, key.keyId), key),

    /** Replaces what a key may do; nothing happens where there is no such key. */
    async putLimits(clientId: string, keyId: string, limits: KeyLimits): Promise<void> {
      const changes = [set('limits', KeyLimits.encode(limits))]
      await table.update(apiKeyKey(clientId, keyId), { changes, when: exists('pk') })
    },

    /** Marks a key as revoked at this moment; false when there is no such key or it is revoked already. */
    revokeKey: (clientId: string, keyId: string, revokedAt: Date): Promise<boolean> =>
      table.update(apiKeyKey(clientId, keyId), {
        changes: [set('revokedAt', Timestamp.encode(revokedAt))],
        when: all(exists('pk'), missing('revokedAt')),
      }),

    /**
     * Adds a vault to a client, and to what is listed of its chain, as the chain told it last; false when the client has it
     * already.
     */
    async putVault(clientId: string, vault: Vault): Promise<boolean> {
      const item = buildItem(Vault, vaultKey(clientId, vault.chainId, vault.address), vault)
      const refused = await table.transact([{ put: item, when: missing('pk') }, ...buildListingWrites(clientId, vault)])
      return refused.length === 0
    },

    /**
     * Takes a vault from a client, and from what is listed of its chain where no other client has it: then `isLast`. Undefined
     * when the client does not have it.
     */
    async removeVault(clientId: string, vault: VaultKey): Promise<{ readonly isLast: boolean } | undefined> {
      const clients = vaultClientsKey(vault)
      for (;;) {
        const [clientIds = []] = await listed.listClientsOf([vault])
        const isListed = clientIds.includes(clientId)
        const isLast = isListed && clientIds.length === 1
        const refused = await table.transact([
          { delete: vaultKey(clientId, vault.chainId, vault.address), when: exists('pk') },
          ...(isListed && !isLast
            ? [{ update: clients, changes: [take('clients', clientId)], when: sizeIs('clients', '>', 1) }]
            : []),
          ...(isLast
            ? [{ delete: clients, when: is('clients', '=', new Set([clientId])) }, { delete: chainVaultKey(vault) }]
            : []),
        ])
        if (refused.length === 0) return { isLast }
        if (refused.includes(0)) return undefined
        // Others have been given the vault since, or have lost it.
      }
    },

    /** A vault that any client has; undefined where none has. */
    async getVaultOnChain(key: VaultKey): Promise<VaultOnChain | undefined> {
      const [vault] = await table.getMany(VaultOnChain, [chainVaultKey(key)])
      return vault
    },
  }
}

function inOrder(profiles: readonly Profile[]): Profile[] {
  return profiles.toSorted((left, right) => left.createdAt.getTime() - right.createdAt.getTime())
}

/** What `clientsAdminStore` gives. */
export type ClientsAdminStore = ReturnType<typeof clientsAdminStore>
