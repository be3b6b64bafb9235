import { depositResponse } from '../../../lib/activity/entry-responses.ts'
import { buildDeposits } from '../../../lib/activity/history.ts'
import { readHistoryPage } from '../../../lib/activity/history-page.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { getReader, getYield, now, records, type Services, sources } from '../../../lib/services.ts'
import { contract } from './contract.ts'

function listDeposits({
  sources,
  ...dependencies
}: Services<'getReader' | 'records' | 'sources' | 'getYield' | 'now'>) {
  return async ({ client, path, query }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { page, items } = await readHistoryPage(
      dependencies,
      { name: 'deposits', build: ({ entries, live }) => buildDeposits(entries, live) },
      { client, account: path.userAddress },
      query,
    )
    const sourceOf = await sources.list(items.map(({ item }) => item.entry))
    return {
      ...page,
      deposits: items.map(({ ofVault, item, annualYield }) =>
        depositResponse(ofVault, item, annualYield, sourceOf(item.entry)),
      ),
    }
  }
}

export const handler = endpoint(contract, { getReader, records, sources, getYield, now }, listDeposits)
