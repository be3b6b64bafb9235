import { getAddress, zeroAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { CHAINS } from '../../../lib/chain/registry.ts'
import { ListedToken } from '../../../lib/markets/coin.ts'
import { createLiFi } from '../../../lib/markets/lifi.ts'
import { createFakeUpstream, type FakeReply } from '../../support/upstream.ts'

const BASE = 8453
const SOLANA = 1151111081099710
const SOLANA_NATIVE = '11111111111111111111111111111111'

const USDC = {
  chainId: BASE,
  address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  symbol: 'USDC',
  decimals: 6,
  name: 'USD Coin',
  coinKey: 'USDC',
  logoURI: 'https://raw.githubusercontent.com/trustwallet/assets/usdc.png',
  priceUSD: '0.999831',
  tags: ['stablecoin'],
  verificationStatus: 'verified',
  marketCapUSD: 74000000000,
  volumeUSD24H: 11200000000,
  fdvUSD: 74000000000,
  a_field_of_tomorrow: [],
}
const ETHER = { ...USDC, address: zeroAddress, symbol: 'ETH', decimals: 18, name: 'ETH', coinKey: 'ETH' }
const tail = (number: number, more = {}) => ({
  chainId: BASE,
  address: `0x${number.toString(16).padStart(40, '0')}`,
  symbol: `T${number}`,
  decimals: 18,
  name: `Token ${number}`,
  priceUSD: '1',
  marketCapUSD: number,
  ...more,
})

const listOf = (tokens: unknown) => createLiFi(createFakeUpstream(() => ({ body: { tokens } })).ask).fetchTokens()
const onBase = async (...rows: unknown[]) => (await listOf({ [BASE]: [ETHER, ...rows] })).get('base-mainnet') ?? []
const symbols = (tokens: readonly ListedToken[]) => tokens.map(({ symbol }) => symbol)

test('The list is requested once for all supported chains', async () => {
  const { ask, urls } = createFakeUpstream(() => ({ body: { tokens: { [BASE]: [ETHER] } } }))
  await createLiFi(ask).fetchTokens()
  expect(urls.map(({ pathname }) => pathname)).toEqual(['/api/tokens'])
  expect(Object.fromEntries(urls[0]?.searchParams ?? [])).toEqual({
    chains: CHAINS.map(({ id }) => id).join(','),
    chainTypes: 'EVM,SVM',
    extended: 'true',
  })
})

describe('A token', () => {
  test('has its checksummed address, its texts, and no id of CoinGecko yet', async () => {
    const [native, usdc] = await onBase({ ...USDC, address: USDC.address.toLowerCase() })
    expect(native).toEqual({
      ...{ chain: 'base-mainnet', address: 'native', symbol: 'ETH', name: 'Ether', decimals: 18, coinKey: 'ETH' },
      ...{ logoUrl: ETHER.logoURI, coinGeckoId: '' },
    })
    expect(usdc).toEqual({
      chain: 'base-mainnet',
      address: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      symbol: 'USDC',
      name: 'USD Coin',
      decimals: 6,
      coinKey: 'USDC',
      logoUrl: USDC.logoURI,
      coinGeckoId: '',
    })
    for (const token of [native, usdc]) expect(ListedToken.parse(token)).toEqual(token)
  })

  test.each([
    ['a wrong checksum', { address: USDC.address.replace('fCD', 'FCD') }],
    ['no address', { address: null }],
    ['an address of another kind of chain', { address: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' }],
    ['a short address', { address: '0x1234' }],
    ['half a decimal', { decimals: 6.5 }],
    ['decimals below zero', { decimals: -1 }],
    ['37 decimals', { decimals: 37 }],
    ['decimals in words', { decimals: '6' }],
    ['no decimals', { decimals: null }],
    ['no symbol', { symbol: '' }],
    ['an invalid name', { name: 7 }],
    ['a flag', { verificationStatus: 'flagged' }],
    ['neither a coin key nor a market capitalisation', { coinKey: undefined, marketCapUSD: null }],
    ['only a market capitalisation as text', { coinKey: undefined, marketCapUSD: '1000' }],
    ['only a market capitalisation of zero', { coinKey: '', marketCapUSD: 0 }],
  ])('with %s is left out, and the others stay', async (_, wrong) => {
    expect(symbols(await onBase({ ...USDC, ...wrong }, null, 7, 'token', tail(1)))).toEqual(['ETH', 'T1'])
  })

  test.each([
    ['only a coin key', { marketCapUSD: null }, 'USDC'],
    ['only a market capitalisation', { coinKey: undefined }, ''],
    ['zero decimals', { decimals: 0 }, 'USDC'],
    ['36 decimals', { decimals: 36 }, 'USDC'],
    ['a status that is unknown', { verificationStatus: null }, 'USDC'],
    ['an invalid coin key', { coinKey: 7 }, ''],
  ])('with %s is listed', async (_, more, coinKey) => {
    expect(await onBase({ ...USDC, ...more })).toEqual([
      expect.anything(),
      expect.objectContaining({ symbol: 'USDC', coinKey }),
    ])
  })

  test.each([undefined, null, '', 'usdc.png', 'javascript:alert(1)', 7])(
    'with the picture %j has no picture',
    async (logoURI) => {
      expect((await onBase({ ...USDC, logoURI }))[1]?.logoUrl).toBe('')
    },
  )
})

describe('The list of a chain', () => {
  test('has its own coin first, then coins with a key, then the rest by market capitalisation', async () => {
    const tokens = await onBase(
      tail(5),
      tail(7),
      tail(3, { coinKey: 'THREE', marketCapUSD: null }),
      tail(9, { coinKey: 'NINE' }),
      tail(6),
    )
    expect(symbols(tokens)).toEqual(['ETH', 'T9', 'T3', 'T7', 'T6', 'T5'])
  })

  test('has each address once, with the better one of two rows', async () => {
    const upper = tail(0xabc).address.toUpperCase().replace('0X', '0x')
    const tokens = await onBase(
      tail(0xabc, { name: 'Worse', marketCapUSD: 1 }),
      tail(0xabc, { address: upper, name: 'Better' }),
    )
    expect(tokens.map(({ name }) => name)).toEqual(['Ether', 'Better'])
    expect(tokens[1]?.address).toBe(getAddress(tail(0xabc).address as `0x${string}`))
  })

  test('has at most 300 of 10,000 tokens', async () => {
    const tokens = await onBase(...Array.from({ length: 10_000 }, (_, index) => tail(index + 1)))
    expect(tokens).toHaveLength(300)
    expect(symbols(tokens).slice(0, 3)).toEqual(['ETH', 'T10000', 'T9999'])
    expect(symbols(tokens).at(-1)).toBe('T9702')
  })

  test.each([
    ['by zero', zeroAddress],
    ['by the usual placeholder address', '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'],
    ['not at all', undefined],
  ])('has its own coin once, named %s', async (_, address) => {
    const tokens = (await listOf({ [BASE]: [USDC, ...(address ? [{ ...ETHER, address }] : [])] })).get('base-mainnet')
    expect(tokens?.map((token) => [token.address, token.symbol, token.decimals])).toEqual([
      ['native', 'ETH', 18],
      [USDC.address, 'USDC', 6],
    ])
  })

  test('of Polygon has POL once, although it is an ERC-20 token too', async () => {
    const pol = { ...ETHER, symbol: 'POL', coinKey: 'POL' }
    const twice = [pol, { ...pol, address: '0x0000000000000000000000000000000000001010' }]
    expect((await listOf({ 137: twice })).get('matic-mainnet')).toHaveLength(1)
  })

  test('of Solana keeps the letter case of addresses', async () => {
    const mint = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
    const rows = [
      { ...ETHER, address: SOLANA_NATIVE, symbol: 'SOL', decimals: 9 },
      { ...USDC, address: mint },
      { ...USDC, address: mint.toLowerCase() },
      { ...USDC, address: `${mint}1` },
      { ...USDC, address: USDC.address },
    ]
    const tokens = (await listOf({ [SOLANA]: rows })).get('solana-mainnet')
    expect(tokens?.map(({ address, decimals }) => [address, decimals])).toEqual([
      ['native', 9],
      [mint, 6],
    ])
  })
})

describe('A response', () => {
  test('is read for supported chains only, without those that it omits', async () => {
    const tokens = await listOf({ [BASE]: [ETHER], 1: [], 10: null, 56: 'tokens', 100: [{}], 999999999: [USDC] })
    expect([...tokens.keys()]).toEqual(['base-mainnet'])
  })

  test.each<[string, FakeReply, string]>([
    ['HTML', { body: '<html>Welcome</html>' }, 'upstream_bad_answer'],
    ['truncated JSON', { body: '{"tokens":{"1":[{"add' }, 'upstream_bad_answer'],
    ['a list', { body: [USDC] }, 'upstream_bad_answer'],
    ['no supported chain', { body: { tokens: { 999999999: [USDC] } } }, 'upstream_bad_answer'],
    ['only invalid tokens', { body: { tokens: { [BASE]: [{ token: 'USDC' }] } } }, 'upstream_bad_answer'],
    ['a refusal', { status: 400, body: { message: 'Invalid chain', code: 1011 } }, 'upstream_bad_answer'],
    ['a limit', { status: 429, body: { message: 'Too many requests', code: 1005 } }, 'upstream_unavailable'],
    ['a fault', { status: 500, body: { message: 'x', code: 1000 } }, 'upstream_unavailable'],
  ])('that is %s is an error', async (_, reply, code) => {
    await expect(createLiFi(createFakeUpstream(() => reply).ask).fetchTokens()).rejects.toMatchObject({ code })
  })
})
