import { hexToBigInt, numberToHex, zeroAddress } from 'viem'
import { expect, test } from 'vitest'
import { initialProgress } from '../../../lib/activity/store.ts'
import { createChainReader } from '../../../lib/chain/reader.ts'
import { type EvmChain, evmChain } from '../../../lib/chain/registry.ts'
import type { Rpc, RpcOutcome } from '../../../lib/chain/rpc.ts'
import { readPrices } from '../../../lib/follow/read-prices.ts'
import { type Run, startVaultRun } from '../../../lib/follow/run.ts'
import type { VaultEvent } from '../../../lib/protocols/books.ts'
import type { BlockPrice } from '../../../lib/vaults/prices.ts'
import { someVault } from '../../support/clients.ts'

const HOUR = 3_600
const DAY = 24 * HOUR
/**
 * Start of a UTC day, in seconds since 1970. The chain's first block is 100 days earlier, and each block takes one
 * second.
 */
const NOW = 20_000 * DAY
const blockAt = (secondsAgo: number) => BigInt(100 * DAY - secondsAgo)

function createTradedVault(
  secondsAgo: readonly number[],
  { protocol = 'erc4626', lastPrices = [] }: { protocol?: 'erc4626' | 'lagoon'; lastPrices?: BlockPrice[] } = {},
) {
  const vault = { ...someVault(), protocol }
  const vaultRun = startVaultRun(vault as never, { ...initialProgress(vault), lastPrices }, undefined)
  const events = secondsAgo.map((ago): VaultEvent => {
    const location = { chainId: 8453, blockNumber: blockAt(ago), timestamp: BigInt(NOW - ago), logIndex: 0 }
    const transactionHash = numberToHex(ago, { size: 32 })
    return { eventName: 'Withdraw', args: {}, vault: zeroAddress, location: { ...location, transactionHash } as never }
  })
  return { vaultRun, events }
}

function runAt(say: (block: bigint) => RpcOutcome) {
  const requestedBlocks: bigint[] = []
  const rpc: Rpc = async (requests) =>
    requests.map(({ params }) => {
      const block = hexToBigInt(params[1] as `0x${string}`)
      requestedBlocks.push(block)
      return say(block)
    })
  const reader = createChainReader(evmChain(8453) as EvmChain, rpc)
  const run = { reader, final: { number: blockAt(0), timestamp: BigInt(NOW) }, pricesSince: 0n } as unknown as Run
  return { run, requestedBlocks }
}

const buildPriceOutcome = (block: bigint): RpcOutcome => ({ result: numberToHex(block, { size: 32 }) })
const TOO_OLD: RpcOutcome = { error: { code: -32_000, refusal: 'archive' } }

test('A price is read after the last trade of each hour, and of each day longer ago than 30 days', async () => {
  const { run, requestedBlocks } = runAt(buildPriceOutcome)
  const ago = [40 * DAY - 5, 39.5 * DAY, 29 * DAY - 5, 29 * DAY - 7, 28.5 * DAY]
  const one = createTradedVault(ago)
  const [{ read: prices } = { read: [] }] = await readPrices(run, [
    one,
    createTradedVault([60], { protocol: 'lagoon' }),
  ])
  const read = [39.5 * DAY, 29 * DAY - 7, 28.5 * DAY]
  expect(requestedBlocks).toEqual(read.map(blockAt))
  expect(prices).toEqual(
    read.map((secondsAgo) => ({
      price: blockAt(secondsAgo),
      timestamp: BigInt(NOW - secondsAgo),
      blockNumber: blockAt(secondsAgo),
    })),
  )
})

test('No price is read within an hour after a known one', async () => {
  const { run, requestedBlocks } = runAt(buildPriceOutcome)
  const lastPrice = { price: 1n, timestamp: BigInt(NOW - 3 * HOUR), blockNumber: blockAt(3 * HOUR) }
  await readPrices(run, [createTradedVault([2.5 * HOUR, 1.5 * HOUR, 60], { lastPrices: [lastPrice] })])
  expect(requestedBlocks).toEqual([1.5 * HOUR, 60].map(blockAt))
})

test('A slice reads the 100 newest prices', async () => {
  const { run, requestedBlocks } = runAt(buildPriceOutcome)
  await readPrices(run, [createTradedVault(Array.from({ length: 150 }, (_, index) => (150 - index) * HOUR - 1))])
  expect(requestedBlocks).toHaveLength(100)
  expect(requestedBlocks.at(-1)).toBe(blockAt(HOUR - 1))
})

test('A pruned price is left out; if all are pruned, the run reads only recent ones', async () => {
  const ago = [5 * HOUR, 60]
  const some = runAt((block) => (block < blockAt(HOUR) ? TOO_OLD : buildPriceOutcome(block)))
  const one = createTradedVault(ago)
  const [of] = await readPrices(some.run, [one])
  expect(of?.read.map(({ blockNumber }) => blockNumber)).toEqual([blockAt(60)])
  expect(some.run.pricesSince).toBe(0n)

  const none = runAt(() => TOO_OLD)
  for (let run = 0; run < 2; run += 1)
    expect(await readPrices(none.run, [createTradedVault(ago)])).toMatchObject([{ read: [] }])
  expect(none.requestedBlocks).toEqual([5 * HOUR, 60, 60].map(blockAt))
})
