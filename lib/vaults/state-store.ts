import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { getItems, putItems } from '../aws/dynamo.ts'
import { Evidence } from '../chain/evidence.ts'
import type { RecordedState } from './recorded-state.ts'
import type { VaultKey } from './vault.ts'
import { vaultPartition } from './vault.ts'
import { StateAsOf, VaultState } from './vault-state.ts'

const Item = z.object({
  pk: z.string(),
  state: VaultState,
  ...StateAsOf.omit({ stale: true }).shape,
  told: Evidence.pick({ blockHash: true, nodes: true }).optional(),
})
const SORT_KEY = 'STATE'

/** The last state that was read of each vault, for when its chain cannot be read. */
export function stateStore(client: DynamoDBDocumentClient, tableName: string) {
  return {
    /** The last states of these vaults, in order; undefined where none was ever recorded. */
    async get(vaults: readonly VaultKey[]): Promise<(RecordedState | undefined)[]> {
      const keys = vaults.map((vault) => ({ pk: vaultPartition(vault), sk: SORT_KEY }))
      const items = z.array(Item).parse(await getItems(client, tableName, keys))
      const byKey = new Map(items.map(({ pk, state, told, ...asOf }) => [pk, { state, asOf, told }]))
      return vaults.map((vault) => byKey.get(vaultPartition(vault)))
    },

    /** Records states in the place of the last ones. Its callers see to it that they are newer. */
    async record(states: readonly (readonly [VaultKey, RecordedState])[]): Promise<void> {
      await putItems(
        client,
        tableName,
        states.map(([vault, { state, asOf, told }]) => {
          const pk = vaultPartition(vault)
          return { ...z.encode(Item, { pk, state, ...asOf, told }), pk, sk: SORT_KEY }
        }),
      )
    },
  }
}
export type StateStore = ReturnType<typeof stateStore>
