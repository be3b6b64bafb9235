import * as z from 'zod'
import type { Chain } from '../chain/registry.ts'
import { Amount, Timestamp } from '../core/codecs.ts'
import { toResponseAddress } from '../markets/address.ts'
import { ListedToken, type TokenPrice } from '../markets/coin.ts'
import type { ExchangeRate } from '../markets/currency.ts'
import { type Decimal, decimal, dividedBy, minus, times, toNumber, toWholeTokens } from '../markets/decimal.ts'

/** Amount of one token that a user has in all wallets on a chain, in the token's smallest unit. */
export const Holding = z.object({
  ...ListedToken.pick({ address: true, symbol: true, name: true, logoUrl: true }).shape,
  /** Decimals of the token, as its contract reports them. A contract can report any 8-bit number. */
  decimals: z.number().int().min(0).max(255),
  balance: Amount,
  /** True if the service supports the token. Other tokens have no price. */
  isListed: z.boolean(),
  isSpam: z.boolean(),
  /**
   * Details of a vault's share; null for every other token. `price` is the value of one whole share in the asset's
   * smallest unit. It is null if it is unknown.
   */
  share: z.object({ asset: z.string(), assetDecimals: z.number().int(), price: Amount.nullable() }).nullable(),
})
export type Holding = z.output<typeof Holding>

/** A user's holding of one token in API responses. All numbers are finite; values are 0 if the price is unknown. */
export const BalanceEntry = z
  .object({
    balance: Amount.describe("Amount, in the token's smallest unit"),
    contract_address: z
      .string()
      .describe('Address with EIP-55 checksum, or base58 on Solana; 0xEeee…EEeE and So111…112 for coins'),
    contract_decimals: z.number().int().describe('Decimals of the token'),
    contract_name: z.string().describe('Name from the token; may be empty'),
    contract_ticker_symbol: z.string().describe('Symbol from the token; may be empty'),
    is_spam: z.boolean().describe('True if it looks like spam; spam has no price'),
    quote: z.number().describe('Value of the balance, in the currency'),
    chainName: z.string().describe('Chain key'),
    logo_url: z.string().describe('May be empty'),
    quote_24h: z.number().describe("Value of today's balance a day ago; 0 if unknown"),
    quote_24h_variation: z.number().describe('Change of the quote in 24 hours, in percent; 0 if unknown'),
    quote_rate: z.number().describe('Price of one whole token'),
    quote_rate_24h: z.number().describe('Price a day ago; 0 if unknown'),
    quote_rate_24h_variation: z.number().describe('Change of the price in 24 hours, in percent; 0 if unknown'),
    native_token: z.boolean().describe('True for the coin of its chain'),
    defi: z.boolean().describe('True for shares of a vault'),
    price_available: z.boolean().describe('True if the price is known; without it, ignore the quotes, which are 0'),
    price_updated_at: Timestamp.nullable().describe('Time of the price'),
  })
  .meta({ id: 'Balance', description: "A user's holding of one token" })
export type BalanceEntry = z.output<typeof BalanceEntry>

const ONE = decimal(1)
const HUNDRED = decimal(100)

/**
 * Builds the response entry of a holding, with its value in a currency. `price` is the token's price in US dollars; for
 * a vault share it is the asset's price. `rate` is the value of one US dollar in the currency. The value a day ago uses
 * that day's price and rate, but today's share price. Unknown or too large values become 0.
 */
export function buildBalance(
  chain: Chain,
  { address, symbol, name, decimals, logoUrl, balance, isSpam, share }: Holding,
  price: TokenPrice | undefined,
  rate: ExchangeRate | undefined,
): BalanceEntry {
  const unit = share ? share.price !== null && toWholeTokens(share.price, share.assetDecimals) : ONE
  const inCurrency = (dollars: number | null | undefined, dollar: number | undefined) =>
    unit && typeof dollars === 'number' && dollar !== undefined
      ? times(unit, times(decimal(dollars), decimal(dollar)))
      : undefined
  const amount = toWholeTokens(balance, decimals)
  const now = inCurrency(price?.now, rate?.now)
  const dayAgo = inCurrency(price?.dayAgo, rate?.dayAgo)
  const quote = now && times(amount, now)
  const quoteDayAgo = dayAgo && times(amount, dayAgo)
  const isPriced = isNumber(now) && isNumber(quote)
  return {
    balance,
    contract_address: toResponseAddress(chain, address),
    contract_decimals: decimals,
    contract_name: name,
    contract_ticker_symbol: symbol,
    is_spam: isSpam,
    quote: orZero(quote),
    chainName: chain.key,
    logo_url: logoUrl,
    quote_24h: orZero(quoteDayAgo),
    quote_24h_variation: orZero(change(quote, quoteDayAgo)),
    quote_rate: orZero(now),
    quote_rate_24h: orZero(dayAgo),
    quote_rate_24h_variation: orZero(change(now, dayAgo)),
    native_token: address === 'native',
    defi: share !== null,
    price_available: isPriced,
    price_updated_at: isPriced && price ? new Date(price.at) : null,
  }
}

/** Returns the change from `before` to `now` in percent. Returns undefined if a value is unknown or `before` is 0. */
function change(now: Decimal | undefined, before: Decimal | undefined): Decimal | undefined {
  return now && before && before.digits !== 0n ? dividedBy(times(minus(now, before), HUNDRED), before) : undefined
}

function isNumber(value: Decimal | undefined): boolean {
  return value !== undefined && Number.isFinite(toNumber(value))
}

function orZero(value: Decimal | undefined): number {
  return value && isNumber(value) ? toNumber(value) : 0
}
