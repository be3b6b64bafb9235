import {
  type Address,
  encodeAbiParameters,
  encodeEventTopics,
  getAddress,
  numberToHex,
  pad,
  parseAbi,
  toHex,
  zeroAddress,
} from 'viem'
import { describe, expect, test } from 'vitest'
import { recordedItems } from '../../../lib/activity/recorded-events.ts'
import { VaultProgress, type VaultRecords } from '../../../lib/activity/store.ts'
import { createChainReader } from '../../../lib/chain/reader.ts'
import { type EvmChain, evmChain } from '../../../lib/chain/registry.ts'
import type { Rpc, RpcRequest } from '../../../lib/chain/rpc.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { refreshVaults } from '../../../lib/follow/refresh-vaults.ts'
import type { VaultOnChain } from '../../../lib/protocols/vault-on-chain.ts'
import { createAgreedReaderOf } from '../../support/agreed.ts'
import { NO_YIELDS } from '../../support/no-yields.ts'
import { USERS } from '../../support/service.ts'

const BASE = evmChain(8453) as EvmChain
const [ALICE, BOB] = USERS.map(({ address }) => address) as [Address, Address]
const FINAL = 1_000_000
const timeOf = (block: number) => 1_700_000_000 + block * 2
const BLOCK_NAMES = ['latest', BASE.finality.tag]
const headerOf = (block: number) => ({
  number: numberToHex(block),
  timestamp: numberToHex(timeOf(block)),
  hash: pad(toHex(block)),
  parentHash: pad(toHex(block - 1)),
})
const addressOf = (index: number) => getAddress(pad(toHex(index), { size: 20 }))

const vault = (index: number): VaultOnChain => ({
  chainId: BASE.id,
  address: addressOf(index),
  protocol: 'lagoon',
  asset: addressOf(9_999),
  assetSymbol: 'USDC',
  assetDecimals: 6,
  shareToken: addressOf(index),
  shareDecimals: 18,
  safe: addressOf(7_777),
  valuationManager: addressOf(7_776),
  pendingSilo: addressOf(8_888),
  firstBlock: 1,
})

const TRANSFER = parseAbi(['event Transfer(address indexed from, address indexed to, uint256 value)'])
const transfer = (of: Address, from: Address, to: Address, value: bigint, block: number) => ({
  address: of,
  topics: encodeEventTopics({ abi: TRANSFER, eventName: 'Transfer', args: { from, to } }),
  data: encodeAbiParameters([{ type: 'uint256' }], [value]),
  logIndex: '0x0',
  blockNumber: numberToHex(block),
  blockTimestamp: numberToHex(timeOf(block)),
  transactionHash: pad(toHex(block), { size: 32 }),
})

type Filter = { readonly address: readonly Address[]; readonly fromBlock: string; readonly toBlock: string }

function buildNode(
  logs: readonly ReturnType<typeof transfer>[],
  before: (filters: readonly Filter[]) => void = () => {},
) {
  const answer = ({ method, params: [first] }: RpcRequest) => {
    if (method === 'eth_getBlockByNumber') {
      const block = first === 'latest' ? FINAL + 1_000 : first === BASE.finality.tag ? FINAL : Number(first)
      return { result: headerOf(block) }
    }
    if (method !== 'eth_getLogs') return { error: { code: 3 } }
    const { address, fromBlock, toBlock } = first as Filter
    const matchesFilter = (log: (typeof logs)[number]) =>
      address.includes(log.address) &&
      Number(log.blockNumber) >= Number(fromBlock) &&
      Number(log.blockNumber) <= Number(toBlock)
    return { result: logs.filter(matchesFilter) }
  }
  const rpc: Rpc = async (calls) => {
    before(calls.filter(({ method }) => method === 'eth_getLogs').map(({ params }) => params[0] as Filter))
    return calls.map(answer)
  }
  return createChainReader(BASE, rpc)
}

