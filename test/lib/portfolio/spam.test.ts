import { describe, expect, test } from 'vitest'
import { spamFilter } from '../../../lib/portfolio/spam.ts'

const LISTED = [
  { symbol: 'USDC', name: 'USD Coin' },
  { symbol: 'USDT', name: 'Tether USD' },
  { symbol: 'ETH', name: 'Ether' },
  { symbol: 'OP', name: 'Optimism' },
  { symbol: '', name: '' },
]
const isSpam = spamFilter(LISTED)

describe('An unlisted token', () => {
  test.for<[symbol: string, name: string]>([
    // Symbols or names that contain a web site.
    ['USDC-REWARD.COM', 'any'],
    ['$ uni-v3 . org', 'any'],
    ['X', 'https://evil.example'],
    ['X', 'Go to www.evil.example'],
    ['X', 'Join t.me/evil'],
    ['X', 'pay at ETHEREUM.XYZ now'],
    ['X', 'сайт.com'],
    // Symbols or names that promise a gift.
    ['GIFT', 'Claim your tokens'],
    ['AIRDROP', '5000 dollars'],
    ['X', 'VISIT our page'],
    ['X', 'Staking Rewards'],
    // Symbols or names that listed tokens have.
    ['USDC', 'Another one'],
    ['usdc', 'Another one'],
    ['X', 'USD Coin'],
    ['X', 'Tether  usd'],
    ['Tether USD', 'X'],
    [' U S D C ', 'X'],
    ['$USDC', 'X'],
    ['ÜSDC', 'X'],
    ['USD₮', 'X'],
    // Symbols or names with look-alike or invisible characters.
    ['USDС', 'with a Cyrillic С'],
    ['ЕТН', 'х'],
    ['EΤH', 'with a Greek Τ'],
    ['ＵＳＤＣ', 'X'],
    ['𝐔𝐒𝐃𝐂', 'X'],
    ['US\u200bDC', 'X'],
    ['X', 'Coin \u202e live'],
    ['X', 'Wrаpped'],
  ])('looks like spam as %j, %j', ([symbol, name]) => {
    expect(isSpam({ symbol, name })).toBe(true)
  })

  test.for<[symbol: string, name: string]>([
    ['HARBOR', 'Harbor Points'],
    ['USDC.e', 'Bridged USDC (Stargate)'],
    ['aBasUSDC', 'Aave Base USDC'],
    ['UNI-V2', 'Uniswap V2'],
    ['S&P500', 'Version 1.2 of an index'],
    ['РУБЛЬ', 'Рубль'],
    ['比特币', '人民币'],
    ['🦄', 'Unicorn 👩‍🚀'],
    ['SHOP', 'Shopping Club'],
    ['PRO', 'Mr. Pro'],
    ['', ''],
  ])('does not look like spam as %j, %j', ([symbol, name]) => {
    expect(isSpam({ symbol, name })).toBe(false)
  })
})

test('The filter of a list is built once, and another list has its own', () => {
  const listed = [{ symbol: 'AAVE', name: 'Aave' }]
  expect(spamFilter(listed)).toBe(spamFilter(listed))
  expect(spamFilter([...listed])).not.toBe(spamFilter(listed))
})
