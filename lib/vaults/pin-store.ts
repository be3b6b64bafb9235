import { all, is, missing, remove, set } from '../aws/conditions.ts'
import { buildItem, type Table } from '../aws/table.ts'
import { StoredBlock } from '../chain/blocks.ts'
import type { BlockHeader } from '../chain/logs.ts'
import { Amount, Timestamp } from '../core/codecs.ts'
import { Pin } from './pin.ts'
import { type VaultKey, vaultPartition } from './vault.ts'

/** Returns the store of pins, the approved code addresses and price of each vault. One item per vault serves all API clients. */
export function pinStore(table: Table) {
  return {
    /** Returns the pins (approved code and price) of these vaults, in the same order; undefined for a vault without a pin. */
    get: (vaults: readonly VaultKey[]): Promise<(Pin | undefined)[]> => table.getMany(Pin, vaults.map(pinKey)),

    /** Stores a vault's pin (approved code and price). Returns false if the vault already has a pin. */
    add: (vault: VaultKey, pin: Pin): Promise<boolean> => table.add(Pin, pinKey(vault), pin),

    /** Replaces a vault's pin (approved code and price) after an operator confirmed the vault's new state. */
    replace: (vault: VaultKey, pin: Pin): Promise<void> => table.putMany([buildItem(Pin, pinKey(vault), pin)]),

    /**
     * Updates the approved price of a vault. Changes nothing if an operator replaced the pin meanwhile, or if the vault
     * is marked as changed.
     */
    async movePrice(vault: VaultKey, pin: Pin, price: bigint): Promise<void> {
      await table.update(pinKey(vault), {
        changes: [set('price', Amount.encode(price))],
        when: all(isSame(pin), missing('changedAt')),
      })
    },

    /**
     * Marks a vault as different from its pin, the approved code and price; clients must still be notified. Returns
     * false if an operator replaced the pin meanwhile.
     */
    markChanged: (vault: VaultKey, pin: Pin, changedAt: Date, seenAt: BlockHeader): Promise<boolean> =>
      table.update(pinKey(vault), {
        changes: [set('changedAt', Timestamp.encode(changedAt)), set('unpublishedChange', StoredBlock.encode(seenAt))],
        when: isSame(pin),
      }),

    /** Records that clients were notified of a vault's change. */
    async markPublished(vault: VaultKey, pin: Pin): Promise<void> {
      await table.update(pinKey(vault), { changes: [remove('unpublishedChange')], when: isSame(pin) })
    },
  }
}
export type PinStore = ReturnType<typeof pinStore>

function pinKey(vault: VaultKey) {
  return { pk: vaultPartition(vault), sk: 'PIN' }
}

function isSame({ pinnedAt }: Pin) {
  return is('pinnedAt', '=', Timestamp.encode(pinnedAt))
}