function buildMemoryRecords(through?: number) {
  const progress = new Map<Address, VaultProgress>()
  const throughOf = (of: VaultOnChain) => progress.get(of.address)?.through
  const getProgress = async (vaults: readonly { address: Address }[]) =>
    vaults.map(
      ({ address }) =>
        progress.get(address) ??
        (through === undefined
          ? undefined
          : { through, timestamp: BigInt(timeOf(through)), ledger: { assets: 0n, supply: 0n } }),
    )
  const records = {
    getProgress,
    putProgress: async (list: readonly (readonly [{ address: Address }, VaultProgress])[]) => {
      for (const [{ address }, of] of list) progress.set(address, VaultProgress.decode(VaultProgress.encode(of)))
      return list.map(([, of]) => of)
    },
    record: async (list: readonly VaultRecords[]) => {
      for (const { vault, events } of list) recordedItems(vault, events)
    },
    listEntries: async () => [],
  }
  return { records, throughOf }
}

const states = { record: async () => {} }
const prices = { record: async () => {} }
const publish = async () => {}
const getWantsLatest = async () => () => false
const getYield = async () => NO_YIELDS
const openRequests = {
  record: async () => {},
  put: async () => {},
  close: async () => {},
  list: async () => [],
  get: async () => [],
  putSnapshot: async () => {},
  listSnapshots: async () => [],
  deleteSnapshots: async () => {},
}
describe('A vault whose events contradict each other', () => {
  const [good, bad] = [vault(1), vault(2)]
  const most = 2n ** 256n - 1n
  const whole = 10n ** 18n

  test.for([
    ['burn more than was minted', [[ALICE, zeroAddress, 1n]]],
    [
      'make the price a division by zero',
      [
        [ALICE, zeroAddress, 10n ** 12n],
        [ALICE, BOB, whole],
      ],
    ],
    [
      'mint more than can exist',
      [
        [zeroAddress, ALICE, most],
        [zeroAddress, ALICE, most],
      ],
    ],
  ] as [string, [Address, Address, bigint][]][])(
    'prevents the record of no other vault: they %s',
    async ([, events]) => {
      const logs = [
        transfer(good.address, zeroAddress, ALICE, whole, 400),
        ...events.map(([from, to, value], index) => transfer(bad.address, from, to, value, 500 + index)),
        transfer(good.address, ALICE, BOB, whole, 900),
      ]
      const { records, throughOf } = buildMemoryRecords()
      for (let run = 0; run < 2; run += 1) {
        const reader = buildNode(logs)
        await refreshVaults(
          { reader, records, prices, openRequests, states, publish, getYield, getWantsLatest, now: Date.now },
          [good, bad],
          Date.now() + 60_000,
        )
        expect(throughOf(good)).toBe(FINAL)
        expect(throughOf(bad) ?? 0).toBe(0)
      }
    },
  )
})

describe('A block with more events than a node returns', () => {
  test('is read from its receipts, and later blocks are read too', async () => {
    const [one, other] = [vault(1), vault(2)]
    const full = Array.from({ length: 30 }, (_, index) => ({
      ...transfer(one.address, zeroAddress, ALICE, 10n ** 18n, 500_000),
      logIndex: numberToHex(index),
    }))
    const logs = [...full, transfer(other.address, zeroAddress, BOB, 10n ** 18n, 600_000)]
    const methods: string[] = []
    const { request } = buildNode(logs)
    const reader = createChainReader(BASE, async (calls) => {
      methods.push(...calls.map(({ method }) => method))
      const outcomes = await request(calls)
      return outcomes.map((outcome, index) => {
        if (calls[index]?.method === 'eth_getBlockReceipts') return { result: [{ logs: full }] }
        const isFull = 'result' in outcome && Array.isArray(outcome.result) && outcome.result.length > 20
        return isFull ? { error: { code: -32_005, refusal: 'results' } } : outcome
      })
    })
    const { records, throughOf } = buildMemoryRecords(FINAL - 600_000)
    const report = await refreshVaults(
      { reader, records, prices, openRequests, states, publish, getYield, getWantsLatest, now: Date.now },
      [one, other],
      Date.now() + 60_000,
    )
    expect(report.behind).toBe(0)
    for (const of of [one, other]) expect(throughOf(of)).toBe(FINAL)
    const [progress] = await records.getProgress([one])
    expect(progress?.ledger.supply).toBe(30n * 10n ** 18n)
    expect(methods.filter((method) => method === 'eth_getBlockReceipts')).toHaveLength(1)
  })
})

