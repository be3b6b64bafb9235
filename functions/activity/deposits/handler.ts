import { decodeCursor, encodeCursor } from '../../../lib/activity/cursor.ts'
import { buildDeposits } from '../../../lib/activity/history.ts'
import { sortKeyOf } from '../../../lib/activity/ledger-entry.ts'
import { readUserVaults } from '../../../lib/activity/read.ts'
import { depositResponse } from '../../../lib/activity/responses.ts'
import { type DepositSources, depositSources } from '../../../lib/activity/source.ts'
import { type RecordsStore, recordsStore } from '../../../lib/activity/store.ts'
import { yieldsOf } from '../../../lib/activity/yields.ts'
import { dynamo } from '../../../lib/aws/dynamo.ts'
import type { ChainReader } from '../../../lib/chain/reader.ts'
import { apiKey } from '../../../lib/frame/api-key.ts'
import { readConfig, readersOf } from '../../../lib/frame/config.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { yieldText } from '../../../lib/vaults/apy.ts'
import { contract } from './contract.ts'

type Dependencies = {
  readerOf: (chainId: number) => ChainReader
  records: RecordsStore
  sources: Pick<DepositSources, 'list'>
  yieldOf: ReturnType<typeof yieldsOf>
  /** Epoch milliseconds. */
  now: () => number
}

const deposits =
  ({ yieldOf, sources, ...dependencies }: Dependencies) =>
  async ({ client, path, query }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { userAddress: user } = path
    const { limit, cursor, vaultAddress, chainId, status } = query
    const list = JSON.stringify([client.clientId, user, vaultAddress, chainId, status])
    const before = cursor === undefined ? undefined : decodeCursor(cursor, list)

    const vaults = client.vaults.filter(
      (vault) => (vaultAddress ?? vault.address) === vault.address && (chainId ?? vault.chainId) === vault.chainId,
    )
    const { vaults: read, errors } = await readUserVaults(dependencies, vaults, user)
    const matching = read
      .flatMap((ofVault) =>
        buildDeposits(ofVault.entries, ofVault.live).map((deposit) => ({
          ofVault,
          deposit: deposit,
          sortKey: sortKeyOf(deposit.entry),
        })),
      )
      .filter(({ deposit }) => (status ?? deposit.status) === deposit.status)
      .toSorted((left, right) => (left.sortKey < right.sortKey ? 1 : -1))

    const rest = before === undefined ? matching : matching.filter(({ sortKey }) => sortKey < before)
    const page = rest.slice(0, limit)
    const sourceOf = await sources.list(page.map(({ deposit }) => deposit.entry))
    const last = page.at(-1)
    const hasMore = rest.length > page.length
    return {
      userAddress: user,
      totalRecords: matching.length,
      hasMore,
      nextCursor: hasMore && last ? encodeCursor(last.sortKey, list) : null,
      deposits: await Promise.all(
        page.map(async ({ ofVault, deposit }) =>
          depositResponse(
            ofVault,
            deposit,
            yieldText(await yieldOf(ofVault.vault, ofVault.live.sharePrice, ofVault.asOf)),
            sourceOf(deposit.entry),
          ),
        ),
      ),
      ...(Object.keys(errors).length > 0 && { errors }),
    }
  }

export const handler = endpoint(
  contract,
  async (env) => {
    const records = recordsStore(dynamo(), env.DEPOSITS_TABLE)
    return deposits({
      readerOf: readersOf(await readConfig(env)),
      records,
      sources: depositSources(dynamo(), env.DEPOSITS_TABLE),
      yieldOf: yieldsOf({ records, now: Date.now }),
      now: Date.now,
    })
  },
  apiKey,
)
