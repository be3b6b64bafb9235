import * as z from 'zod'
import { field } from '../core/field.ts'

/** Currencies in which prices can be requested. They are those of CoinGecko's `/simple/supported_vs_currencies`. */
export const CURRENCIES = [
  ...['usd', 'eur', 'gbp', 'chf', 'jpy', 'aed', 'ars', 'aud', 'bdt', 'bhd', 'bmd', 'brl', 'cad', 'clp', 'cny', 'czk'],
  ...['dkk', 'gel', 'hkd', 'huf', 'idr', 'ils', 'inr', 'krw', 'kwd', 'lkr', 'mmk', 'mxn', 'myr', 'ngn', 'nok', 'nzd'],
  ...['php', 'pkr', 'pln', 'rub', 'sar', 'sek', 'sgd', 'thb', 'try', 'twd', 'uah', 'vef', 'vnd', 'zar', 'xdr', 'xag'],
  ...['xau', 'bits', 'sats', 'btc', 'eth', 'ltc', 'bch', 'bnb', 'eos', 'xrp', 'xlm', 'link', 'dot', 'yfi'],
] as const

/** Request field: one of CURRENCIES, in upper or lower case. Parsing converts it to lower case. */
export const Currency = field(
  z
    .string()
    .transform((text) => text.toLowerCase())
    .pipe(z.enum(CURRENCIES, 'must be a currency that CoinGecko knows, such as USD')),
  'unsupported_currency',
).describe('Currency code in any case, such as USD, EUR, GBP, CHF or JPY')
export type Currency = (typeof CURRENCIES)[number]

/** Value of one US dollar in a currency, now and a day ago. `dayAgo` is undefined if it is unknown. */
export const ExchangeRate = z.object({ now: z.number().positive(), dayAgo: z.number().positive().optional() })
export type ExchangeRate = z.output<typeof ExchangeRate>
