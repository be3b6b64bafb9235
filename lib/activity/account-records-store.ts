import type { Address } from 'viem'
import * as z from 'zod'
import type { Table } from '../aws/table.ts'
import type { VaultKey } from '../vaults/vault.ts'
import { entryPrefix } from './ledger-entry.ts'

/** The most vaults in which an account is looked for, with one query each. */
const MAX_VAULTS = 10

/** The table of what happened to users in vaults, for those who ask only whether anything did. */
export function accountRecordsStore(table: Table) {
  return {
    /** Whether anything is recorded of an account in the first ten of these vaults. */
    async has(account: Address, vaults: readonly VaultKey[]): Promise<boolean> {
      const found = await Promise.all(
        vaults.slice(0, MAX_VAULTS).map(async ({ chainId, address }) => {
          const range = { partition: `ACCOUNT#${account}`, prefix: entryPrefix(chainId, address) }
          const { items } = await table.getPage(z.unknown(), range, { limit: 1, isConsistent: false })
          return items.length > 0
        }),
      )
      return found.includes(true)
    },
  }
}
