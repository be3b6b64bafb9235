import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { billCall, billEdgeRequests, billIdleStage, INDEXES, totalOf } from '../../scripts/cost/bill.ts'
import { COUNTS_FILE, type Counts, CountsFile, type EndpointCounts } from '../../scripts/cost/counts.ts'
import { formatRoundedNumber, MAX_COUNT, MAX_MEASURED_COUNT } from '../../scripts/cost/draw.ts'
import { buildGrowth, growthOf } from '../../scripts/cost/growth.ts'
import { listDifferences } from '../support/costs.ts'

const NOTHING: Counts = {
  table: { requests: 0, readUnits: 0, writeUnits: 0 },
  secrets: 0,
  queue: 0,
  rpc: {},
  sources: {},
  inSeries: { aws: 0, rpc: 0, sources: 0 },
}
const MILLION = 1e6
const MEMORY = 1024

/** Builds the counts of an endpoint whose requests all have these counts, and whose responses have `body` bytes. */
function someCounts(counts: Partial<Counts>, body = 0): EndpointCounts {
  const all = { ...NOTHING, ...counts }
  return { cold: all, warm: all, bytes: { headers: 0, body } }
}

test('A response above 512 KB counts twice at the gateway, and each outgoing byte is charged', () => {
  const { next } = billCall('system/health', someCounts({}, 600_000), MEMORY)
  expect(next.gateway * MILLION).toBeCloseTo(2)
  expect(next.egress * MILLION).toBeCloseTo(600 * 0.09)
})

test('A function is charged while it waits, and a new container also for its start', () => {
  const { first, next } = billCall('system/health', someCounts({ inSeries: { aws: 0, rpc: 1, sources: 0 } }), MEMORY)
  expect(next.compute * MILLION).toBeCloseTo(0.2 + 0.063 * 13.3334)
  expect(first.compute * MILLION).toBeCloseTo(0.2 + 0.363 * 13.3334)
})

test('Calls are charged as counted, those of both hosts', () => {
  const counts = someCounts({ rpc: { eth_call: 1, eth_getLogs: 1 } })
  expect(billCall('vaults/list', counts, MEMORY).next.nodes * MILLION).toBeCloseTo(86 * 0.45)
  expect(billCall('vaults/deposit', counts, MEMORY).next.nodes * MILLION).toBeCloseTo(86 * 0.45)
})

test('The price of a request to a token index depends on the index and on the request', () => {
  const counts = someCounts({ sources: { goldrush: 7, coingecko: 1 } })
  const sourcesOf = (name: 'portfolio/all-balances' | 'portfolio/nfts', index?: (typeof INDEXES)[number]) =>
    billCall(name, counts, MEMORY, index).next.sources * MILLION - 500
  expect(INDEXES.map((index) => sourcesOf('portfolio/nfts', index))).toEqual(
    [7 * 480 * 0.45, 7 * 770, 7 * 480 * 0.45 + 7 * 7.7, 0].map((usd) => expect.closeTo(usd)),
  )
  // The cost model expects five new tokens per request for balances. Each costs 10 of the index provider's compute
  // units.
  expect(sourcesOf('portfolio/all-balances')).toBeCloseTo((7 * 20 + 5 * 10) * 0.45)
  expect(sourcesOf('portfolio/all-balances', 'GoldRush')).toBeCloseTo(7 * 770)
})

test('An edge makes a request dearer and outgoing bytes cheaper', () => {
  expect(billEdgeRequests(MILLION, 0)).toBeCloseTo(1.6)
  expect(billEdgeRequests(MILLION, 9)).toBeCloseTo(1.1)
})

test('The cost of a stage without users depends on its monitoring, nodes, deploys and edge', () => {
  const counted = CountsFile.parse(JSON.parse(readFileSync(COUNTS_FILE, 'utf8')))
  type Stage = Parameters<typeof billIdleStage>[1]
  const usdOf = (stage: Partial<Stage>, hasOwnNodes = false) =>
    billIdleStage(counted, { observe: 'slo', gradual: false, ...stage }, hasOwnNodes)
  // docs/cost.md states the same numbers, but rounded.
  expect(usdOf({})).toBeCloseTo(6.676)
  expect(usdOf({}, true)).toBeCloseTo(6.676 + 13.55)
  expect(usdOf({ observe: 'none' })).toBeCloseTo(4.476)
  expect(usdOf({ gradual: true })).toBeCloseTo(6.676 + 17.1)
  expect(usdOf({ edge: {} })).toBeCloseTo(6.676 + 11.4)
  expect(usdOf({ observe: 'all', edge: {} })).toBeCloseTo(26.976 + 11.9)
})

test('Dollars never fall as a stage grows, and each picture has the mark of its limit', () => {
  const counted = CountsFile.parse(JSON.parse(readFileSync(COUNTS_FILE, 'utf8')))
  const { pictures, section } = buildGrowth(counted)
  for (const { name, usd, limit } of growthOf(counted)) {
    const counts = Array.from({ length: 61 }, (_, step) => Math.round(10 ** (step / 10)))
    const paid = counts.map(usd)
    expect(paid).toEqual(paid.toSorted((a, b) => a - b))
    expect(limit.at).toBeGreaterThan(1)
    expect(limit.at).toBeLessThan(MAX_COUNT)
    const path = `docs/images/growth-${name}.svg`
    expect(pictures[path]).toContain(`>${limit.name}</text>`)
    expect(pictures[path]).toContain(`>${formatRoundedNumber(limit.at)}</text>`)
    expect(section).toContain(`](${path.replace('docs/', '')})`)
  }
  // docs/scale.md states the same numbers, but rounded.
  const [users, vaults] = growthOf(counted)
  expect(users?.limit.at).toBeCloseTo(60_992, -2)
  expect(vaults?.usd(MAX_MEASURED_COUNT)).toBeCloseTo(390, -1)
})

test('A count without a price is an error', () => {
  const counts = someCounts({ rpc: { eth_newMethod: 1 } })
  expect(() => billCall('vaults/list', counts, MEMORY)).toThrow('There is no price of eth_newMethod')
})

test('The average weighs cold requests, warm ones and repeated ones', () => {
  const table = { requests: 1, readUnits: 100, writeUnits: 0 }
  const counted = { ...someCounts({ table }), again: NOTHING }
  const { average, next } = billCall('system/health', counted, MEMORY)
  expect(average.tables / next.tables).toBeCloseTo(0.01 + 0.99 / 2)
  expect(totalOf(average)).toBeLessThan(totalOf(next))
})

test('One more call is a difference, a few more bytes are not', () => {
  const before = { 'vaults/list': { warm: { rpc: { eth_call: 2 } }, bytes: { headers: 700, body: 10_000 } } }
  const now = { 'vaults/list': { warm: { rpc: { eth_call: 3 } }, bytes: { headers: 710, body: 10_200 } } }
  expect(listDifferences(now, before)).toEqual(['vaults/list.warm.rpc.eth_call: 2 before, 3 now'])
  const more = { 'vaults/list': { ...now['vaults/list'], bytes: { headers: 710, body: 11_300 } } }
  expect(listDifferences(more, now)).toEqual(['vaults/list.bytes.body: 10200 before, 11300 now'])
})
