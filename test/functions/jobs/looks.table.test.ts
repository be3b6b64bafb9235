import { expect } from 'vitest'
import { refreshChain } from '../../../functions/jobs/refresh-chain/handler.ts'
import { createCountingChain, createVirtualClock } from '../../support/counted.ts'
import { test as base } from '../../support/dynamo.ts'
import { createJobServices, someVaults, storeVaults } from '../../support/job.ts'
import { someWebhook } from '../../support/webhooks.ts'

const BASE = 8453
const [CLIENT, OTHER] = ['0000000001', '0000000002']

const test = base.extend('minute', ({ tables }) => {
  /**
   * Runs the job twice for a chain on which a client has this many vaults. Returns the second run's duration in seconds
   * and its number of requests to the node.
   */
  return async ({ vaults, webhook }: { vaults: number; webhook?: { of: string; finality: 'final' | 'latest' } }) => {
    const clock = createVirtualClock()
    const chain = createCountingChain(clock, { mostCalls: 500, mostBlocks: 10_000, delayMs: 10 })
    chain.state.head = 10_000
    await storeVaults(tables, someVaults(vaults), () => [CLIENT])
    const { services } = createJobServices(tables)
    if (webhook) await services.webhooks.add(webhook.of, someWebhook(webhook.of, webhook))
    const run = refreshChain({ ...services, getReader: () => chain.reader, now: clock.now, sleep: clock.wait })
    const time = { remainingMs: () => 50_000 }
    // The first run is not measured, because it reads the vaults' past events.
    await run({ chainId: BASE }, time)
    const [begun, { requests }] = [clock.now(), { ...chain.counts }]
    await run({ chainId: BASE }, time)
    return { seconds: Math.round((clock.now() - begun) / 1000), requests: chain.counts.requests - requests }
  }
})

test('A chain without vaults costs a run no time and no request to a node', async ({ minute }) => {
  const webhook = { of: CLIENT, finality: 'latest' } as const
  expect(await minute({ vaults: 0, webhook })).toEqual({ seconds: 0, requests: 0 })
})

test('A chain with vaults is read once a minute, after which its run ends', async ({ minute }) => {
  const once = await minute({ vaults: 3 })
  expect(once.seconds).toBe(0)
  expect(await minute({ vaults: 3, webhook: { of: CLIENT, finality: 'final' } })).toEqual(once)
  expect(await minute({ vaults: 3, webhook: { of: OTHER, finality: 'latest' } })).toEqual(once)
})

test('A chain is read four times a minute if a client of its vaults has a webhook for latest events', async ({
  minute,
}) => {
  const once = await minute({ vaults: 3 })
  const { seconds, requests } = await minute({ vaults: 3, webhook: { of: CLIENT, finality: 'latest' } })
  expect(seconds).toBe(39)
  expect(requests).toBeGreaterThanOrEqual(4 * once.requests)
})
