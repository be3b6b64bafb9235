import type { Address } from 'viem'
import { describe, expect } from 'vitest'
import { expectError } from '../../support/errors.ts'
import { test as base, type Service, USERS } from '../../support/service.ts'
import { type RecordingProxy, startRecordingProxy } from '../../support/wire.ts'

const LIST = '/defi-vaults/v1/vaults'
const [USER] = USERS

/** One kind of failing node for each error code. The tests in test/lib/chain cover other failures. */
const FAILURES = ['refuse connections', 'never answer', 'answer HTML'] as const

const test = base
  .extend('first', ({ service }) => service.rpc[8453] as RecordingProxy)
  .extend('spare', async ({ service }, { onCleanup }) => {
    const wire = await startRecordingProxy(service.backends.chains[0]?.rpcUrl as string)
    onCleanup(wire.stop)
    return wire
  })
  .extend('spared', async ({ coldService, first, spare }) => {
    const other = coldService.rpc[42161] as RecordingProxy
    coldService.backends.setRpcUrls({ '8453': [first.url, spare.url], '42161': [other.url] })
    return coldService
  })

type Listed = { chainId: number; type: string; stateAsOf?: { stale: boolean } | null }

async function listOnBase(service: Service): Promise<Listed[]> {
  const signal = AbortSignal.timeout(4_000)
  const response = await fetch(service.baseUrl + LIST, { headers: { 'x-join-key': service.apiKey }, signal })
  const { data } = (await response.json()) as { data: Listed[] }
  return data.filter(({ chainId, type }) => chainId === 8453 && type === 'async')
}

function askStatus(service: Service) {
  const vaultAddress = service.backends.chains[0]?.vaults[0]?.address as Address
  return service.call('GET', `/defi-vaults/v1/defi/vault/${vaultAddress}/deposit-status?userAddress=${USER.address}`)
}

describe('When the first of two nodes is to', () => {
  test.for(FAILURES)('%s, the second saves the list', async (failure, { spared, first }) => {
    first.behaviour = failure
    const vaults = await listOnBase(spared)
    expect(vaults).toHaveLength(spared.backends.chains[0]?.vaults.filter(({ type }) => type === 'async').length ?? 0)
    for (const { stateAsOf } of vaults) expect(stateAsOf).toMatchObject({ stale: false })
    expect(first.bodies).toHaveLength(1)
  })

  test('never respond, the second saves a status', async ({ spared, first }) => {
    first.behaviour = 'never answer'
    expect(await askStatus(spared)).toMatchObject({ status: 200, body: { status: 'no_active_deposit' } })
    expect(first.bodies).toHaveLength(1)
  })

  test('fail, the next requests go straight to the second', async ({ spared, first, spare }) => {
    first.behaviour = 'answer 500'
    await askStatus(spared)
    for (const wire of [first, spare]) wire.bodies.length = 0

    expect(await askStatus(spared)).toMatchObject({ status: 200 })
    expect([first.bodies.length, spare.bodies.length]).toEqual([0, 1])
  })

  test('fail and then the second, the first saves the request again', async ({ spared, first, spare }) => {
    first.behaviour = 'answer 500'
    await askStatus(spared)
    first.behaviour = 'pass'
    spare.behaviour = 'refuse connections'
    expect(await askStatus(spared)).toMatchObject({ status: 200 })
  })

  test('fail like the second, the request fails after one try on each', async ({ spared, first, spare }) => {
    first.behaviour = 'answer 429'
    spare.behaviour = 'answer HTML'
    expectError(await askStatus(spared), 'upstream_bad_answer')
    expect([first.bodies.length, spare.bodies.length]).toEqual([1, 1])
  })

  test('fail for many parallel requests, the second saves them all', async ({ spared, first }) => {
    first.behaviour = 'answer 500'
    const replies = await Promise.all(Array.from({ length: 6 }, () => askStatus(spared)))
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
  })
})

test('While the first of two nodes responds, the second gets no request', async ({ spared, first, spare }) => {
  await askStatus(spared)
  await listOnBase(spared)
  expect(first.bodies).toHaveLength(2)
  expect(spare.bodies).toEqual([])
})
