import { buildWithdrawalResponse } from '../../../lib/activity/entry-responses.ts'
import { readHistoryPage } from '../../../lib/activity/history-page.ts'
import { buildWithdrawals } from '../../../lib/activity/withdrawals.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { getReader, getYield, now, records, type Services } from '../../../lib/services.ts'
import { contract } from './contract.ts'

function listWithdrawals(dependencies: Services<'getReader' | 'records' | 'getYield' | 'now'>) {
  return async ({ client, path, query }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const { page, items } = await readHistoryPage(
      dependencies,
      { name: 'withdrawals', build: ({ entries, live }) => buildWithdrawals(entries, live) },
      { client, account: path.userAddress },
      query,
    )
    return {
      ...page,
      withdrawals: items.map(({ ofVault, item, annualYield }) => buildWithdrawalResponse(ofVault, item, annualYield)),
    }
  }
}

export const handler = endpoint(contract, { getReader, records, getYield, now }, listWithdrawals)
