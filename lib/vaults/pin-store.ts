import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { getItems, putItems, putNew, updateItem } from '../aws/dynamo.ts'
import { StoredBlock } from '../chain/blocks.ts'
import type { BlockHeader } from '../chain/logs.ts'
import { Amount, Timestamp } from '../codecs.ts'
import { Pin } from './pin.ts'
import { type VaultKey, vaultPartition } from './vault.ts'

const Item = Pin.extend({ pk: z.string() })

/** What of each vault is pinned: one item a vault, whichever clients have it. */
export function pinStore(client: DynamoDBDocumentClient, tableName: string) {
  return {
    /** The pins of these vaults, in order; undefined for a vault of which nothing is pinned. */
    async get(vaults: readonly VaultKey[]): Promise<(Pin | undefined)[]> {
      const items = z.array(Item).parse(await getItems(client, tableName, vaults.map(pinKey)))
      const byKey = new Map(items.map(({ pk, ...pin }) => [pk, pin]))
      return vaults.map((vault) => byKey.get(vaultPartition(vault)))
    },

    /** Pins a vault; false where it is pinned already. */
    add: (vault: VaultKey, pin: Pin): Promise<boolean> =>
      putNew(client, tableName, { ...pinKey(vault), ...Pin.encode(pin) }),

    /** Pins a vault anew. */
    replace: (vault: VaultKey, pin: Pin): Promise<void> =>
      putItems(client, tableName, [{ ...pinKey(vault), ...Pin.encode(pin) }]),

    /** Moves a price along, unless the vault was pinned anew meanwhile or has changed. */
    async movePrice(vault: VaultKey, { pinnedAt }: Pin, price: bigint): Promise<void> {
      await updateItem(client, tableName, {
        key: pinKey(vault),
        set: ['price = :price'],
        condition: 'pinnedAt = :pinnedAt AND attribute_not_exists(changedAt)',
        ExpressionAttributeValues: { ':price': Amount.encode(price), ':pinnedAt': Timestamp.encode(pinnedAt) },
      })
    },

    /**
     * Says that a vault has changed, as was seen at a block, of which clients are not told yet; false where it was pinned
     * anew meanwhile.
     */
    async markChanged(vault: VaultKey, { pinnedAt }: Pin, changedAt: Date, seenAt: BlockHeader): Promise<boolean> {
      const updated = await updateItem(client, tableName, {
        key: pinKey(vault),
        set: ['changedAt = :changedAt', 'unpublishedChange = :seenAt'],
        condition: 'pinnedAt = :pinnedAt',
        ExpressionAttributeValues: {
          ':changedAt': Timestamp.encode(changedAt),
          ':seenAt': StoredBlock.encode(seenAt),
          ':pinnedAt': Timestamp.encode(pinnedAt),
        },
      })
      return updated !== null
    },

    /** Says that clients are told that a vault has changed. */
    async markPublished(vault: VaultKey, { pinnedAt }: Pin): Promise<void> {
      await updateItem(client, tableName, {
        key: pinKey(vault),
        remove: ['unpublishedChange'],
        condition: 'pinnedAt = :pinnedAt',
        ExpressionAttributeValues: { ':pinnedAt': Timestamp.encode(pinnedAt) },
      })
    },
  }
}
export type PinStore = ReturnType<typeof pinStore>

function pinKey(vault: VaultKey) {
  return { pk: vaultPartition(vault), sk: 'PIN' }
}
