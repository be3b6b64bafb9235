import { describe, expect } from 'vitest'
import { expectError } from '../../support/errors.ts'
import { requestPortfolio, test } from '../../support/market-service.ts'
import type { Service } from '../../support/service.ts'

/** Ways in which DynamoDB leaves all items of a batch unprocessed. */
const FAILS: Record<string, (service: Service) => void> = {
  'refuses them': ({ table }) => {
    table.throttles = ({ action }) => action === 'BatchGetItem'
  },
  'leaves all of them unprocessed': ({ table }) => {
    table.leavesUndone = ({ action }) => action === 'BatchGetItem'
  },
}

describe('A cache that serves no batch of reads', () => {
  test.for(Object.entries(FAILS))(
    'and %s is a temporary error after fewer retries than in jobs',
    async ([, fail], { coldService: service, markets: _ }) => {
      fail(service)
      for (const path of ['/markets', '/markets/coins/bitcoin']) {
        service.table.tries.length = 0
        expectError(await requestPortfolio(service, path), 'service_unavailable')
        const batches = service.table.tries.filter(({ action }) => action === 'BatchGetItem')
        expect(batches.length).toBeLessThanOrEqual(10)
      }
    },
  )
})
