import { expect, test } from 'vitest'
import { CURRENCIES, Currency } from '../../../lib/markets/currency.ts'

test.each(['USD', 'usd', 'uSd', 'Eur', 'SATS', ...CURRENCIES.map((currency) => currency.toUpperCase())])(
  '%s is a currency, which is parsed to lower case',
  (text) => {
    expect(Currency.parse(text)).toBe(text.toLowerCase())
  },
)

test.each(['', ' ', 'us', 'usdd', 'usd ', ' usd', 'usd,eur', 'doge', '$', 'constructor', '__proto__', 'ＵＳＤ'])(
  '%j is not a currency',
  (text) => {
    expect(Currency.safeParse(text).success).toBe(false)
  },
)

test.each([undefined, null, 1, {}, ['usd'], true])('%j is not a currency', (value) => {
  expect(Currency.safeParse(value).success).toBe(false)
})

test('The error for an unknown currency names an example of a known one', () => {
  const problems = Currency.safeParse('doge').error?.issues.map(({ message }) => message)
  expect(problems).toEqual(['must be a currency that CoinGecko knows, such as USD'])
})

test('The list has the currencies of CoinGecko, each once', () => {
  expect(new Set(CURRENCIES).size).toBe(CURRENCIES.length)
  for (const currency of CURRENCIES) expect(currency).toMatch(/^[a-z]{3,4}$/)
  expect(CURRENCIES).toEqual(expect.arrayContaining(['usd', 'eur', 'gbp', 'chf', 'jpy', 'btc', 'eth']))
})
