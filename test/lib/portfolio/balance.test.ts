import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CHAINS } from '../../../lib/chain/registry.ts'
import type { TokenPrice } from '../../../lib/markets/coin.ts'
import type { ExchangeRate } from '../../../lib/markets/currency.ts'
import { BalanceEntry, buildBalance, type Holding } from '../../../lib/portfolio/balance.ts'
import { scaleSampleCount } from '../../support/runs.ts'

const [BASE, SOLANA] = [chainOf('base-mainnet'), chainOf('solana-mainnet')]
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const AT = Date.parse('2026-06-01T12:00:00.000Z')
const DOLLAR: ExchangeRate = { now: 1, dayAgo: 1 }

function chainOf(key: string) {
  const chain = CHAINS.find((candidate) => candidate.key === key)
  if (!chain) throw new Error(`There is no chain ${key}`)
  return chain
}

function someHolding(overrides: Partial<Holding> = {}): Holding {
  return {
    address: USDC,
    symbol: 'USDC',
    name: 'USD Coin',
    decimals: 6,
    logoUrl: 'https://example.com/usdc.png',
    balance: 2_500_000n,
    isListed: true,
    isSpam: false,
    share: null,
    ...overrides,
  }
}

function somePrice(overrides: Partial<TokenPrice> = {}): TokenPrice {
  return { now: 1.02, dayAgo: 1, at: AT, ...overrides }
}

type Fraction = readonly [bigint, bigint]

function fraction(value: number): Fraction {
  const [mantissa = '', exponent = '0'] = value.toString().split('e')
  const [whole = '', decimals = ''] = mantissa.split('.')
  const shift = BigInt(exponent) - BigInt(decimals.length)
  const digits = BigInt(whole + decimals)
  return shift < 0n ? [digits, 10n ** -shift] : [digits * 10n ** shift, 1n]
}

function multiply(...fractions: Fraction[]): Fraction {
  return fractions.reduce(([a, b], [c, d]) => [a * c, b * d])
}

function percentOf([a, b]: Fraction, [c, d]: Fraction): Fraction {
  return [(a * d - c * b) * 100n, b * c]
}

/** Returns true if a number equals a fraction to 52 of the 53 bits of a double. */
function isNearest(value: number, [numerator, denominator]: Fraction): boolean {
  const [size, sign] = numerator < 0n ? [-numerator, -1n] : [numerator, 1n]
  const [written, unit] = fraction(Math.abs(value))
  if (size === 0n) return value === 0
  if (value < 0 !== sign < 0n) return false
  const distance = written * denominator - size * unit
  return (distance < 0n ? -distance : distance) * 2n ** 52n <= size * unit
}

const anyPrice = fc.oneof(
  fc.double({ min: 1e-12, max: 1e7, noNaN: true }),
  fc.constantFrom(1, 0.1, 0.3, 1e-18, 67_123.456_789, 1e21, 1e-7),
)
const anyRate = fc.double({ min: 1e-6, max: 1e6, noNaN: true })
const anyBalance = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.bigInt({ min: 0n, max: 10n ** 20n }))
const anyDecimals = fc.constantFrom(0, 6, 8, 9, 18, 36)

