import { describe, expect, vi } from 'vitest'
import { expectError } from '../../support/errors.ts'
import { test as base, get } from '../../support/market-service.ts'
import type { Service } from '../../support/service.ts'

/** How DynamoDB does nothing of a batch. */
const FAILS: Record<string, (service: Service) => void> = {
  'refuses them': ({ table }) => {
    table.throttles = (action) => action === 'BatchGetItem'
  },
  'leaves all of them undone': ({ table }) => {
    table.rewrite = (answer, request) => {
      if (!('Responses' in JSON.parse(answer))) return answer
      return JSON.stringify({ Responses: {}, UnprocessedKeys: JSON.parse(request).RequestItems })
    }
  },
}

const test = base.extend('patience', async ({ markets: _ }, { onCleanup }) => {
  // The client waits a random part of a second before it asks again.
  const random = vi.spyOn(Math, 'random').mockReturnValue(0)
  onCleanup(() => random.mockRestore())
})

describe('A cache that takes no batch of reads', () => {
  test.for(Object.entries(FAILS))(
    'and %s is said to be the trouble, which passes, without the patience of jobs',
    async ([, fail], { coldService: service, patience: _ }) => {
      fail(service)
      for (const path of ['/markets', '/markets/coins/bitcoin']) {
        service.table.actions.length = 0
        expectError(await get(service, path), 'service_unavailable')
        const batches = service.table.actions.filter(({ action }) => action === 'BatchGetItem')
        expect(batches.length).toBeLessThanOrEqual(10)
      }
    },
  )
})
