import type { Address } from 'viem'
import type { Table } from '../aws/table.ts'
import type { VaultKey } from '../vaults/vault.ts'
import { hasRecorded } from './recorded-events.ts'

/** Only the first ten vaults are searched, with one query each. */
const MAX_VAULTS = 10

/** Tells whether accounts have used vaults. */
export function accountRecordsStore(table: Table) {
  return {
    /** Returns true if an account has recorded events in one of the first ten of these vaults. */
    async has(account: Address, vaults: readonly VaultKey[]): Promise<boolean> {
      const found = await Promise.all(vaults.slice(0, MAX_VAULTS).map((vault) => hasRecorded(table, account, vault)))
      return found.includes(true)
    },
  }
}
