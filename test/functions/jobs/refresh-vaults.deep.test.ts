import { getAddress, numberToHex, zeroAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { openRequestsStore } from '../../../lib/activity/open-requests-store.ts'
import { recordingStore } from '../../../lib/activity/store.ts'
import { refreshVaults } from '../../../lib/follow/refresh-vaults.ts'
import type { VaultOnChain } from '../../../lib/protocols/vault-on-chain.ts'
import { buildVaultState } from '../../../lib/protocols/vault-state.ts'
import { priceStore } from '../../../lib/vaults/price-store.ts'
import { stateDigest } from '../../../lib/vaults/recorded-state.ts'
import { stateStore } from '../../../lib/vaults/state-store.ts'
import { yieldLookup } from '../../../lib/vaults/yields.ts'
import {
  buildDepositEvent,
  buildTransferEvent,
  createCountingChain,
  createCountingTables,
  createVirtualClock,
} from '../../support/counted.ts'

const RUN_MS = 42_000
const LEDGER = { assets: 10n ** 12n, supply: 10n ** 12n }

function vaultAt(index: number, firstBlock: number): VaultOnChain {
  return {
    chainId: 8453,
    address: getAddress(numberToHex(0xbeef_0000 + index, { size: 20 })),
    protocol: 'erc4626',
    asset: zeroAddress,
    assetSymbol: 'USDC',
    assetDecimals: 6,
    shareToken: zeroAddress,
    shareDecimals: 6,
    firstBlock,
  }
}

const digest = stateDigest(buildVaultState({ sharePrice: 1_000_000n, totalAssets: 1n }))

function buildCountedJob(limits: { mostCalls: number; mostBlocks: number }) {
  const clock = createVirtualClock()
  const chain = createCountingChain(clock, { ...limits, delayMs: 50 })
  const { tables, requests } = createCountingTables(clock, 50)
  const records = recordingStore(tables.deposits)
  const openRequests = openRequestsStore(tables.deposits)
  const states = stateStore(tables.deposits)
  const prices = priceStore(tables.deposits)
  const publish = async () => {}
  const getWantsLatest = async () => () => false
  const getYield = yieldLookup({ records, prices, now: clock.now })
  async function run(vaults: readonly VaultOnChain[]) {
    const before = { ...chain.counts, table: requests(), begun: clock.now() }
    const report = await refreshVaults(
      {
        reader: chain.reader,
        records,
        prices,
        openRequests,
        states,
        publish,
        getYield,
        getWantsLatest,
        now: clock.now,
      },
      vaults,
      clock.now() + RUN_MS,
    )
    const took = {
      requests: chain.counts.requests - before.requests,
      calls: chain.counts.calls - before.calls,
      table: requests() - before.table,
      seconds: (clock.now() - before.begun) / 1000,
    }
    clock.set(before.begun + 60_000)
    return { report, took }
  }
  /**
   * Stores progress as if the job had last run two hours ago and recorded all blocks until `through`. No vault state
   * is stored.
   */
  async function seed(vaults: readonly VaultOnChain[], through: number) {
    const timestamp = chain.timeOf(through)
    const last = { price: 1_000_000n, timestamp: timestamp - 7_200n, blockNumber: 1n }
    const progress = {
      through,
      timestamp,
      ledger: LEDGER,
      firstPrice: last,
      lastPrices: [last],
      refreshedAt: timestamp - 7_200n,
      state: digest,
      eventsAfter: 0,
    }
    await records.putProgress(vaults.map((vault) => [vault, progress]))
  }
  return { chain, run, seed }
}

/**
 * Table requests that a run may make for vaults. A run has 250. Checking 50 transfers takes 51, and reading the list
 * of vaults takes 2.
 */
const TABLE_REQUESTS = 250 - 51 - 2

describe('A run over 2,000 due vaults, all with a new state, and 1,000 events,', () => {
  const vaults = Array.from({ length: 2_000 }, (_, index) => vaultAt(index, 0))
  const cases = [
    { what: 'transfers, each with two ledger entries', eventOf: buildTransferEvent },
    { what: 'deposits, each with a ledger entry and a price', eventOf: buildDepositEvent },
  ]

  test.for(cases)('stays within its budget of calls and requests: $what', async ({ eventOf }) => {
    const { chain, run, seed } = buildCountedJob({ mostCalls: 500, mostBlocks: 10_000 })
    chain.state.head = 100_000
    await seed(vaults, 95_000)
    const last = chain.state.head - 1_000
    chain.emit(
      Array.from({ length: 1_000 }, (_, index) =>
        eventOf(vaults[index * 2]?.address ?? zeroAddress, last - (index % 300), 5_000_000n),
      ),
    )
    chain.state.totalAssets = 2n

    const { report, took } = await run(vaults)

    expect(report).toMatchObject({ through: last, behind: 0 })
    // The price after a deposit costs one call. The job reads at most 100 such prices for each group of 500 vaults, and
    // this run has four groups.
    expect(took.calls).toBeLessThanOrEqual(20 + 12 + 4 * 100 + 4)
    expect(took.table).toBeLessThanOrEqual(TABLE_REQUESTS)
  })
})

test('A silent run over 95 vaults takes four table requests, and six chain calls plus the chain id', async () => {
  const { chain, run, seed } = buildCountedJob({ mostCalls: 500, mostBlocks: 10_000 })
  const vaults = Array.from({ length: 95 }, (_, index) => vaultAt(index, 0))
  chain.state.head = 100_000
  await seed(vaults, 98_800)

  const { report, took } = await run(vaults)

  expect(report).toMatchObject({ behind: 0, entries: 0 })
  // The job refreshes each vault once an hour, so each run, once a minute, refreshes two of 95 vaults.
  expect(report).toMatchObject({ prices: 2, states: 2 })
  expect(took).toMatchObject({ table: 4, calls: 7 })
})

test('A hundred vaults with 37 days of past on Base cost one request per eight ranges, in one run', async () => {
  const blocks = 15_768_000
  const { chain, run, seed } = buildCountedJob({ mostCalls: 10, mostBlocks: 10_000 })
  const recorded = vaultAt(1_000, 0)
  const added = Array.from({ length: 100 }, (_, index) => vaultAt(index, 0))
  chain.state.head = blocks
  await seed([recorded], blocks - 2_000)
  const deposits = Array.from({ length: 3_600 }, (_, index) =>
    buildDepositEvent(added[index % 100]?.address ?? zeroAddress, index * 4_000, 5_000_000n),
  )
  chain.emit(deposits)

  const { report, took } = await run([recorded, ...added])

  expect(report).toMatchObject({ behind: 0, entries: 3_600 })
  expect(took.requests).toBeLessThanOrEqual(blocks / 10_000 / 8 + 20)
  // These 37 days take less than a quarter of a run's maximum time. A year has ten times as many blocks, so it takes at
  // most three runs.
  expect(took.seconds).toBeLessThan(RUN_MS / 4_000)
})
