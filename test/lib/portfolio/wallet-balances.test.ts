import { describe, expect, test } from 'vitest'
import type { IndexedToken } from '../../../lib/portfolio/token-index.ts'
import {
  type ChainBalances,
  fitBalances,
  fitTokens,
  isIndexFresh,
  isKnownEmpty,
  isReadFresh,
  joinKnownBalances,
  type KnownBalances,
  oldestReadTime,
  TOKEN_PROGRAMS,
  WalletBalances,
  withLastKnownBalances,
  withoutOldBalances,
} from '../../../lib/portfolio/wallet-balances.ts'

const NOW = Date.parse('2026-06-01T12:00:00.000Z')
const MINUTE = 60
const DAY = 86_400
const [USDC, DAI, SHARE] = ['0xUSDC', '0xDAI', '0xShare']

function read(changes: Partial<ChainBalances> = {}, secondsAgo = 0): ChainBalances {
  return { asOf: new Date(NOW - secondsAgo * 1000), native: 0n, tokens: {}, shares: {}, unread: [], ...changes }
}

function before(secondsAgo: number): Date {
  return new Date(NOW - secondsAgo * 1000)
}

function someShare(balance = 5n) {
  return { balance, price: 1n, symbol: 'sv' }
}

function indexed(tokens: IndexedToken[] = [], secondsAgo = 0, isWhole = true): NonNullable<KnownBalances['indexed']> {
  return { asOf: new Date(NOW - secondsAgo * 1000), tokens, isWhole }
}

function someToken(changes: Partial<IndexedToken> = {}): IndexedToken {
  const words = { address: '0xPoints', symbol: 'PTS', name: 'Points', logoUrl: '' }
  return { ...words, decimals: 18, balance: 1n, isFlagged: false, ...changes }
}

test('The balances of a wallet keep a chain of a newer version, and show the others', () => {
  const chainBalances = { read: { asOf: before(0).toISOString(), native: '7', tokens: {}, shares: {}, unread: [] } }
  const item = { 'base-mainnet': chainBalances, 'moon-mainnet': { read: { craters: [1] } } }
  const balances = WalletBalances.parse(item)
  expect(balances['base-mainnet']?.read?.native).toBe(7n)
  expect(WalletBalances.encode(balances)).toEqual(item)
})

describe("A chain's report about a wallet", () => {
  test('is fresh for half a minute', () => {
    expect(isReadFresh({ read: read({}, 29) }, [], NOW)).toBe(true)
    expect(isReadFresh({ read: read({}, 30) }, [], NOW)).toBe(false)
    expect(isReadFresh({}, [], NOW)).toBe(false)
  })

  test('is not fresh without the shares that a client requests', () => {
    const chainBalances = {
      read: read({ shares: { [SHARE]: { balance: 0n, price: null, symbol: '' } }, unread: [DAI] }),
    }
    expect(isReadFresh(chainBalances, [SHARE, DAI], NOW)).toBe(true)
    expect(isReadFresh(chainBalances, [SHARE, USDC], NOW)).toBe(false)
  })

  test('with shares of an older report is fresh while these are', () => {
    const readAgo = (secondsAgo: number) => ({
      read: read({ shares: { [SHARE]: { ...someShare(), asOf: before(secondsAgo) } } }),
    })
    expect(isReadFresh(readAgo(29), [SHARE], NOW)).toBe(true)
    expect(isReadFresh(readAgo(30), [SHARE], NOW)).toBe(false)
    expect(isReadFresh(readAgo(30), [], NOW)).toBe(true)
  })

  test('has the last known balances only for unread tokens, with their time', () => {
    const last = read(
      { tokens: { [USDC]: { balance: 7n }, [DAI]: { balance: 8n } }, shares: { [SHARE]: someShare() } },
      60,
    )
    const now = read({ unread: [USDC, SHARE] })
    const joined = withLastKnownBalances(now, last)
    expect(joined).toEqual({
      ...now,
      tokens: { [USDC]: { balance: 7n, asOf: last.asOf } },
      shares: { [SHARE]: { ...someShare(), asOf: last.asOf } },
    })
    expect(withLastKnownBalances(read({ unread: [USDC] }), joined).tokens).toEqual(joined.tokens)
    expect(withLastKnownBalances(now, undefined)).toEqual(now)
  })

  test('keeps shares that it did not request, each with its time', () => {
    const last = read({ shares: { [SHARE]: someShare(1n), other: { ...someShare(2n), asOf: before(90) } } }, 60)
    expect(withLastKnownBalances(read({ shares: { new: someShare(3n) } }), last).shares).toEqual({
      new: someShare(3n),
      [SHARE]: { ...someShare(1n), asOf: before(60) },
      other: { ...someShare(2n), asOf: before(90) },
    })
    expect(withLastKnownBalances(read({ shares: { [SHARE]: someShare(4n) } }), last).shares[SHARE]).toEqual(
      someShare(4n),
    )
  })

  test('keeps all requested shares, and the newest 500 others', () => {
    const many = (count: number, name: string, secondsAgo = 0) =>
      Object.fromEntries(
        Array.from({ length: count }, (_, i) => [
          `${name} ${i}`,
          { ...someShare(), ...(secondsAgo > 0 && { asOf: before(secondsAgo) }) },
        ]),
      )
    const last = read({ shares: { ...many(300, 'oldest', 90), ...many(400, 'older') } }, 60)
    const symbols = Object.keys(withLastKnownBalances(read({ shares: many(600, 'new') }), last).shares)
    expect(
      ['new', 'older', 'oldest'].map((name) => symbols.filter((one) => one.startsWith(`${name} `)).length),
    ).toEqual([600, 400, 100])
  })

  test('is as old as its oldest balance, counting only requested shares', () => {
    const one = read({ shares: { [SHARE]: { ...someShare(), asOf: before(60) } } })
    expect([oldestReadTime(one, []), oldestReadTime(one, [SHARE])]).toEqual([before(0), before(60)])
    expect(oldestReadTime(read({ tokens: { [USDC]: { balance: 7n, asOf: before(30) } } }), [])).toEqual(before(30))
  })

  test('has the last balances of all mints of an unread token program', () => {
    const last = read({ tokens: { mint: { balance: 7n, decimals: 6 } } }, 60)
    expect(withLastKnownBalances(read({ unread: [TOKEN_PROGRAMS[1]] }), last).tokens).toEqual({
      mint: { balance: 7n, decimals: 6, asOf: last.asOf },
    })
  })

  test('is kept for 500 tokens, the listed ones first', () => {
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, i) => [`mint ${i}`, { balance: 1n }]))
    const { tokens } = fitBalances(read({ tokens: many }), new Set(['mint 899']))
    expect(Object.keys(tokens)).toHaveLength(500)
    expect(tokens['mint 899']).toEqual({ balance: 1n })
  })

  test('is no longer shown after a week', () => {
    const chainBalances = { read: read({}, 7 * DAY), indexed: indexed([], 7 * DAY - 1) }
    expect(withoutOldBalances(chainBalances, NOW)).toEqual({ indexed: chainBalances.indexed })
    const share = { ...someShare(), asOf: before(7 * DAY) }
    expect(withoutOldBalances({ read: read({ shares: { [SHARE]: share } }) }, NOW)).toEqual({ read: read() })
  })
})

