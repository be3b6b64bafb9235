import { type Address, numberToHex } from 'viem'
import { expect, test } from 'vitest'
import { buildCall } from '../../../lib/chain/call.ts'
import { erc20Abi } from '../../../lib/chain/erc20.ts'
import { type ChainReader, createChainReader, type ReadPlan } from '../../../lib/chain/reader.ts'
import { evmChain } from '../../../lib/chain/registry.ts'
import type { RpcRequest } from '../../../lib/chain/rpc.ts'

function planOf(index: number): ReadPlan<unknown> {
  const address: Address = numberToHex(index + 1, { size: 20 })
  return { address, slots: [], calls: [buildCall(address, erc20Abi, 'symbol', [])], parse: () => undefined }
}

function openReader() {
  const chain = evmChain(8453)
  if (!chain) throw new Error('Base is not in the registry')
  let last: RpcRequest | undefined
  const reader = createChainReader(chain, async ([request]) => {
    last = request
    return []
  })
  return async (...read: Parameters<ChainReader['read']>) => {
    await reader.read(...read).catch(() => {})
    return last
  }
}

test('The request of the same plans at the latest block is encoded once', async () => {
  const requestOf = openReader()
  const plans = [planOf(0), planOf(1)]
  const first = await requestOf(plans)
  expect(first).toBeDefined()
  expect(await requestOf([...plans])).toBe(first)
})

test('Other plans, fewer plans and another block have their own requests', async () => {
  const requestOf = openReader()
  const [one, other, third] = [planOf(0), planOf(1), planOf(2)]
  const first = await requestOf([one, other])
  for (const plans of [[one, third], [other, one], [one]]) {
    expect((await requestOf(plans))?.params).not.toEqual(first?.params)
  }
  expect((await requestOf([one, other], { at: 7n }))?.params[1]).toBe('0x7')
  expect((await requestOf([one, other]))?.params[1]).toBe('latest')
})

test('A reader keeps the requests of the last plans', async () => {
  const requestOf = openReader()
  const [one, other] = [[planOf(0)], [planOf(1)]]
  const first = await requestOf(one)
  await requestOf(one, { at: 7n })
  expect(await requestOf(one)).toBe(first)
  await requestOf(other)
  expect(await requestOf(one)).not.toBe(first)
})
