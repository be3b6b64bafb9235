import { type Address, zeroAddress } from 'viem'
import * as z from 'zod'
import { addElements, any, beginsWith, exists, is } from '../aws/conditions.ts'
import type { OperatorTable } from '../aws/operator-table.ts'
import type { ItemKey, Write } from '../aws/requests.ts'
import { buildItem, parseItem, type Table } from '../aws/table.ts'
import { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { type VaultKey, vaultPartition } from '../vaults/vault.ts'

const Keyed = z.looseObject({ pk: z.string(), sk: z.string() })
const VaultClients = z.object({ clients: z.set(z.string()) })

/** Range of addresses, ordered as numbers. `from` and `to` are inclusive. */
export type AddressRange = { readonly from: Address; readonly to: Address }

const ALL_ADDRESSES: AddressRange = { from: zeroAddress, to: `0x${'f'.repeat(40)}` }

/** A client's vault that is missing from its chain's list of vaults, or whose list of clients lacks the client. */
type UnlistedVault = { readonly key: ItemKey; readonly clientId: string; readonly vault: VaultOnChain }

/**
 * Store of all clients' vaults, in the table of clients. A chain's partition has each vault once. A vault's partition
 * has the ids of its clients. Operators write both with admin/clients.ts. Methods throw if the table cannot be reached
 * or an item does not match its schema.
 */
export function listedVaultsStore(table: Table) {
  return {
    /** Lists the vaults of all clients on a chain, each once, ordered by address. `from` and `to` restrict the addresses. */
    async list(chainId: number, { from, to }: AddressRange = ALL_ADDRESSES): Promise<VaultOnChain[]> {
      const [first, last] = [chainVaultKey({ chainId, address: from }), chainVaultKey({ chainId, address: to })]
      const range = { partition: first.pk, from: first.sk, to: last.sk }
      return await table.list(VaultOnChain, range, { isConsistent: false })
    },

    /** Returns a list of client ids for each vault, in the order of the vaults. Each request reads 100 vaults. */
    async listClientsOf(vaults: readonly VaultKey[]): Promise<(readonly string[])[]> {
      const items = await table.getMany(VaultClients, vaults.map(vaultClientsKey))
      return items.map((item) => [...(item?.clients ?? [])].toSorted())
    },
  }
}
export type ListedVaultsStore = ReturnType<typeof listedVaultsStore>

/** Builds the tool that repairs the chains' lists of vaults and the vaults' lists of clients. It scans the whole table. */
export function createVaultLister(table: OperatorTable) {
  async function findUnlisted(): Promise<UnlistedVault[]> {
    const keys = new Set<string>()
    const copies: UnlistedVault[] = []
    const filter = any(beginsWith('sk', 'VAULT#'), is('sk', '=', 'CLIENTS'))
    for await (const page of table.scan(Keyed, { filter })) {
      for (const item of page) {
        const { pk, sk } = item
        const [kind, clientId = ''] = pk.split('#')
        if (kind === 'CLIENT') copies.push({ key: { pk, sk }, clientId, vault: parseItem(VaultOnChain, item) })
        else if (kind === 'CHAIN') keys.add(`${pk} ${sk}`)
        else for (const client of parseItem(VaultClients, item).clients) keys.add(`${pk} ${client}`)
      }
    }
    return copies.filter(({ clientId, vault }) => {
      const { pk, sk } = chainVaultKey(vault)
      return !keys.has(`${pk} ${sk}`) || !keys.has(`${vaultClientsKey(vault).pk} ${clientId}`)
    })
  }

  return {
    /** Adds missing vaults to the lists, as after an upgrade or a partial restore. Returns the number of vaults added. */
    async relist(): Promise<number> {
      const unlisted = await findUnlisted()
      for (const { key, clientId, vault } of unlisted) {
        // The condition prevents these writes if the client has lost the vault since `findUnlisted` read it.
        await table.transact([{ check: key, when: exists('pk') }, ...buildListingWrites(clientId, vault)])
      }
      return unlisted.length
    },
  }
}

/**
 * Builds the writes for a new vault of a client. They add the vault to its chain's list of vaults, and the client to
 * the vault's list of clients.
 */
export function buildListingWrites(clientId: string, vault: VaultOnChain): Write[] {
  return [
    { update: vaultClientsKey(vault), changes: [addElements('clients', clientId)] },
    { put: buildItem(VaultOnChain, chainVaultKey(vault), vault) },
  ]
}

/** Returns the key of a vault in its chain's list of vaults, which is ordered by address. */
export function chainVaultKey({ chainId, address }: VaultKey) {
  return { pk: `CHAIN#${chainId}`, sk: `VAULT#${address.toLowerCase()}` }
}

/** Returns the key of the item that lists the clients of a vault. */
export function vaultClientsKey(vault: VaultKey) {
  return { pk: vaultPartition(vault), sk: 'CLIENTS' }
}
