import { getAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { decodeBase58 } from '../../../lib/accounts/base58.ts'
import { findBridgeTokenBySymbol } from '../../../lib/bridge/tokens.ts'
import { CHAINS, EVM_CHAINS } from '../../../lib/chain/registry.ts'
import { ListedToken } from '../../../lib/markets/coin.ts'
import { WELL_KNOWN_TOKENS } from '../../../lib/markets/well-known-tokens.ts'

const on = (chain: string) => WELL_KNOWN_TOKENS.filter((token) => token.chain === chain)

describe.each(CHAINS)('on $name the list', ({ key, kind, nativeCoin }) => {
  test('begins with the own coin of the chain, as the registry has it', () => {
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

  test('has dollars', () => {
    expect(on(key).map(({ symbol }) => symbol)).toEqual(expect.arrayContaining(['USDC', 'USDT']))
  })
})

test('every token of the list has all that is told of a token, but for its picture', () => {
  expect(z.array(ListedToken).parse(WELL_KNOWN_TOKENS)).toEqual(WELL_KNOWN_TOKENS)
  for (const token of WELL_KNOWN_TOKENS) {
    expect(token.symbol).not.toBe('')
    expect(token.coinKey).not.toBe('')
    expect(token.coinGeckoId).toMatch(/^[a-z0-9-]+$/)
    expect(token.name).toMatch(/^[A-Z]/i)
  }
})

test('the list has each token that the bridge takes, with the decimals that the bridge gives it', () => {
  for (const { id, key } of EVM_CHAINS) {
    for (const symbol of ['USDC', 'USDT', 'DAI', 'WETH', 'WBTC']) {
      const token = findBridgeTokenBySymbol(id, symbol)
      const { address, decimals } = token ?? {}
      if (token) expect(on(key)).toContainEqual(expect.objectContaining({ address, decimals }))
    }
  }
})

test('dollars have 18 decimals on BNB Smart Chain and 6 everywhere else', () => {
  for (const { chain, symbol, decimals } of WELL_KNOWN_TOKENS) {
    if (/^USD[CT]/.test(symbol)) expect([chain, decimals]).toEqual([chain, chain === 'bsc-mainnet' ? 18 : 6])
  }
})
