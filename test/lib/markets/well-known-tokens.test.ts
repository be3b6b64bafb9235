import { getAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { decodeBase58 } from '../../../lib/accounts/base58.ts'
import { findBridgeTokenBySymbol } from '../../../lib/bridge/tokens.ts'
import { CHAINS, EVM_CHAINS } from '../../../lib/chain/registry.ts'
import { ListedToken } from '../../../lib/markets/coin.ts'
import { WELL_KNOWN_TOKENS } from '../../../lib/markets/well-known-tokens.ts'

const on = (chain: string) => WELL_KNOWN_TOKENS.filter((token) => token.chain === chain)

describe.each(CHAINS)('On $name the list', ({ key, kind, nativeCoin }) => {
  test('begins with the chain’s own coin, as in the registry', () => {
    expect(on(key)[0]).toMatchObject({ address: 'native', ...nativeCoin })
    expect(on(key).filter(({ address }) => address === 'native')).toHaveLength(1)
  })

  test('has four to eight contracts, each once, at addresses that exist', () => {
    const addresses = on(key)
      .slice(1)
      .map(({ address }) => address)
    expect(addresses.length).toBeGreaterThanOrEqual(4)
    expect(addresses.length).toBeLessThanOrEqual(8)
    expect(new Set(addresses).size).toBe(addresses.length)
    for (const address of addresses) {
      if (kind === 'evm') expect(address).toBe(getAddress(address.toLowerCase()))
      else expect(decodeBase58(address, 32)).not.toBeNull()
    }
  })

  test('has USDC and USDT', () => {
    expect(on(key).map(({ symbol }) => symbol)).toEqual(expect.arrayContaining(['USDC', 'USDT']))
  })
})

test('Every token of the list has all fields of a token except a picture', () => {
  expect(z.array(ListedToken).parse(WELL_KNOWN_TOKENS)).toEqual(WELL_KNOWN_TOKENS)
  for (const token of WELL_KNOWN_TOKENS) {
    expect(token.symbol).not.toBe('')
    expect(token.coinKey).not.toBe('')
    expect(token.coinGeckoId).toMatch(/^[a-z0-9-]+$/)
    expect(token.name).toMatch(/^[A-Z]/i)
  }
})

test('The list has each token of the bridge, with the bridge’s decimals', () => {
  for (const { id, key } of EVM_CHAINS) {
    for (const symbol of ['USDC', 'USDT', 'DAI', 'WETH', 'WBTC']) {
      const token = findBridgeTokenBySymbol(id, symbol)
      const { address, decimals } = token ?? {}
      if (token) expect(on(key)).toContainEqual(expect.objectContaining({ address, decimals }))
    }
  }
})

test('Dollars have 18 decimals on BNB Smart Chain and 6 everywhere else', () => {
  for (const { chain, symbol, decimals } of WELL_KNOWN_TOKENS) {
    if (/^USD[CT]/.test(symbol)) expect([chain, decimals]).toEqual([chain, chain === 'bsc-mainnet' ? 18 : 6])
  }
})
