import { readAccountVaults } from '../../../lib/activity/account-vaults.ts'
import { buildDeposits } from '../../../lib/activity/history.ts'
import { buildSortKey } from '../../../lib/activity/ledger-entry.ts'
import { depositResponse } from '../../../lib/activity/responses.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import type { Services } from '../../../lib/services.ts'
import { yieldText } from '../../../lib/vaults/apy.ts'
import type { contract } from './contract.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'

type Dependencies = Services<'getReader' | 'records' | 'sources' | 'getYield' | 'now'>

export function listDeposits({ getYield, sources, ...dependencies }: Dependencies) {
  return async ({ client, path, query }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { userAddress: account } = path
    const { limit, cursor, vaultAddress, chainId, status } = query
    const list = JSON.stringify([client.clientId, account, vaultAddress, chainId, status])
    const before = cursor === undefined ? undefined : decodeCursor(cursor, list)

    const vaults = client.vaults.filter(
      (vault) => (vaultAddress ?? vault.address) === vault.address && (chainId ?? vault.chainId) === vault.chainId,
    )
    const { vaults: read, errors } = await readAccountVaults(dependencies, vaults, account)
    const matching = read
      .flatMap((ofVault) => buildDeposits(ofVault.entries, ofVault.live).map((deposit) => ({ ofVault, deposit })))
      .map((found) => ({ ...found, sortKey: buildSortKey(found.deposit.entry) }))
      .filter(({ deposit }) => (status ?? deposit.status) === deposit.status)
      .toSorted((left, right) => (left.sortKey < right.sortKey ? 1 : -1))

    const rest = matching.filter(({ sortKey }) => before === undefined || sortKey < before)
    const page = rest.slice(0, limit)
    const sourceOf = await sources.list(page.map(({ deposit }) => deposit.entry))
    const last = page.at(-1)
    const hasMore = rest.length > page.length
    return {
      userAddress: account,
      totalRecords: matching.length,
      hasMore,
      nextCursor: hasMore && last ? encodeCursor(last.sortKey, list) : null,
      deposits: await Promise.all(
        page.map(async ({ ofVault, deposit }) =>
          depositResponse(
            ofVault,
            deposit,
            yieldText(await getYield(ofVault.vault, ofVault.live.sharePrice, ofVault.asOf)),
            sourceOf(deposit.entry),
          ),
        ),
      ),
      errors,
    }
  }
}