describe('A node that is too slow for events of many blocks', () => {
  test.for([1, 200])('makes no run of %i vaults late, and each vault advances', async (count) => {
    const vaults = Array.from({ length: count }, (_, index) => vault(index + 1))
    const { records, throughOf } = buildMemoryRecords(FINAL - 500_000)
    let last = FINAL - 500_000
    for (let run = 0; run < 2; run += 1) {
      let clock = 0
      const reader = buildNode([], (filters) => {
        const isLate = filters.some(({ fromBlock, toBlock }) => Number(toBlock) - Number(fromBlock) >= 1_000)
        clock += isLate ? 3_000 : 100
        if (isLate) throw new AppError('upstream_timeout')
      })
      await refreshVaults(
        { reader, records, prices, openRequests, states, publish, getYield, getWantsLatest, now: () => clock },
        vaults,
        42_000,
      )
      expect(clock).toBeLessThan(46_000)
      for (const one of vaults) expect(throughOf(one)).toBeGreaterThan(last + 50_000)
      last = throughOf(vaults[0] as VaultOnChain) ?? 0
    }
  })

  test('for one block of one vault delays other vaults by less than a run', async () => {
    const vaults = Array.from({ length: 200 }, (_, index) => vault(index + 1))
    const [noisy, ...others] = vaults as [VaultOnChain, ...VaultOnChain[]]
    const { records, throughOf } = buildMemoryRecords(FINAL - 5_000)
    let clock = 0
    const reader = buildNode([], (filters) => {
      const isLate = filters.some(
        ({ address, fromBlock, toBlock }) =>
          address.includes(noisy.address) && Number(fromBlock) <= FINAL - 4_990 && Number(toBlock) >= FINAL - 4_990,
      )
      clock += isLate ? 3_000 : 100
      if (isLate) throw new AppError('upstream_timeout')
    })
    await refreshVaults(
      { reader, records, prices, openRequests, states, publish, getYield, getWantsLatest, now: () => clock },
      vaults,
      42_000,
    )
    expect(clock).toBeLessThan(46_000)
    for (const one of others) expect(throughOf(one)).toBe(FINAL)
    expect(throughOf(noisy) ?? 0).toBeLessThan(FINAL - 4_990)
  })
})

test('When all nodes have stalled, the lag is measured by the clock minus the time to finality', async () => {
  const { records } = buildMemoryRecords(FINAL)
  const hour = 3_600
  const now = () => (timeOf(FINAL + 1_000) + hour) * 1000
  const report = await refreshVaults(
    { reader: buildNode([]), records, prices, openRequests, states, publish, getYield, getWantsLatest, now },
    [vault(1)],
    now() + 60_000,
  )
  expect(report.lagSeconds).toBe(timeOf(FINAL + 1_000) - timeOf(FINAL) + hour - BASE.finality.seconds)
})

describe('A far too high head in one response', () => {
  test('moves no records if an honest second host is configured', async () => {
    const one = vault(1)
    const honest = buildNode([])
    const far = 10 ** 9
    const lying: Rpc = async (calls) =>
      calls.map(({ method, params: [block] }) =>
        method === 'eth_getBlockByNumber' && BLOCK_NAMES.includes(String(block))
          ? { result: headerOf(far) }
          : { result: method === 'eth_getLogs' ? [] : headerOf(Number(block)) },
      )
    const { records, throughOf } = buildMemoryRecords(FINAL - 10)
    const reader = createAgreedReaderOf(BASE, [lying, honest.request])
    const run = refreshVaults(
      { reader, records, prices, openRequests, states, publish, getYield, getWantsLatest, now: Date.now },
      [one],
      Date.now() + 60_000,
    )
    await expect(run).rejects.toMatchObject({ code: 'second_node_silent' })
    expect(throughOf(one) ?? 0).toBeLessThanOrEqual(FINAL)
  })
})
