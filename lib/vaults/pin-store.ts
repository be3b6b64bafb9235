import * as z from 'zod'
import { all, is, missing, remove, set } from '../aws/conditions.ts'
import { buildItem, type Table } from '../aws/table.ts'
import { StoredBlock } from '../chain/blocks.ts'
import type { BlockHeader } from '../chain/logs.ts'
import { Amount, Timestamp } from '../core/codecs.ts'
import { Pin } from './pin.ts'
import { type VaultKey, vaultPartition } from './vault.ts'

const Item = Pin.extend({ pk: z.string() })

/** Returns the store of pins, one item a vault for all clients. */
export function pinStore(table: Table) {
  return {
    /** Returns the pins of these vaults, in order; undefined for a vault without a pin. */
    async get(vaults: readonly VaultKey[]): Promise<(Pin | undefined)[]> {
      const items = await table.getMany(Item, vaults.map(pinKey))
      const byKey = new Map(items.map(({ pk, ...pin }) => [pk, pin]))
      return vaults.map((vault) => byKey.get(vaultPartition(vault)))
    },

    /** Pins a vault; false if it already has a pin. */
    add: (vault: VaultKey, pin: Pin): Promise<boolean> => table.add(Pin, pinKey(vault), pin),

    /** Replaces the pin of a vault. */
    replace: (vault: VaultKey, pin: Pin): Promise<void> => table.putMany([buildItem(Pin, pinKey(vault), pin)]),

    /** Updates the pinned price, unless the pin was replaced or the vault has changed. */
    async movePrice(vault: VaultKey, pin: Pin, price: bigint): Promise<void> {
      await table.update(pinKey(vault), {
        changes: [set('price', Amount.encode(price))],
        when: all(isSame(pin), missing('changedAt')),
      })
    },

    /** Marks a vault as changed, not yet reported to clients; false if the pin was replaced meanwhile. */
    markChanged: (vault: VaultKey, pin: Pin, changedAt: Date, seenAt: BlockHeader): Promise<boolean> =>
      table.update(pinKey(vault), {
        changes: [set('changedAt', Timestamp.encode(changedAt)), set('unpublishedChange', StoredBlock.encode(seenAt))],
        when: isSame(pin),
      }),

    /** Marks a vault's change as reported to clients. */
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
