import * as z from 'zod'
import { field } from '../core/field.ts'
import { Chart } from './coin.ts'
import { CURRENCIES, Currency } from './currency.ts'

const MAX_DAYS = 36_500

/** Query parameter: length of a price chart in days, or `max`. */
const Days = field(
  z.codec(
    z.string().meta({ pattern: '^(max|[1-9][0-9]{0,4})$', description: 'Number of days from 1 to 36500, or max' }),
    z.union([z.literal('max'), z.number().int().min(1).max(MAX_DAYS)]),
    {
      decode: (text, context) => {
        if (text === 'max') return text
        if (/^[1-9]\d{0,4}$/.test(text) && Number(text) <= MAX_DAYS) return Number(text)
        context.issues.push({ code: 'custom', message: `must be from 1 to ${MAX_DAYS}, or max`, input: text })
        return z.NEVER
      },
      encode: (days) => days.toString(),
    },
  ),
  'invalid_days',
)

/** Query parameters of a price chart. */
export const ChartQuery = z.object({
  currency: Currency.default('usd'),
  days: Days.default('max'),
})

/** Price chart in API responses, in the form of CoinGecko's market charts. */
export const ChartResponse = z.object({
  prices: Chart.shape.prices.describe('Pairs of epoch milliseconds and price, ascending; the last one is now'),
  market_caps: Chart.shape.marketCaps.describe('May be empty'),
  total_volumes: Chart.shape.volumes.describe('May be empty'),
  currency: z.enum(CURRENCIES).describe('Currency of the prices'),
  days: Days.describe('Number of days in the chart'),
  truncated: z.boolean().describe('True if the chart has fewer days than requested'),
})
