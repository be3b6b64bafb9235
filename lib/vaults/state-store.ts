import * as z from 'zod'
import { buildItem, type Table } from '../aws/table.ts'
import { Evidence } from '../chain/evidence.ts'
import { StateAsOf, VaultState } from '../protocols/vault-state.ts'
import type { RecordedState } from './recorded-state.ts'
import type { VaultKey } from './vault.ts'
import { vaultPartition } from './vault.ts'

const Item = z.object({
  state: VaultState,
  ...StateAsOf.omit({ stale: true }).shape,
  told: Evidence.pick({ blockHash: true, nodes: true }).optional(),
})

/** Returns the store of vaults' last read states. The API shows these states while a chain cannot be read. */
export function stateStore(table: Table) {
  return {
    /** Returns the last recorded states of these vaults, in their order; undefined for a vault without one. */
    async get(vaults: readonly VaultKey[]): Promise<(RecordedState | undefined)[]> {
      const items = await table.getMany(Item, vaults.map(stateKey))
      return items.map((item) => {
        if (!item) return undefined
        const { state, told, ...asOf } = item
        return { state, asOf, told }
      })
    },

    /** Replaces stored states. The caller must ensure that the new states are newer than the stored ones. */
    async record(states: readonly (readonly [VaultKey, RecordedState])[]): Promise<void> {
      await table.putMany(
        states.map(([vault, { state, asOf, told }]) => buildItem(Item, stateKey(vault), { state, ...asOf, told })),
      )
    },
  }
}
export type StateStore = ReturnType<typeof stateStore>

function stateKey(vault: VaultKey) {
  return { pk: vaultPartition(vault), sk: 'STATE' }
}
