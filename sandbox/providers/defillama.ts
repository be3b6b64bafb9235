import { zeroAddress } from 'viem'
import { CHAINS } from '../../lib/chain/registry.ts'
import type { ProviderReply } from '../fake.ts'
import { createFakeService, type FakeRequest, type FakeService } from '../fake.ts'
import { type MadeUpCoin, type MadeUpMarket, minuteOf } from './market.ts'

const MAX_POINTS = 500
const UNIT_SECONDS: Readonly<Record<string, number>> = { w: 604_800, d: 86_400, h: 3600, m: 60 }
const CONFIDENCE = 0.99

/**
 * Returns a fake of DefiLlama's price API under the path /defillama (https://api-docs.defillama.com), with prices of the invented market.
 * Responses omit unknown coins. `now` is in epoch milliseconds.
 */
export function fakeDefiLlama(market: MadeUpMarket, now: () => number): FakeService {
  const findCoin = (name: string): MadeUpCoin | undefined => {
    const [prefix, rest = ''] = name.split(/:(.*)/)
    if (prefix === 'coingecko') return market.coins.find(({ id }) => id === rest)
    const chain = CHAINS.find(({ defiLlamaPrefix }) => defiLlamaPrefix === prefix)
    if (!chain) return undefined
    if (rest === zeroAddress) return market.coins.find(({ id }) => id === chain.nativeCoin.coinGeckoId)
    return market.coinAt(chain.coinGeckoPlatform, rest)
  }
  const pointAt = (coin: MadeUpCoin, seconds: number) => {
    const price = market.priceAt(coin, 'usd', seconds * 1000)
    return price === undefined ? undefined : { timestamp: minuteOf(seconds * 1000) / 1000, price }
  }
  const replyForCoins = (names: string, pricesOf: (coin: MadeUpCoin) => object | undefined): ProviderReply => {
    const coins = names.split(',').flatMap((name) => {
      const coin = findCoin(name)
      const price = coin && pricesOf(coin)
      return price ? [[name, { symbol: coin.symbol.toUpperCase(), confidence: CONFIDENCE, ...price }]] : []
    })
    return { status: 200, body: { coins: Object.fromEntries(coins) } }
  }

  const chart = (names: string, { query }: FakeRequest): ProviderReply => {
    const [start, end] = [query.get('start'), query.get('end')]
    if (start !== null && end !== null) return refuse('use either start or end parameter, not both')
    const span = Number(query.get('span') ?? 1)
    if (span * names.split(',').length > MAX_POINTS) return refuse(`at most ${MAX_POINTS} points`)
    const step = secondsOf(query.get('period') ?? '24h') * (start === null ? -1 : 1)
    const origin = Number(start ?? end ?? Math.floor(now() / 1000))
    const moments = Array.from({ length: span }, (_, index) => origin + index * step).sort((a, b) => a - b)
    return replyForCoins(names, (coin) => {
      const prices = moments.flatMap((seconds) => pointAt(coin, seconds) ?? [])
      return prices.length > 0 ? { prices } : undefined
    })
  }

  return createFakeService('/defillama', (question) => {
    const [area, second, third, fourth] = question.parts
    if (area === 'prices' && second === 'current' && third) {
      return replyForCoins(third, (coin) => pointAt(coin, Math.floor(now() / 1000)))
    }
    if (area === 'prices' && second === 'historical' && fourth) {
      return replyForCoins(fourth, (coin) => pointAt(coin, Number(third)))
    }
    if (area === 'chart' && second) return chart(second, question)
    return { status: 404, body: { message: 'Not Found' } }
  })
}

/** Returns the seconds of a period such as 5m, 2h or 1w. A period without a unit is in seconds. */
function secondsOf(period: string): number {
  const [, count, unit = ''] = /^(\d+)([wdhm]?)$/i.exec(period) ?? []
  return Number(count) * (UNIT_SECONDS[unit.toLowerCase()] ?? 1)
}

function refuse(message: string): ProviderReply {
  return { status: 400, body: { message } }
}
