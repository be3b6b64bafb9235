import { DeleteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb'
import { documentClient } from '../../lib/aws/dynamo.ts'
import { sharedCache } from '../../lib/cache/cache.ts'
import { cacheStore } from '../../lib/cache/store.ts'
import { localConfig } from '../../sandbox/dynamo.ts'
import { someContext } from './lambda.ts'
import { chainlessTest, type Service } from './service.ts'

/** Tests of the running service with local sources of market data and an empty cache. */
export const test = chainlessTest
  .extend('cacheClient', { scope: 'file' }, ({ sharedService }, { onCleanup }) => {
    const client = documentClient(localConfig(sharedService.backends.dynamo.endpoint))
    onCleanup(() => client.destroy())
    return client
  })
  .extend('markets', async ({ service, cacheClient }) => {
    const { coinGecko, defiLlama, liFi } = service.backends.providers
    const fakes = [coinGecko, defiLlama, liFi]
    for (const fake of fakes) {
      fake.rewrite = undefined
      fake.requests.length = 0
    }
    const TableName = service.backends.dynamo.tableNames.cache
    const { Items = [] } = await cacheClient.send(new ScanCommand({ TableName }))
    for (const { pk, sk } of Items) await cacheClient.send(new DeleteCommand({ TableName, Key: { pk, sk } }))
    return {
      coinGecko,
      defiLlama,
      liFi,
      /** What all of them were asked, without their prefixes. */
      asked: () => fakes.flatMap(({ requests }) => requests),
      /** The cache, written to behind the service's back; `now` in epoch milliseconds. */
      cacheAt: (now = Date.now()) => sharedCache({ table: cacheStore(cacheClient, TableName), now: () => now }),
      /** Runs both jobs once, in containers that have started by now. */
      async refresh() {
        for (const job of ['refresh-tokens', 'refresh-market']) {
          const { handler } = await import(`../../functions/jobs/${job}/handler.ts`)
          await handler({}, someContext())
        }
        for (const fake of fakes) fake.requests.length = 0
      },
    }
  })

/** The answer of the service to a GET below /portfolio-indexor. */
export const get = (service: Service, path: string) => service.call('GET', `/portfolio-indexor${path}`)
