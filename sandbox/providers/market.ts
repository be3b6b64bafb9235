import { CHAINS } from '../../lib/chain/registry.ts'
import { CURRENCIES, type Currency } from '../../lib/markets/currency.ts'
import type { LocalToken } from '../chains/world.ts'

/** Token with a price in the invented market. A Solana token has a base58 address. */
export type MarketToken = Omit<LocalToken, 'address'> & { readonly address: string }

/** A coin of the invented market. */
export type MadeUpCoin = {
  /** CoinGecko id: real for a coin that exists, invented for a made-up coin. */
  readonly id: string
  readonly symbol: string
  readonly name: string
  /** Circulating supply in whole coins. */
  readonly supply: number
  readonly platforms: Readonly<Record<string, string>>
  /** Value that the market does not report for this coin: its price or its 24-hour change. The real CoinGecko lacks such values too. */
  readonly unknown: 'price' | 'change' | undefined
  /**
   * Middle of the price in US dollars. `swing` is the maximum deviation as a natural logarithm, and `phases` are the initial phases of the
   * price waves.
   */
  readonly middle: number
  readonly swing: number
  readonly phases: readonly number[]
}

/** Market of invented prices, which depend only on the coin and the time. `moment` is in epoch milliseconds. */
export type MadeUpMarket = {
  readonly coins: readonly MadeUpCoin[]
  coinAt(platform: string, address: string): MadeUpCoin | undefined
  /** Returns a coin's price; undefined before 2018, when the market begins, or for a coin without a price. */
  priceAt(coin: MadeUpCoin, currency: Currency, moment: number): number | undefined
}

export const DAY_MS = 86_400_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const MARKET_BEGAN = Date.UTC(2018, 0, 1)
const MADE_UP_COINS = 290
/** Waves that form a price: period in milliseconds, and share of the maximum deviation. */
const WAVES = [
  [31 * HOUR_MS, 0.08],
  [9 * DAY_MS, 0.17],
  [61 * DAY_MS, 0.3],
  [402 * DAY_MS, 0.45],
] as const

/**
 * Coins that exist: CoinGecko id, symbol, name, middle price in US dollars, supply in whole coins, maximum deviation. Their prices are
 * invented.
 */
const REAL_COINS = [
  ['bitcoin', 'btc', 'Bitcoin', 92_000, 19_900_000, 0.35],
  ['ethereum', 'eth', 'Ethereum', 3_100, 120_000_000, 0.4],
  ['tether', 'usdt', 'Tether', 1, 180_000_000_000, 0.0006],
  ['binancecoin', 'bnb', 'BNB', 880, 138_000_000, 0.3],
  ['usd-coin', 'usdc', 'USDC', 1, 74_000_000_000, 0.0004],
  ['solana', 'sol', 'Solana', 140, 555_000_000, 0.5],
  ['dai', 'dai', 'Dai', 1, 4_500_000_000, 0.0005],
  ['polygon-ecosystem-token', 'pol', 'POL (ex-MATIC)', 0.15, 10_500_000_000, 0.5],
  ['morpho', 'morpho', 'Morpho', 1.6, 540_000_000, 0.5],
  ['xdai', 'xdai', 'xDAI', 1, 98_000_000, 0.0008],
] as const

const COIN_OF_SYMBOL: Readonly<Record<string, string>> = {
  ...{ USDC: 'usd-coin', USDT: 'tether', DAI: 'dai', MORPHO: 'morpho' },
}

/** Approximate value of one US dollar in each currency. A text is the CoinGecko id of a coin, whose price in the market gives the value. */
const PER_DOLLAR = {
  ...{ usd: 1, eur: 0.86, gbp: 0.76, chf: 0.8, jpy: 156, aed: 3.67, ars: 1_420, aud: 1.54, bdt: 122, bhd: 0.377 },
  ...{ bmd: 1, brl: 5.35, cad: 1.4, clp: 930, cny: 7.1, czk: 20.9, dkk: 6.45, gel: 2.7, hkd: 7.78, huf: 331 },
  ...{ idr: 16_700, ils: 3.26, inr: 89, krw: 1_470, kwd: 0.307, lkr: 308, mmk: 2_100, mxn: 18.4, myr: 4.14 },
  ...{ ngn: 1_450, nok: 10.1, nzd: 1.78, php: 58.8, pkr: 281, pln: 3.65, rub: 79, sar: 3.75, sek: 9.5, sgd: 1.3 },
  ...{ thb: 32.4, try: 42.4, twd: 31.3, uah: 42.2, vef: 0.1, vnd: 26_350, zar: 17.3, xdr: 0.73, xag: 0.02 },
  ...{ xau: 0.000245, ltc: 0.0119, bch: 0.00184, eos: 4.5, xrp: 0.49, xlm: 4.2, link: 0.081, dot: 0.43, yfi: 0.00025 },
  ...{ btc: 'bitcoin', bits: 'bitcoin', sats: 'bitcoin', eth: 'ethereum', bnb: 'binancecoin' },
} satisfies Record<Currency, number | string>
const UNITS_OF_COIN: Partial<Record<Currency, number>> = { bits: 1e6, sats: 1e8 }
const CURRENCY_SWING = 0.02

