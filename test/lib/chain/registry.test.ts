import { getAddress } from 'viem'
import { expect, test } from 'vitest'
import { BridgedChainIdText, CHAINS, ChainId, ChainIdText, EVM_CHAINS, evmChain } from '../../../lib/chain/registry.ts'

const INTERFACE = [
  'arbitrum-mainnet',
  'base-mainnet',
  'bsc-mainnet',
  'eth-mainnet',
  'gnosis-mainnet',
  'matic-mainnet',
  'optimism-mainnet',
  'solana-mainnet',
]

test('The registry has the chains of the interface', () => {
  expect(CHAINS.map(({ key }) => key)).toEqual(expect.arrayContaining(INTERFACE))
})

test('Every chain has at least two public RPC URLs, over TLS', () => {
  for (const { rpcUrls } of CHAINS) {
    expect(rpcUrls.length).toBeGreaterThan(1)
    for (const url of rpcUrls) expect(new URL(url).protocol).toBe('https:')
  }
})

test('Every chain but Gnosis has a bridge, with checksummed addresses', () => {
  expect(evmChain(100)?.bridge).toBeNull()
  for (const { bridge } of EVM_CHAINS) {
    if (!bridge) continue
    expect(getAddress(bridge.pool.toLowerCase())).toBe(bridge.pool)
    expect(getAddress(bridge.multicallHandler.toLowerCase())).toBe(bridge.multicallHandler)
  }
})

test('A chain id, as number or text, belongs to an EVM chain of the registry', () => {
  for (const { id } of EVM_CHAINS) expect(ChainId.parse(id)).toBe(id)
  expect(ChainIdText.parse('8453')).toBe(8453)
  for (const other of [0, -1, 1.5, 5, 1151111081099710, '8453']) expect(ChainId.safeParse(other).success).toBe(false)
  for (const other of ['', '0x2105', '8453 ', '08453x', '5', '99999999999999999999']) {
    expect(ChainIdText.safeParse(other).success).toBe(false)
  }
  expect(evmChain(1151111081099710)).toBeUndefined()
})

test('The chain id of a transfer is a JSON number of a chain with a bridge', () => {
  expect(BridgedChainIdText.parse('8453')).toBe(8453)
  const codeOf = (text: string) => BridgedChainIdText.safeParse(text).error?.issues.map(({ code }) => code)
  for (const text of ['x', '+8453', '08453', '0x2105', '.5', '1.', 'NaN', ' 8453', '8453,8453', '\u0668']) {
    expect(codeOf(text), text).toEqual(['invalid_type'])
  }
  for (const text of ['0', '-1', '1.5', '2', '100', '1e3', '1e300', '31337', '9'.repeat(400)]) {
    expect(codeOf(text), text).toEqual(['custom'])
  }
})
