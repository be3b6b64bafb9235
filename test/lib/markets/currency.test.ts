import { expect, test } from 'vitest'
import { CURRENCIES, Currency } from '../../../lib/markets/currency.ts'

test.each(['USD', 'usd', 'uSd', 'Eur', 'SATS', ...CURRENCIES.map((currency) => currency.toUpperCase())])(
  '%s is a currency, and in lower case from then on',
  (text) => {
    expect(Currency.parse(text)).toBe(text.toLowerCase())
  },
)

test.each(['', ' ', 'us', 'usdd', 'usd ', ' usd', 'usd,eur', 'doge', '$', 'constructor', '__proto__', 'ＵＳＤ'])(
  '%j is none',
  (text) => {
    expect(Currency.safeParse(text).success).toBe(false)
  },
)

test.each([undefined, null, 1, {}, ['usd'], true])('%j is none', (value) => {
  expect(Currency.safeParse(value).success).toBe(false)
})

test('the problem with a currency names no other than the known ones by example', () => {
  const problems = Currency.safeParse('doge').error?.issues.map(({ message }) => message)
  expect(problems).toEqual(['must be a currency that CoinGecko knows, such as USD'])
})

test('there are the currencies that CoinGecko lists, each once', () => {
  expect(new Set(CURRENCIES).size).toBe(CURRENCIES.length)
  for (const currency of CURRENCIES) expect(currency).toMatch(/^[a-z]{3,4}$/)
  expect(CURRENCIES).toEqual(expect.arrayContaining(['usd', 'eur', 'gbp', 'chf', 'jpy', 'btc', 'eth']))
})
