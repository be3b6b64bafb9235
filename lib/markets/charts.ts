import * as z from 'zod'
import { isOverdue } from '../cache/aged.ts'
import type { Aged, Namespace, SharedCache } from '../cache/cache.ts'
import type { CHAINS } from '../chain/registry.ts'
import { AppError } from '../errors.ts'
import { resultOf, valueIn } from '../result.ts'
import { parseTokenAddress, WRAPPED_SOL } from './address.ts'
import { tokensOf } from './cached.ts'
import { Chart } from './coin.ts'
import type { ChartedCoin, CoinGecko } from './coingecko.ts'
import type { Currency } from './currency.ts'
import type { DefiLlama } from './defillama.ts'
import { supportedTokens } from './tokens.ts'

type Dependencies = {
  readonly cache: Pick<SharedCache, 'get' | 'getOrFetch'>
  readonly coinGecko: Pick<CoinGecko, 'fetchChart'>
  readonly defiLlama: Pick<DefiLlama, 'fetchChart'>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** How far a chart goes back, and in which currency it is. */
export type Span = { readonly currency: Currency; readonly days: number | 'max' }

/** A chart and how many days it tells of, which can be fewer than were asked for. */
const DatedChart = z.object({ chart: Chart, days: z.union([z.number().int(), z.literal('max')]) })
export type DatedChart = z.output<typeof DatedChart>

/** A coin by its name at both sources. */
type Place = { readonly coinGecko: ChartedCoin; readonly defiLlama: string }

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const SUBSTITUTE: Namespace<DatedChart | null> = {
  name: 'chart-of-defillama',
  schema: DatedChart.nullable(),
  freshSeconds: 5 * MINUTE,
  keepSeconds: HOUR,
}

/** The prices of a coin by CoinGecko's id. Throws `token_not_found` or `upstream_*`. */
export function chartById(dependencies: Dependencies, id: string, span: Span): Promise<Aged<DatedChart>> {
  return chartOf(dependencies, placeOf(id), span)
}

/** The prices of a token by its address, or of the chain's own coin however it is written. Throws `token_not_found` or `upstream_*`. */
export async function chartByAddress(
  dependencies: Dependencies,
  chain: (typeof CHAINS)[number],
  text: string,
  span: Span,
): Promise<Aged<DatedChart>> {
  const address = parseTokenAddress(chain, text)
  if (address === undefined) throw new AppError('token_not_found')
  if (address === 'native' || address === WRAPPED_SOL)
    return chartById(dependencies, chain.nativeCoin.coinGeckoId, span)
  const { tokens } = await dependencies.cache.get({ tokens: tokensOf(chain.key) })
  const listed = supportedTokens(chain, tokens).find((token) => token.address === address)
  if (listed?.coinGeckoId) return chartById(dependencies, listed.coinGeckoId, span)
  const coinGecko = { platform: chain.coinGeckoPlatform, address }
  return chartOf(dependencies, { coinGecko, defiLlama: `${chain.defiLlamaPrefix}:${address}` }, span)
}

/** CoinGecko's chart; DefiLlama's, which has prices alone, while there is none of CoinGecko's that is young enough. */
async function chartOf(
  { cache, coinGecko, defiLlama, now }: Dependencies,
  place: Place,
  { currency, days }: Span,
): Promise<Aged<DatedChart>> {
  const key = `${place.defiLlama}#${currency}#${days}`
  const namespace = namespaceOf(days)
  const result = await resultOf(
    cache.getOrFetch({ namespace, key }, () => coinGecko.fetchChart(place.coinGecko, currency, days)),
  )
  const isGood = 'value' in result && !isOverdue(result.value, namespace, now())
  if (isGood || currency !== 'usd') return found(valueIn(result))

  const substitute = await resultOf(
    cache.getOrFetch({ namespace: SUBSTITUTE, key }, async () => {
      const chart = await defiLlama.fetchChart(place.defiLlama, days, now())
      return chart && { chart, days }
    }),
  )
  return found('value' in substitute && substitute.value.value ? substitute.value : valueIn(result))
}

function found({ value, ...age }: Aged<DatedChart | null>): Aged<DatedChart> {
  if (!value) throw new AppError('token_not_found')
  return { value, ...age }
}

function placeOf(id: string): Place {
  return { coinGecko: { id }, defiLlama: `coingecko:${id}` }
}

/** The further back a chart goes, the less often it has a new point. */
function namespaceOf(days: number | 'max'): Namespace<DatedChart | null> {
  const freshSeconds = days === 'max' || days > 90 ? 12 * HOUR : days > 1 ? 30 * MINUTE : MINUTE
  return { name: 'chart', schema: DatedChart.nullable(), freshSeconds, keepSeconds: DAY }
}
