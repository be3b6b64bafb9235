import { describe, expect } from 'vitest'
import { priceStore } from '../../../lib/vaults/price-store.ts'
import { expectError } from '../../support/errors.ts'
import { recordAllBlocks } from '../../support/records.ts'
import { test as base, type Service } from '../../support/service.ts'
import { openLagoonVault } from '../../support/vaults.ts'

const DAY = 86_400
type Point = {
  readonly at: string
  readonly sharePrice: string
  readonly totalAssets: string | null
  readonly annualYield: { readonly percent: string; readonly days: number } | null
}

/** A vault whose price was recorded every six hours for 400 days. The price grows by 0.1 % per day. */
const test = base.extend('past', { scope: 'file' }, async ({ sharedService: service }) => {
  const vault = await openLagoonVault(service, { generation: '0.5' })
  const now = Math.floor(Date.now() / 1000)
  const prices = Array.from({ length: 400 * 4 }, (_, index) => {
    const secondsAgo = index * 6 * 3_600 + 60
    return {
      price: BigInt(Math.round(2_000_000 * 1.001 ** (-secondsAgo / DAY))),
      timestamp: BigInt(now - secondsAgo),
      blockNumber: BigInt(10_000 - index),
      totalAssets: index % 2 === 0 ? 7n : undefined,
    }
  })
  const place = { chainId: vault.chain.chainId, address: vault.address }
  await priceStore(service.tables.deposits).record([{ vault: place, prices, known: [] }])
  return vault
})

const get = (service: Service, { address, key }: { address: string; key: string }, query = '') =>
  service.call('GET', `/defi-vaults/v1/defi/vault/${address}/history${query}`, { key })

describe('The history of a vault', () => {
  test('has one price an hour within 30 days, oldest first, and may be cached', async ({ service, past }) => {
    const { status, headers, body } = await get(service, past)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('private, max-age=60')
    const { history, ...rest } = body
    expect(rest).toEqual({ vaultAddress: past.address, chainId: 8453, range: '30d' })
    expect(history.length).toBe(30 * 4)
    const times = history.map(({ at }: Point) => at)
    expect(times).toEqual(times.toSorted())
    for (const { sharePrice, annualYield } of history as Point[]) {
      expect(sharePrice).toMatch(/^[1-9]\d*$/)
      expect(annualYield?.days).toBeGreaterThanOrEqual(7)
      // A seven-day yield may begin up to 26 hours earlier, at the start of a UTC day. Prices are six hours apart, so
      // the price from which it begins may be another six hours older.
      expect(annualYield?.days).toBeLessThan(9)
      expect(Number(annualYield?.percent)).toBeCloseTo((1.001 ** 365 - 1) * 100, 0)
    }
    expect(new Set(history.map(({ totalAssets }: Point) => totalAssets))).toEqual(new Set(['7', null]))
  })

  test.for([
    ['90d', 90, 91],
    ['1y', 365, 366],
    ['all', 400, 401],
  ] as const)('has one price a day over %s', async ([range, least, most], { service, past }) => {
    const { history } = (await get(service, past, `?range=${range}&chainId=8453`)).body
    expect(history.length).toBeGreaterThanOrEqual(least)
    expect(history.length).toBeLessThanOrEqual(most)
    const days = history.map(({ at }: Point) => at.slice(0, 10))
    expect(new Set(days).size).toBe(days.length)
    const withoutYield = history.filter(({ annualYield }: Point) => annualYield === null)
    expect(withoutYield.length > 0).toBe(range === 'all')
  })

  test('begins with the prices recorded by the job', async ({ service }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    expect((await get(service, vault)).body.history).toEqual([])
    await recordAllBlocks(vault.chain)
    const { history } = (await get(service, vault)).body
    expect(history).toMatchObject([{ sharePrice: '1000000', totalAssets: '0', annualYield: null }])
  })

  test('is refused for other ranges and for vaults outside the key', async ({ service, past }) => {
    expectError(await get(service, past, '?range=2y'), 'invalid_range', ['range'])
    expectError(await get(service, past, '?chainId=42161'), 'vault_not_found')
    expectError(await get(service, { ...past, key: await service.createClient([]) }), 'vault_not_found')
    expectError(await get(service, { ...past, address: '0x12' }), 'missing_or_invalid_vault_address', ['vaultAddress'])
  })
})