describe('A balance', () => {
  test('has its values of now and a day ago, and both changes in percent of the old value', () => {
    expect(buildBalance(BASE, someHolding(), somePrice(), { now: 0.5, dayAgo: 0.4 })).toEqual({
      balance: 2_500_000n,
      contract_address: USDC,
      contract_decimals: 6,
      contract_name: 'USD Coin',
      contract_ticker_symbol: 'USDC',
      is_spam: false,
      quote: 1.275,
      chainName: 'base-mainnet',
      logo_url: 'https://example.com/usdc.png',
      quote_24h: 1,
      quote_24h_variation: 27.5,
      quote_rate: 0.51,
      quote_rate_24h: 0.4,
      quote_rate_24h_variation: 27.5,
      native_token: false,
      defi: false,
      price_available: true,
      price_updated_at: new Date(AT),
    })
  })

  test('is exact if floating point is not', () => {
    const holding = someHolding({ balance: 3n, decimals: 1 })
    const { quote, quote_rate } = buildBalance(BASE, holding, somePrice({ now: 0.1 }), { now: 3, dayAgo: 3 })
    // Floating-point multiplication would give 0.30000000000000004 for 0.1 × 3, and 0.09000000000000001 for that
    // times 0.3.
    expect({ quote, quote_rate }).toEqual({ quote: 0.09, quote_rate: 0.3 })
  })

  test('falls by 100 percent with a price of zero', () => {
    const entry = buildBalance(BASE, someHolding(), somePrice({ now: 0, dayAgo: 3 }), DOLLAR)
    expect(entry).toMatchObject({ quote: 0, quote_rate_24h_variation: -100, quote_24h_variation: -100 })
    expect(entry.price_available).toBe(true)
  })

  test('of a chain’s coin has the placeholder address', () => {
    const address = (chain: Parameters<typeof buildBalance>[0]) =>
      buildBalance(chain, someHolding({ address: 'native' }), undefined, undefined)
    expect(address(BASE)).toMatchObject({
      contract_address: '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE',
      native_token: true,
    })
    expect(address(SOLANA)).toMatchObject({
      contract_address: 'So11111111111111111111111111111111111111112',
      native_token: true,
    })
  })

  test.for<[string, TokenPrice | undefined, ExchangeRate | undefined]>([
    ['no price', undefined, DOLLAR],
    ['no exchange rate', somePrice(), undefined],
  ])('with %s has a value of 0 that is marked as unknown', ([, price, rate]) => {
    expect(buildBalance(BASE, someHolding(), price, rate)).toMatchObject({
      balance: 2_500_000n,
      quote: 0,
      quote_24h: 0,
      quote_24h_variation: 0,
      quote_rate: 0,
      quote_rate_24h: 0,
      quote_rate_24h_variation: 0,
      price_available: false,
      price_updated_at: null,
    })
  })

  test.for<[string, TokenPrice, ExchangeRate]>([
    ['price of a day ago', somePrice({ dayAgo: null }), DOLLAR],
    ['exchange rate of a day ago', somePrice(), { now: 1 }],
  ])('with no %s has a value but no change', ([, price, rate]) => {
    expect(buildBalance(BASE, someHolding(), price, rate)).toMatchObject({
      quote: 2.55,
      quote_24h: 0,
      quote_24h_variation: 0,
      quote_rate_24h: 0,
      quote_rate_24h_variation: 0,
      price_available: true,
    })
  })

  test('has no change relative to zero', () => {
    const fromZero = buildBalance(BASE, someHolding(), somePrice({ dayAgo: 0 }), DOLLAR)
    expect(fromZero).toMatchObject({ quote_24h_variation: 0, quote_rate_24h_variation: 0 })
    const ofNothing = buildBalance(BASE, someHolding({ balance: 0n }), somePrice(), DOLLAR)
    expect(ofNothing).toMatchObject({ quote: 0, quote_24h_variation: 0, quote_rate_24h_variation: 2 })
  })

  test('of shares has their value in the asset', () => {
    const share = { asset: USDC, assetDecimals: 6, price: 1_500_000n }
    const shares = someHolding({ decimals: 18, balance: 2n * 10n ** 18n, share })
    expect(buildBalance(BASE, shares, somePrice(), DOLLAR)).toMatchObject({
      defi: true,
      quote_rate: 1.53,
      quote_rate_24h: 1.5,
      quote: 3.06,
      quote_24h: 3,
      quote_24h_variation: 2,
    })
    const unknown = someHolding({ share: { ...share, price: null } })
    expect(buildBalance(BASE, unknown, somePrice(), DOLLAR)).toMatchObject({ defi: true, price_available: false })
  })

  test('matches exact fractions', () => {
    fc.assert(
      fc.property(
        fc.record({ balance: anyBalance, decimals: anyDecimals, now: anyPrice, dayAgo: anyPrice }),
        fc.record({ now: anyRate, dayAgo: anyRate }),
        fc.option(fc.record({ assetDecimals: anyDecimals, price: fc.bigInt({ min: 1n, max: 10n ** 30n }) })),
        ({ balance, decimals, now, dayAgo }, rate, parts) => {
          const share = parts && { asset: USDC, ...parts }
          const holding = someHolding({ balance, decimals, share })
          const entry = buildBalance(BASE, holding, somePrice({ now, dayAgo }), rate)

          const unit: Fraction = parts ? [parts.price, 10n ** BigInt(parts.assetDecimals)] : [1n, 1n]
          const amount: Fraction = [balance, 10n ** BigInt(decimals)]
          const rateNow = multiply(unit, fraction(now), fraction(rate.now))
          const rateThen = multiply(unit, fraction(dayAgo), fraction(rate.dayAgo))
          const changed = percentOf(rateNow, rateThen)
          expect({
            quote_rate: isNearest(entry.quote_rate, rateNow),
            quote_rate_24h: isNearest(entry.quote_rate_24h, rateThen),
            quote: isNearest(entry.quote, multiply(amount, rateNow)),
            quote_24h: isNearest(entry.quote_24h, multiply(amount, rateThen)),
            quote_rate_24h_variation: isNearest(entry.quote_rate_24h_variation, changed),
            quote_24h_variation: isNearest(entry.quote_24h_variation, balance === 0n ? [0n, 1n] : changed),
          }).toEqual({
            quote_rate: true,
            quote_rate_24h: true,
            quote: true,
            quote_24h: true,
            quote_rate_24h_variation: true,
            quote_24h_variation: true,
          })
        },
      ),
      { numRuns: scaleSampleCount(1000) },
    )
  })

  test('has only finite numbers, whatever the price', () => {
    const extreme = fc.constantFrom(0, 5e-324, 1e-300, 1, 1e300, Number.MAX_VALUE)
    const positive = extreme.filter((value) => value > 0)
    fc.assert(
      fc.property(
        fc.record({ balance: anyBalance, decimals: anyDecimals }),
        fc.record({ now: extreme, dayAgo: fc.option(extreme) }),
        fc.record({ now: positive, dayAgo: positive }),
        (holding, price, rate) => {
          const entry = buildBalance(BASE, someHolding(holding), somePrice(price), rate)
          // Encoding throws if a number is NaN or infinite.
          BalanceEntry.encode(entry)
          expect(Object.values(entry).filter((value) => typeof value === 'number' && !Number.isFinite(value))).toEqual(
            [],
          )
        },
      ),
    )
  })

  test('beyond the largest number is marked as unpriced', () => {
    const entry = buildBalance(BASE, someHolding({ balance: 10n ** 70n }), somePrice({ now: 1e300 }), DOLLAR)
    expect(entry).toMatchObject({ quote: 0, price_available: false })
  })
})
