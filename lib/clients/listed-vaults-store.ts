import { type Address, zeroAddress } from 'viem'
import * as z from 'zod'
import type { Table } from '../aws/table.ts'
import { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { type VaultKey, vaultPartition } from '../vaults/vault.ts'

const VaultClientsItem = z.object({ pk: z.string(), clients: z.set(z.string()) })

/** Addresses by their numbers, both included. */
export type AddressRange = { readonly from: Address; readonly to: Address }

const ALL_ADDRESSES: AddressRange = { from: zeroAddress, to: `0x${'f'.repeat(40)}` }

/**
 * The vaults of all clients, in the table of clients: a chain's partition holds each vault once, however many clients have it, and
 * a vault's own which clients those are. Operators write both with the clients' own (admin/clients.ts). Every method throws when
 * the table cannot be reached or an item does not parse.
 */
export function listedVaultsStore(table: Table) {
  return {
    /**
     * Each vault that any client has on this chain, once, in the order of their addresses; of those from one address to
     * another, both included, where such are given.
     */
    async list(chainId: number, { from, to }: AddressRange = ALL_ADDRESSES): Promise<VaultOnChain[]> {
      const [first, last] = [chainVaultKey({ chainId, address: from }), chainVaultKey({ chainId, address: to })]
      const range = { partition: first.pk, from: first.sk, to: last.sk }
      return await table.list(VaultOnChain, range, { isConsistent: false })
    },

    /** The ids of the clients that have each of these vaults, in their order. One request for a hundred. */
    async listClientsOf(vaults: readonly VaultKey[]): Promise<(readonly string[])[]> {
      const items = await table.getMany(VaultClientsItem, vaults.map(vaultClientsKey))
      const found = new Map(items.map(({ pk, clients }) => [pk, [...clients].toSorted()]))
      return vaults.map((vault) => found.get(vaultClientsKey(vault).pk) ?? [])
    },
  }
}
export type ListedVaultsStore = ReturnType<typeof listedVaultsStore>

/** The key of the item of a vault among those of its chain, which sorts by the number that an address is. */
export function chainVaultKey({ chainId, address }: VaultKey) {
  return { pk: `CHAIN#${chainId}`, sk: `VAULT#${address.toLowerCase()}` }
}

/** The key of the item with the ids of the clients that have a vault. */
export function vaultClientsKey(vault: VaultKey) {
  return { pk: vaultPartition(vault), sk: 'CLIENTS' }
}
