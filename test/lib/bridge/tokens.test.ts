import { getAddress, isAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { findBridgeToken, findBridgeTokenBySymbol, toBridgedToken } from '../../../lib/bridge/tokens.ts'
import { EVM_CHAINS } from '../../../lib/chain/registry.ts'

const SYMBOLS = ['USDC', 'USDT', 'DAI', 'WETH', 'WBTC']
const CHAINS = [1, 10, 56, 137, 8453, 42161]

/** Expected tokens by chain. The addresses come from another source than the service's own list. */
const EXPECTED: Readonly<Record<number, Readonly<Record<string, readonly [address: string, decimals: number]>>>> = {
  1: {
    USDC: ['0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48', 6],
    USDT: ['0xdac17f958d2ee523a2206206994597c13d831ec7', 6],
    DAI: ['0x6b175474e89094c44da98b954eedeac495271d0f', 18],
    WETH: ['0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2', 18],
    WBTC: ['0x2260fac5e5542a773aa44fbcfedf7c193bc2c599', 8],
  },
  10: {
    USDC: ['0x0b2c639c533813f4aa9d7837caf62653d097ff85', 6],
    USDT: ['0x94b008aa00579c1307b0ef2c499ad98a8ce58e58', 6],
    DAI: ['0xda10009cbd5d07dd0cecc66161fc93d7c9000da1', 18],
    WETH: ['0x4200000000000000000000000000000000000006', 18],
    WBTC: ['0x68f180fcce6836688e9084f035309e29bf0a2095', 8],
  },
  56: {
    USDC: ['0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d', 18],
    USDT: ['0x55d398326f99059ff775485246999027b3197955', 18],
    WETH: ['0x2170ed0880ac9a755fd29b2688956bd959f933f8', 18],
  },
  137: {
    USDC: ['0x3c499c542cef5e3811e1192ce70d8cc03d5c3359', 6],
    USDT: ['0xc2132d05d31c914a87c6611c10748aeb04b58e8f', 6],
    DAI: ['0x8f3cf7ad23cd3cadbd9735aff958023239c6a063', 18],
    WETH: ['0x7ceb23fd6bc0add59e62ac25578270cff1b9f619', 18],
    WBTC: ['0x1bfd67037b42cf73acf2047067bd4f2c47d9bfd6', 8],
  },
  8453: {
    USDC: ['0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', 6],
    USDT: ['0xfde4c96c8593536e31f229ea8f37b2ada2699bb2', 6],
    DAI: ['0x50c5725949a6f0c72e6c4a641f24049a917db0cb', 18],
    WETH: ['0x4200000000000000000000000000000000000006', 18],
  },
  42161: {
    USDC: ['0xaf88d065e77c8cc2239327c5edb3a432268e5831', 6],
    USDT: ['0xfd086bc7cd5c481dcc9c85ebe478a1c0b69fcbb9', 6],
    DAI: ['0xda10009cbd5d07dd0cecc66161fc93d7c9000da1', 18],
    WETH: ['0x82af49447d8a07e3bd95bd0d56f35241523fbab1', 18],
    WBTC: ['0x2f2a2543b76a4166549f7aab2e75bef0aefc5b0f', 8],
  },
}

const everyChain = EVM_CHAINS.map(({ id, name }) => ({ id, name }))
const tokensOf = (chainId: number) =>
  SYMBOLS.map((symbol) => findBridgeTokenBySymbol(chainId, symbol)).filter((token) => token !== undefined)

describe('The list of bridge tokens', () => {
  test('has tokens on exactly six chains', () => {
    expect(everyChain.filter(({ id }) => tokensOf(id).length > 0).map(({ id }) => id)).toEqual(CHAINS)
  })

  test('has no tokens on Gnosis or on an unsupported chain', () => {
    for (const chainId of [100, 2, 0, -1, Number.NaN, 1151111081099710]) expect(tokensOf(chainId)).toEqual([])
    expect(findBridgeToken(100, '0xDDAfbb505ad214D7b80b1f830fcCc89B60fb7A83')).toBeUndefined()
  })

  test.for(everyChain)('has the usual tokens of $name, with their decimals there', ({ id }) => {
    const tokens = tokensOf(id).map(({ symbol, address, decimals }) => [symbol, [address.toLowerCase(), decimals]])
    expect(Object.fromEntries(tokens)).toEqual(EXPECTED[id] ?? {})
  })

  test.for(everyChain)('has each address of $name once, with its checksum', ({ id }) => {
    const addresses = tokensOf(id).map(({ address }) => address)
    for (const address of addresses) expect(getAddress(address.toLowerCase())).toBe(address)
    expect(addresses.every((address) => isAddress(address))).toBe(true)
    expect(new Set(addresses).size).toBe(addresses.length)
  })

  test.for(everyChain)('finds each token of $name by its address on that chain only', ({ id }) => {
    for (const token of tokensOf(id)) {
      expect(findBridgeToken(id, token.address)).toBe(token)
      for (const other of CHAINS) {
        // The same address may exist on the other chain. It must then belong to the same token.
        expect(findBridgeToken(other, token.address)?.symbol ?? token.symbol).toBe(token.symbol)
      }
    }
    expect(findBridgeToken(id, '0x00000000000000000000000000000000000000A1')).toBeUndefined()
  })

  test("bridges a chain's coin as its wrapped token only if the coin is ETH", () => {
    const coin = getAddress(`0x${'ee'.repeat(20)}`)
    for (const { id } of everyChain) {
      const isEther = [1, 10, 8453, 42161].includes(id)
      expect(toBridgedToken(id, coin).toLowerCase()).toBe(isEther ? EXPECTED[id]?.['WETH']?.[0] : coin.toLowerCase())
      for (const { address, symbol, wrapsCoin } of tokensOf(id)) {
        expect(toBridgedToken(id, address)).toBe(address)
        expect(wrapsCoin ?? false).toBe(isEther && symbol === 'WETH')
      }
    }
  })

  test('has no token for an unknown symbol', () => {
    for (const symbol of ['', 'usdc', 'USDC.e', 'constructor', 'length', '__proto__']) {
      for (const chainId of CHAINS) expect(findBridgeTokenBySymbol(chainId, symbol)).toBeUndefined()
    }
  })
})
