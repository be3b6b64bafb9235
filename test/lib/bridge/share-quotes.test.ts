import { expect, test } from 'vitest'
import { type Quote, shareQuotes } from '../../../lib/bridge/across.ts'
import type { BridgeRequest } from '../../../lib/bridge/calldata.ts'
import { AppError } from '../../../lib/core/errors.ts'

const END = { pool: '0x01', handler: '0x02', token: '0x03', decimals: 6 } as const
const ACCOUNT = '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65'

const question = (inputAmount: number): BridgeRequest => ({
  account: ACCOUNT,
  route: { source: { ...END, chainId: 8453 }, destination: { ...END, chainId: 42161 } },
  inputAmount: BigInt(inputAmount),
})

/**
 * Starts a container. Its fetched quotes have the output amounts 1, 2, 3 and so on, so that tests can tell them apart.
 */
function startContainer() {
  const clock = { now: 0 }
  const counts = { fetched: 0, paid: 0 }
  const failures: AppError[] = []
  const fetchQuote = async () => {
    counts.fetched += 1
    const failure = failures.pop()
    if (failure) throw failure
    return { outputAmount: BigInt(counts.fetched) } as Quote
  }
  const quotesPaidBy = shareQuotes({ fetchQuote, now: () => clock.now })
  const startRequest = (refusal?: AppError) =>
    quotesPaidBy(async () => {
      if (refusal) throw refusal
      counts.paid += 1
    })
  return { clock, counts, failures, startRequest }
}

test('A repeated quote request is served from memory for five seconds, and charged once', async () => {
  const { clock, counts, startRequest } = startContainer()
  const first = await startRequest()(question(1))
  clock.now = 4999
  expect(await startRequest()(question(1))).toBe(first)
  clock.now = 5000
  expect(await startRequest()(question(1))).not.toBe(first)
  expect(counts).toEqual({ fetched: 2, paid: 2 })
})

test('A request sees one quote, however long its work takes', async () => {
  const { clock, counts, startRequest } = startContainer()
  const ask = startRequest()
  const first = await ask(question(1))
  clock.now = 60_000
  expect(await ask(question(1))).toBe(first)
  expect(counts.fetched).toBe(1)
})

test('A failure is remembered only for the request that saw it', async () => {
  const { counts, failures, startRequest } = startContainer()
  failures.push(new AppError('upstream_unavailable'))
  const ask = startRequest()
  for (const _ of [1, 2]) await expect(ask(question(1))).rejects.toMatchObject({ code: 'upstream_unavailable' })
  await startRequest()(question(1))
  expect(counts.fetched).toBe(2)
})

test('A refusal of one caller does not refuse another caller at the same time', async () => {
  const { counts, startRequest } = startContainer()
  const refused = startRequest(new AppError('too_many_requests'))(question(1))
  const other = startRequest()(question(1))
  await expect(refused).rejects.toMatchObject({ code: 'too_many_requests' })
  await other
  expect(counts).toEqual({ fetched: 1, paid: 1 })
})

test('A container remembers the latest thousand quotes', async () => {
  const { counts, startRequest } = startContainer()
  for (let amount = 0; amount <= 1000; amount += 1) await startRequest()(question(amount))
  expect(counts.fetched).toBe(1001)
  await startRequest()(question(1))
  expect(counts.fetched).toBe(1001)
  await startRequest()(question(0))
  expect(counts.fetched).toBe(1002)
})
