import { buildWithdrawalResponse } from '../../../lib/activity/entry-responses.ts'
import { readHistoryPage } from '../../../lib/activity/history-page.ts'
import { buildWithdrawals } from '../../../lib/activity/withdrawals.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { getReader, getYield, now, records } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(
  contract,
  { getReader, records, getYield, now },
  (services) =>
    async ({ client, path, query }) => {
      const { page, items } = await readHistoryPage(
        services,
        { name: 'withdrawals', build: ({ entries, live }) => buildWithdrawals(entries, live) },
        { client, account: path.userAddress },
        query,
      )
      return {
        ...page,
        withdrawals: items.map(({ ofVault, item, annualYield }) => buildWithdrawalResponse(ofVault, item, annualYield)),
      }
    },
)
