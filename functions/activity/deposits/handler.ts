import { buildDepositResponse } from '../../../lib/activity/entry-responses.ts'
import { buildDeposits } from '../../../lib/activity/history.ts'
import { readHistoryPage } from '../../../lib/activity/history-page.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { depositSources, getReader, getYield, now, records } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(
  contract,
  { getReader, records, depositSources, getYield, now },
  ({ depositSources, ...dependencies }) =>
    async ({ client, path, query }) => {
      const { page, items } = await readHistoryPage(
        dependencies,
        { name: 'deposits', build: ({ entries, live }) => buildDeposits(entries, live) },
        { client, account: path.userAddress },
        query,
      )
      const sourceOf = await depositSources.list(items.map(({ item }) => item.entry))
      return {
        ...page,
        deposits: items.map(({ ofVault, item, annualYield }) =>
          buildDepositResponse(ofVault, item, annualYield, sourceOf(item.entry)),
        ),
      }
    },
)
