import type { Address } from 'viem'
import type * as z from 'zod'
import { cutPage, decodeCursor } from '../core/cursor.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import type { Yields } from '../vaults/apy.ts'
import type { Vault } from '../vaults/vault.ts'
import { type AccountVault, readAccountVaults } from './account-vaults.ts'
import { buildSortKey, type HistoryStatus } from './ledger-entry.ts'
import type { HistoryQuery } from './responses.ts'

type Owner = {
  readonly client: { readonly clientId: string; readonly vaults: readonly Vault[] }
  readonly account: Address
}

type Item = { readonly entry: LedgerEntry; readonly status: HistoryStatus }

/**
 * A list of an account's deposits or withdrawals. `build` lists the items in one vault. `name` is part of pagination
 * cursors, so that a cursor fits only its own list.
 */
type History<I extends Item> = {
  readonly name: string
  readonly build: (ofVault: AccountVault) => readonly I[]
}

/**
 * Reads a page of an account's deposits or withdrawals, newest first over all vaults that match, with each vault's
 * yield. Throws `invalid_cursor` for a cursor of another list, and the errors of `readAccountVaults`.
 */
export async function readHistoryPage<I extends Item>(
  {
    getYield,
    ...dependencies
  }: Parameters<typeof readAccountVaults>[0] & {
    readonly getYield: (vault: Vault, sharePrice: bigint, at: Date) => Promise<Yields>
  },
  { name, build }: History<I>,
  { client, account }: Owner,
  { limit, cursor, vaultAddress, chainId, status }: z.output<typeof HistoryQuery>,
) {
  const list = JSON.stringify([name, client.clientId, account, vaultAddress, chainId, status])
  const after = cursor === undefined ? undefined : decodeCursor(cursor, list)

  const vaults = client.vaults.filter(
    (vault) => (vaultAddress ?? vault.address) === vault.address && (chainId ?? vault.chainId) === vault.chainId,
  )
  const { vaults: read, errors, evidence } = await readAccountVaults(dependencies, vaults, account)
  const matching = read
    .flatMap((ofVault) => build(ofVault).map((item) => ({ ofVault, item, sortKey: buildSortKey(item.entry) })))
    .filter(({ item }) => (status ?? item.status) === item.status)
  const { onPage, page } = cutPage(matching, { list, order: 'descending', after, limit })
  return {
    page: { userAddress: account, ...page, errors, evidence: [...evidence] },
    items: await Promise.all(
      onPage.map(async ({ ofVault, item }) => {
        const { vault, live, asOf } = ofVault
        const { annualYield } = await getYield(vault, live.sharePrice, asOf)
        return { ofVault, item, annualYield }
      }),
    ),
  }
}