describe('Two reports about a wallet on a chain', () => {
  test.for([
    ['the older first', 60, 0],
    ['the newer first', 0, 60],
  ] as const)('become one, %s, with the newer parts and those that only the older has', ([, first, second]) => {
    const reports = (secondsAgo: number) => ({
      read: read({ native: BigInt(secondsAgo), shares: { [`of ${secondsAgo}`]: someShare() } }, secondsAgo),
      indexed: indexed([], secondsAgo),
    })
    expect(joinKnownBalances(reports(first), reports(second))).toEqual({
      read: read({ shares: { 'of 0': someShare(), 'of 60': { ...someShare(), asOf: before(60) } } }),
      indexed: indexed(),
    })
  })

  test('become one if each has a part', () => {
    const [part, other] = [{ read: read() }, { indexed: indexed() }]
    expect([joinKnownBalances(part, other), joinKnownBalances(other, part), joinKnownBalances({}, part)]).toEqual([
      { ...part, ...other },
      { ...part, ...other },
      part,
    ])
  })
})

describe("An index's report about a wallet", () => {
  test.for<[string, KnownBalances, number]>([
    ['holds a coin', { read: read({ native: 1n }) }, 10 * MINUTE],
    ['holds a token', { read: read({ tokens: { [USDC]: { balance: 1n } } }) }, 10 * MINUTE],
    ['holds shares', { read: read({ shares: { [SHARE]: { balance: 1n, price: null, symbol: '' } } }) }, 10 * MINUTE],
    ['could not be read in part', { read: read({ unread: [USDC] }) }, 10 * MINUTE],
    ['could not be read', {}, 10 * MINUTE],
    ['is empty', { read: read() }, DAY],
  ])('about a wallet that %s is fresh for its period', ([, chainBalances, seconds]) => {
    const fresh = { ...chainBalances, indexed: indexed([], seconds - 1) }
    expect(isIndexFresh(fresh, NOW)).toBe(true)
    expect(isIndexFresh({ ...chainBalances, indexed: indexed([], seconds) }, NOW)).toBe(false)
    expect(isKnownEmpty(fresh, NOW)).toBe(seconds === DAY)
  })

  test.for([
    ['with a token', indexed([someToken()], 10 * MINUTE)],
    ['that is not whole', indexed([], 10 * MINUTE, false)],
  ] as const)('%s is fresh for ten minutes about an empty wallet', ([, report]) => {
    expect(isIndexFresh({ read: read(), indexed: report }, NOW)).toBe(false)
  })

  test('is cut so that eight chains fit into one item, spam first', () => {
    const tokens = Array.from({ length: 900 }, (_, i) =>
      someToken({ address: `0x${i}`, name: '漢'.repeat(100), isFlagged: i < 890 }),
    )
    const fitted = fitTokens({ tokens, isWhole: true })
    expect(
      8 * Buffer.byteLength(JSON.stringify(fitted.tokens.map((token) => ({ ...token, balance: '1' })))),
    ).toBeLessThan(400 * 1024)
    expect(fitted.tokens.length).toBeGreaterThan(50)
    expect(fitted.tokens.filter(({ isFlagged }) => !isFlagged)).toHaveLength(10)
    expect(fitted.isWhole).toBe(true)
    expect(fitTokens({ tokens: tokens.map((token) => ({ ...token, isFlagged: false })), isWhole: true }).isWhole).toBe(
      false,
    )
  })
})