/** Creates a market of about 300 coins. `tokens` are the contracts of these coins on their chains. */
export function madeUpMarket(tokens: readonly MarketToken[]): MadeUpMarket {
  const coins = [...realCoins(tokens), ...madeUpCoins()]
  const byId = new Map(coins.map((coin) => [coin.id, coin]))
  const byContract = new Map(
    coins.flatMap((coin) =>
      Object.entries(coin.platforms).map(([platform, address]) => [contractKey(platform, address), coin] as const),
    ),
  )

  const currencyPhases = new Map(CURRENCIES.map((currency) => [currency, phasesOf(currency)]))

  const dollarsOf = ({ middle, swing, phases }: MadeUpCoin, moment: number) =>
    middle * Math.exp(swing * wave(phases, moment))
  const perDollar = (currency: Currency, moment: number) => {
    const rate: number | string = PER_DOLLAR[currency]
    if (currency === 'usd') return 1
    if (typeof rate === 'number')
      return rate * Math.exp(CURRENCY_SWING * wave(currencyPhases.get(currency) ?? [], moment))
    const coin = byId.get(rate)
    return coin ? (UNITS_OF_COIN[currency] ?? 1) / dollarsOf(coin, moment) : 1
  }

  return {
    coins,
    coinAt: (platform, address) => byContract.get(contractKey(platform, address)),
    priceAt(coin, currency, moment) {
      const minute = minuteOf(moment)
      if (coin.unknown === 'price' || minute < MARKET_BEGAN) return undefined
      return roundToTenDigits(dollarsOf(coin, minute) * perDollar(currency, minute))
    },
  }
}

/** Rounds a time in epoch milliseconds down to the minute, because prices change once a minute. */
export function minuteOf(moment: number): number {
  return Math.floor(moment / MINUTE_MS) * MINUTE_MS
}

/** Rounds a number to 10 significant digits, about as the real services do. */
export function roundToTenDigits(value: number): number {
  return Number(value.toPrecision(10))
}

function realCoins(tokens: readonly MarketToken[]): MadeUpCoin[] {
  return REAL_COINS.map(([id, symbol, name, middle, supply, swing]) => ({
    id,
    symbol,
    name: `${name} (made-up price)`,
    supply,
    platforms: Object.fromEntries(
      tokens.flatMap((token) => {
        const platform = CHAINS.find((chain) => chain.id === token.chainId)?.coinGeckoPlatform
        return platform && COIN_OF_SYMBOL[token.symbol] === id
          ? [[platform, platform === 'solana' ? token.address : token.address.toLowerCase()]]
          : []
      }),
    ),
    unknown: undefined,
    middle,
    swing,
    phases: phasesOf(id),
  }))
}

/**
 * Creates coins by descending market capitalisation, all smaller than coins that exist. The second to last lacks its price change, and the
 * last its price.
 */
function madeUpCoins(): MadeUpCoin[] {
  return Array.from({ length: MADE_UP_COINS }, (_, index) => {
    const number = index + 1
    const middle = roundToTenDigits(10 ** (fractionOf(`price ${number}`) * 8 - 5))
    return {
      id: `made-up-coin-${number}`,
      symbol: `made${number}`,
      name: `Made-up Coin ${number}`,
      supply: Math.round((60_000_000 * 0.97 ** index) / middle),
      platforms: {},
      unknown: number === MADE_UP_COINS ? 'price' : number === MADE_UP_COINS - 1 ? 'change' : undefined,
      middle,
      swing: 0.2 + 0.6 * fractionOf(`swing ${number}`),
      phases: phasesOf(`made-up-coin-${number}`),
    }
  })
}

/** Returns a coin's price deviation at a time, as a smooth value from -1 to 1. */
function wave(phases: readonly number[], moment: number): number {
  return WAVES.reduce((sum, [length, part], index) => {
    const turns = moment / length + (phases[index] ?? 0)
    return sum + part * Math.sin(2 * Math.PI * turns)
  }, 0)
}

function phasesOf(name: string): number[] {
  return WAVES.map(([length]) => fractionOf(`${name} ${length}`))
}

/** Hashes a text with FNV-1a to a fraction in [0, 1). */
function fractionOf(text: string): number {
  const hash = [...text].reduce((sum, letter) => Math.imul(sum ^ letter.charCodeAt(0), 0x01000193), 0x811c9dc5)
  return (hash >>> 0) / 2 ** 32
}

function contractKey(platform: string, address: string): string {
  return `${platform}:${address.toLowerCase()}`
}
