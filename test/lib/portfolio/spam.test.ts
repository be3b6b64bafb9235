import { describe, expect, test } from 'vitest'
import { type SpamSignal, spamSigns } from '../../../lib/portfolio/spam.ts'

const LISTED = [
  { symbol: 'USDC', name: 'USD Coin' },
  { symbol: 'USDT', name: 'Tether USD' },
  { symbol: 'ETH', name: 'Ether' },
  { symbol: 'OP', name: 'Optimism' },
  { symbol: '', name: '' },
]
const signsOf = spamSigns(LISTED)

describe('A token that is not listed', () => {
  test.for<[symbol: string, name: string, SpamSignal[]]>([
    // Sites
    ['USDC-REWARD.COM', 'any', ['lure', 'site']],
    ['$ uni-v3 . org', 'any', ['site']],
    ['X', 'https://evil.example', ['site']],
    ['X', 'Go to www.evil.example', ['site']],
    ['X', 'Join t.me/evil', ['site']],
    ['X', 'pay at ETHEREUM.XYZ now', ['site']],
    ['X', 'сайт.com', ['look-alike', 'site']],
    // Lures
    ['GIFT', 'Claim your tokens', ['lure']],
    ['AIRDROP', '5000 dollars', ['lure']],
    ['X', 'VISIT our page', ['lure']],
    ['X', 'Staking Rewards', ['lure']],
    // Imitations
    ['USDC', 'Another one', ['imitation']],
    ['usdc', 'Another one', ['imitation']],
    ['X', 'USD Coin', ['imitation']],
    ['X', 'Tether  usd', ['imitation']],
    ['Tether USD', 'X', ['imitation']],
    [' U S D C ', 'X', ['imitation']],
    ['$USDC', 'X', ['imitation']],
    ['ÜSDC', 'X', ['imitation']],
    ['USD₮', 'X', ['imitation']],
    // Look-alikes
    ['USDС', 'with a Cyrillic С', ['imitation', 'look-alike']],
    ['ЕТН', 'х', ['imitation']],
    ['EΤH', 'with a Greek Τ', ['imitation', 'look-alike']],
    ['ＵＳＤＣ', 'X', ['imitation', 'look-alike']],
    ['𝐔𝐒𝐃𝐂', 'X', ['imitation', 'look-alike']],
    ['US\u200bDC', 'X', ['imitation', 'look-alike']],
    ['X', 'Coin \u202e live', ['look-alike']],
    ['X', 'Wrаpped', ['look-alike']],
  ])('looks like spam as %j, %j', ([symbol, name, signs]) => {
    expect(signsOf({ symbol, name, isFlagged: false }).toSorted()).toEqual(signs)
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
    expect(signsOf({ symbol, name, isFlagged: false })).toEqual([])
  })

  test('is spam when the indexer says so, and keeps its other signs', () => {
    expect(signsOf({ symbol: 'HARBOR', name: 'Harbor Points', isFlagged: true })).toEqual(['flagged'])
    expect(signsOf({ symbol: 'USDC', name: 'claim at usdc.gift', isFlagged: true })).toEqual([
      'flagged',
      'site',
      'lure',
      'imitation',
    ])
  })
})
