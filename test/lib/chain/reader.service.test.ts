import { type Address, type Hex, numberToHex, parseAbi, toHex } from 'viem'
import { getBlock, getStorageAt, readContract } from 'viem/actions'
import { test as base, describe, expect } from 'vitest'
import { buildCall } from '../../../lib/chain/call.ts'
import { createRpc } from '../../../lib/chain/nodes.ts'
import { buildReadPlan, type ChainReader, createChainReader, type ReadPlan } from '../../../lib/chain/reader.ts'
import { type EvmChain, evmChain } from '../../../lib/chain/registry.ts'
import type { Rpc, RpcOutcome, RpcRequest } from '../../../lib/chain/rpc.ts'
import { ACCOUNTS } from '../../../sandbox/accounts.ts'
import { type LocalChain, startChain } from '../../../sandbox/chains.ts'
import { deployLagoonVault, deployToken } from '../../../sandbox/deploy.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { transact } from '../../../sandbox/transactions.ts'
import { createChainClient } from '../../support/chain-client.ts'
import { buildTransaction } from '../../support/oracles.ts'
import { startRecordingProxy } from '../../support/wire.ts'

const BASE = evmChain(8453) as EvmChain
const ARBITRUM = evmChain(42161) as EvmChain
const ARB_SYS: Address = '0x0000000000000000000000000000000000000064'
const NO_PROPOSAL = 2n ** 256n - 1n

/** Storage slots of the vault's proposed valuation and its epochs. The contract has no functions to read them. */
const LEDGER = 0x5c74d456014b1c0eb4368d944667a568313858a3029a650ff0cb7b56f8b57a00n
const PROPOSAL = toHex(LEDGER + 1n)
const EPOCHS = toHex(LEDGER + 2n)

const abi = parseAbi([
  'function totalSupply() view returns (uint256)',
  'function name() view returns (string)',
  'function noSuchFunction() view returns (uint256)',
])
const envOf = { fetch, random: () => 0, now: () => performance.now() }

type World = { readonly chain: LocalChain; readonly token: Address; readonly vault: Address; readonly other: Address }

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern.
  .extend('world', { scope: 'file' }, async ({}, { onCleanup }): Promise<World> => {
    const chain = await startChain({ chainId: 8453 })
    onCleanup(chain.stop)
    const token = await deployToken(chain, { name: 'USD Coin', symbol: 'USDC', decimals: 6 })
    const open = (name: string) => deployLagoonVault(chain, { generation: '0.5', asset: token, name, symbol: 'V' })
    return { chain, token, vault: await open('One'), other: await open('Another') }
  })
  .extend('rpc', ({ world }) => createRpc([world.chain.rpcUrl], envOf))
  .extend('wire', async ({ world }, { onCleanup }) => {
    const wire = await startRecordingProxy(world.chain.rpcUrl)
    onCleanup(wire.stop)
    return wire
  })

function vaultQuery({ token }: World, vault: Address) {
  const calls = {
    name: buildCall(vault, abi, 'name', []),
    minted: buildCall(token, abi, 'totalSupply', []),
    absent: buildCall(vault, abi, 'noSuchFunction', []),
  }
  return buildReadPlan({ address: vault, slots: { proposal: PROPOSAL, epochs: EPOCHS }, calls }, (reading) => reading)
}

async function atBlock({ chain, token, vault }: World, blockNumber: bigint) {
  const client = createChainClient(chain)
  const word = async (slot: Hex) => BigInt((await getStorageAt(client, { address: vault, slot, blockNumber })) ?? '0x0')
  const { timestamp } = await getBlock(client, { blockNumber })
  return {
    block: { number: blockNumber, timestamp },
    value: {
      words: { proposal: await word(PROPOSAL), epochs: await word(EPOCHS) },
      answers: {
        name: 'One',
        minted: await readContract(client, { address: token, abi, functionName: 'totalSupply', blockNumber }),
        absent: undefined,
      },
    },
  }
}

let change = 1_000n
async function changeBoth({ chain, token, vault }: World): Promise<void> {
  change += 1n
  const { admin, valuationManager } = ACCOUNTS
  await transact(chain, [
    buildTransaction(admin.address, token, 'mint', [admin.address, change]),
    buildTransaction(valuationManager.address, vault, 'updateNewTotalAssets', [change]),
  ])
}

async function latestBlock({ chain }: World): Promise<bigint> {
  return (await getBlock(createChainClient(chain))).number
}

const hasOverrides = ({ method, params }: RpcRequest) => method === 'eth_call' && params.length > 2

function wrapRefusing(rpc: Rpc): Rpc {
  return async (requests) => {
    const outcomes = await rpc(requests)
    return outcomes.map((outcome, i) =>
      hasOverrides(requests[i] as RpcRequest) ? { error: { code: -32602 } } : outcome,
    )
  }
}

function wrapIgnoring(rpc: Rpc): Rpc {
  return (requests) =>
    rpc(requests.map((call) => (hasOverrides(call) ? { ...call, params: call.params.slice(0, 2) } : call)))
}

function recording(rpc: Rpc): { rpc: Rpc; batches: (readonly RpcRequest[])[] } {
  const batches: (readonly RpcRequest[])[] = []
  return {
    batches,
    rpc: (requests) => {
      batches.push(requests)
      return rpc(requests)
    },
  }
}

/**
 * Wraps an Rpc so that the first batch is served call by call, in the order of `order`. `happen` runs after the first
 * `after` calls.
 */
function wrapInterrupted(rpc: Rpc, order: readonly number[], happen: () => Promise<void>, after = 1): Rpc {
  let first = true
  return async (requests) => {
    if (!first) return rpc(requests)
    first = false
    const outcomes: RpcOutcome[] = []
    for (const [turn, index] of [...order, ...requests.keys()].entries()) {
      if (outcomes[index]) continue
      if (turn === after) await happen()
      outcomes[index] = (await rpc([requests[index] as RpcRequest]))[0] as RpcOutcome
    }
    return outcomes
  }
}

const readVault = (reader: ChainReader, world: World) => reader.readOne(vaultQuery(world, world.vault))
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  )

describe('A read', () => {
  test('returns storage and calls at one block', async ({ world, rpc }) => {
    await changeBoth(world)
    const { block, value } = await readVault(createChainReader(BASE, rpc), world)
    expect({ block, value }).toEqual(await atBlock(world, await latestBlock(world)))
    expect(value.words.proposal).toBe(change)
  })

  test('of several contracts returns each one’s values in order, from one request of two calls', async ({
    world,
    rpc,
  }) => {
    const recorded = recording(rpc)
    const supply = buildReadPlan(
      { address: world.token, slots: {}, calls: { minted: buildCall(world.token, abi, 'totalSupply', []) } },
      ({ answers }) => answers.minted,
    )
    const queries: ReadPlan<unknown>[] = [vaultQuery(world, world.other), supply, vaultQuery(world, world.vault)]
    const reader = createChainReader(BASE, recorded.rpc)
    const first = await reader.read(queries)
    const [other, minted, one] = first.values
    const { value } = await atBlock(world, await latestBlock(world))
    expect(one).toEqual(value)
    expect(minted).toBe(value.answers.minted)
    expect(other).toMatchObject({ words: { proposal: NO_PROPOSAL }, answers: { name: 'Another', absent: undefined } })
    // The batch has two calls. One reads all contract functions, and the other reads the storage words.
    expect(recorded.batches.map((batch) => batch.length)).toEqual([2])
  })

  test('returns its block’s hash as evidence, from the same request or one more', async ({ world, rpc }) => {
    const [latest] = await callRpc(world.chain, [{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
    const { number, hash, timestamp } = latest as { number: Hex; hash: Hex; timestamp: Hex }
    const expected = {
      chainId: 8453,
      blockNumber: Number(number),
      blockHash: hash,
      timestamp: new Date(Number(timestamp) * 1000),
      nodes: 1,
    }
    for (const [withHash, requests] of [
      [true, 1],
      [false, 2],
    ] as const) {
      const recorded = recording(rpc)
      const reading = await createChainReader(BASE, recorded.rpc).readOne(vaultQuery(world, world.vault), { withHash })
      expect(await reading.evidence()).toEqual(expected)
      expect(recorded.batches).toHaveLength(requests)
    }
  })

  test('finds its block’s hash in the next header too, and never returns another block’s hash', async ({
    world,
    rpc,
  }) => {
    const [latest] = await callRpc(world.chain, [{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
    const { number, hash } = latest as { number: Hex; hash: Hex }
    for (const [later, requests] of [
      [1n, 1],
      [2n, 2],
    ] as const) {
      const recorded = recording(async (calls) =>
        (await rpc(calls)).map((outcome, index) => {
          if (calls[index]?.params[0] !== 'latest' || !('result' in outcome)) return outcome
          const header = { number: numberToHex(BigInt(number) + later), hash: `0x${'ab'.repeat(32)}`, parentHash: hash }
          return { result: { ...(outcome.result as object), ...header } }
        }),
      )
      const reading = await createChainReader(BASE, recorded.rpc).readOne(vaultQuery(world, world.vault), {
        withHash: true,
      })
      expect(await reading.evidence()).toMatchObject({ blockNumber: Number(number), blockHash: hash })
      expect(recorded.batches).toHaveLength(requests)
    }
  })

  test('at a block returns the values of that block, whatever came after', async ({ world, rpc }) => {
    const before = await latestBlock(world)
    const then = await atBlock(world, before)
    await changeBoth(world)
    const { block, value } = await createChainReader(BASE, rpc).readOne(vaultQuery(world, world.vault), { at: before })
    expect({ block, value }).toEqual(then)
  })

  test('of an address without code returns empty words and no results', async ({ world, rpc }) => {
    const nowhere: Address = '0x00000000000000000000000000000000000000A1'
    const { value } = await createChainReader(BASE, rpc).readOne(vaultQuery(world, nowhere))
    expect(value.words).toEqual({ proposal: 0n, epochs: 0n })
    expect(value.answers).toMatchObject({ name: undefined, absent: undefined })
  })
})

describe('A read at a node without state overrides', () => {
  const NODES = [
    { node: 'refuses', spoil: wrapRefusing },
    { node: 'ignores', spoil: wrapIgnoring },
  ]

  test.for(NODES)('returns the same values if the node $node state overrides', async ({ spoil }, { world, rpc }) => {
    const faithful = await readVault(createChainReader(BASE, rpc), world)
    const spoilt = await readVault(createChainReader(BASE, spoil(rpc)), world)
    expect({ ...spoilt, evidence: undefined }).toEqual({ ...faithful, evidence: undefined })
    expect(spoilt.value.words.proposal).toBe(change)
  })

  test.for(NODES)(
    'returns words at the block of the calls while the chain moves on, if the node $node state overrides',
    async ({ spoil }, { world, rpc }) => {
      const then = await atBlock(world, await latestBlock(world))
      let batches = 0
      const moving: Rpc = async (requests) => {
        if (batches++ === 1) await changeBoth(world)
        return spoil(rpc)(requests)
      }
      const { block, value } = await readVault(createChainReader(BASE, moving), world)
      expect({ block, value }).toEqual(then)
      expect(batches).toBe(2)
    },
  )

  test('sends one batch of pinned words after a refusal, and no override after two refusals', async ({
    world,
    wire,
  }) => {
    wire.rewrite = (answer, request) => {
      const calls: (RpcRequest & { id: number })[] = JSON.parse(request)
      const refused = new Set(calls.filter(hasOverrides).map(({ id }) => id))
      const error = { code: -32602, message: 'invalid argument 2: state overrides are not supported' }
      const answers: { id: number }[] = JSON.parse(answer)
      return JSON.stringify(
        answers.map((item) => (refused.has(item.id) ? { jsonrpc: '2.0', id: item.id, error } : item)),
      )
    }
    const reader = createChainReader(BASE, createRpc([wire.url], envOf))
    const block = await latestBlock(world)
    const callsOf = (body: string | undefined) => JSON.parse(body ?? '[]') as RpcRequest[]

    const first = await readVault(reader, world)
    expect({ block: first.block, value: first.value }).toEqual(await atBlock(world, block))
    expect(wire.bodies).toHaveLength(2)
    expect(callsOf(wire.bodies[0]).some(hasOverrides)).toBe(true)
    expect(callsOf(wire.bodies[1])).toMatchObject([
      { method: 'eth_getStorageAt', params: [world.vault, PROPOSAL, numberToHex(block)] },
      { method: 'eth_getStorageAt', params: [world.vault, EPOCHS, numberToHex(block)] },
    ])

    await readVault(reader, world)
    wire.bodies.length = 0
    await changeBoth(world)
    const second = await readVault(reader, world)
    expect({ block: second.block, value: second.value }).toEqual(await atBlock(world, block + 2n))
    expect(wire.bodies.flatMap(callsOf).filter(hasOverrides)).toEqual([])
    expect(wire.bodies).toHaveLength(2)
  })

  test('sends extra calls once and keeps their outcomes', async ({ world, rpc }) => {
    const recorded = recording(wrapRefusing(rpc))
    const along = [
      { method: 'eth_chainId', params: [] },
      { method: 'eth_noSuchMethod', params: [] },
    ]
    const reader = createChainReader(BASE, recorded.rpc)
    const { outcomes } = await reader.readOne(vaultQuery(world, world.vault), { extraCalls: along })
    expect(outcomes).toMatchObject([{ result: '0x2105' }, { error: { code: -32601 } }])
    expect(recorded.batches.flat().filter(({ method }) => method === 'eth_chainId')).toHaveLength(1)
  })

  test('uses overrides again after a single refusal', async ({ world, rpc }) => {
    let faults = 1
    const faltering: Rpc = (requests) => (faults-- > 0 ? wrapRefusing(rpc)(requests) : rpc(requests))
    const calls: RpcRequest[] = []
    const reader = createChainReader(BASE, (requests) => {
      calls.push(...requests)
      return faltering(requests)
    })
    await readVault(reader, world)
    calls.length = 0
    await readVault(reader, world)
    expect(calls.some(hasOverrides)).toBe(true)
    expect(calls.some(({ method }) => method === 'eth_getStorageAt')).toBe(false)
  })

  const wordsAnswered = (rpc: Rpc, outcome: RpcOutcome): Rpc => {
    return async (requests) =>
      (await wrapRefusing(rpc)(requests)).map((faithful, i) =>
        requests[i]?.method === 'eth_getStorageAt' ? outcome : faithful,
      )
  }
  const NO_WORDS: Record<string, RpcOutcome> = {
    'an error': { error: { code: -32000 } },
    nothing: { result: null },
    'empty data': { result: '0x' },
    'more than a word': { result: `0x${'00'.repeat(33)}` },
    'a number': { result: 7 },
  }
  test.for(Object.entries(NO_WORDS))(
    'fails with upstream_bad_answer if a word is %s',
    async ([, outcome], { world, rpc }) => {
      const error = await failure(readVault(createChainReader(BASE, wordsAnswered(rpc, outcome)), world))
      expect(error).toMatchObject({ name: 'AppError', code: 'upstream_bad_answer' })
    },
  )

  test('takes a word without its leading zeros', async ({ world, rpc }) => {
    const { value } = await readVault(createChainReader(BASE, wordsAnswered(rpc, { result: '0x7' })), world)
    expect(value.words).toEqual({ proposal: 7n, epochs: 7n })
  })
})

describe('A block between the two calls of a read', () => {
  test.for([
    { older: 'calls', order: [0, 1] },
    { older: 'words', order: [1, 0] },
  ])('makes it repeat both at the older block, that of the $older', async ({ order }, { world, rpc }) => {
    const then = await atBlock(world, await latestBlock(world))
    const recorded = recording(wrapInterrupted(rpc, order, () => changeBoth(world)))
    const along = [{ method: 'eth_chainId', params: [] }]
    const reader = createChainReader(BASE, recorded.rpc)

    const { block, value, outcomes } = await reader.readOne(vaultQuery(world, world.vault), { extraCalls: along })
    expect({ block, value }).toEqual(then)
    expect(outcomes).toEqual([{ result: '0x2105' }])
    expect(recorded.batches.map((batch) => batch.map(({ method }) => method))).toEqual([
      ['eth_call', 'eth_call', 'eth_chainId'],
      ['eth_call', 'eth_call'],
    ])
    for (const { params } of recorded.batches[1] ?? []) expect(params[1]).toBe(numberToHex(then.block.number))
  })
})

describe('A read of many contracts', () => {
  const many = (world: World, length: number) => Array.from({ length }, () => vaultQuery(world, world.vault))

  test('has two calls per 100 contracts in one request, and each result the block of its call', async ({
    world,
    rpc,
  }) => {
    const first = await latestBlock(world)
    const { batches, rpc: recorded } = recording(wrapInterrupted(rpc, [2, 3], () => changeBoth(world), 2))
    const { block, blocks, values } = await createChainReader(BASE, recorded).read(many(world, 250))
    expect(batches.map((batch) => batch.length)).toEqual([6])
    const before = await atBlock(world, first)
    const after = await atBlock(world, first + 2n)
    expect(block).toEqual(before.block)
    expect(blocks).toEqual(
      [100, 200, 250].flatMap((end, i) => Array(end - i * 100).fill(i === 1 ? before.block : after.block)),
    )
    expect(values.slice(0, 100)).toEqual(Array(100).fill(after.value))
    expect(values.slice(100, 200)).toEqual(Array(100).fill(before.value))
    expect(values.slice(200)).toEqual(Array(50).fill(after.value))

    const pinned = await createChainReader(BASE, rpc).read(many(world, 250), { at: first })
    expect(pinned.values).toEqual(Array(250).fill(before.value))
    expect(new Set(pinned.blocks.map(({ number }) => number))).toEqual(new Set([first]))
  })

  test('has more calls if one would be larger than nodes take', async ({ world, rpc }) => {
    const { batches, rpc: recorded } = recording(rpc)
    const data: Hex = `0x${'00'.repeat(60_000)}`
    const large = { to: world.token, data, decode: (returned: Hex) => returned }
    const queries = Array.from({ length: 30 }, () =>
      buildReadPlan({ address: world.token, slots: {}, calls: { large } }, () => true),
    )
    const { values } = await createChainReader(BASE, recorded).read(queries)
    expect(values).toEqual(Array(30).fill(true))
    expect(batches).toHaveLength(1)
    expect(batches[0]).toHaveLength(4)
    for (const call of batches[0] ?? []) expect(JSON.stringify(call).length).toBeLessThan(1_250_000)
  })

  test('of 2,000 has 20 calls for views and 20 for storage', async ({ world, rpc }) => {
    const reader = createChainReader(BASE, rpc)
    await readVault(reader, world)
    const { batches, rpc: recorded } = recording(rpc)
    const counting = createChainReader(BASE, recorded)
    await readVault(counting, world)
    batches.length = 0
    const { values } = await counting.read(many(world, 2_000))
    expect(values).toHaveLength(2_000)
    expect(batches.map((batch) => batch.length)).toEqual([40])
  })
})

describe('A read with invalid results', () => {
  const SPOILT: Record<string, RpcOutcome> = {
    'an error': { error: { code: -32000 } },
    nothing: { result: null },
    'empty data': { result: '0x' },
    'no hex': { result: 'the answer' },
    'a number': { result: 7 },
    'other data': { result: '0xdeadbeef' },
    'an empty list': { result: `0x${'20'.padStart(64, '0')}${''.padStart(64, '0')}` },
  }
  test.for(Object.entries(SPOILT))(
    'fails with upstream_bad_answer if the views are %s',
    async ([, outcome], { world, rpc }) => {
      const broken: Rpc = async (requests) => (await rpc(requests)).with(0, outcome)
      const error = await failure(readVault(createChainReader(BASE, broken), world))
      expect(error).toMatchObject({ name: 'AppError', code: 'upstream_bad_answer' })
    },
  )
})

describe('A read of contracts that may be broken', () => {
  // The bytecode is an invalid instruction, which uses up all gas of a call.
  const BURNING: Hex = '0xfe'
  const BROKEN: Address = '0x00000000000000000000000000000000000000fe'
  const names = Array.from({ length: 5 }, (_, i) => [`name ${i}`, buildCall(BROKEN, abi, 'name', [])])
  const BROKEN_QUERY: ReadPlan<unknown> = buildReadPlan(
    { address: BROKEN, slots: {}, calls: Object.fromEntries(names) },
    (all) => all,
  )
  test.beforeEach(async ({ world: { chain } }) => {
    await callRpc(chain, [{ method: 'anvil_setCode', params: [BROKEN, BURNING] }])
  })

  test.for([
    { calls: 'one call', before: 0, batches: [2, 1 + 8, 1 + 8, 8] },
    { calls: 'the second of two calls', before: 100, batches: [4, 1 + 8, 1 + 8, 8] },
  ])('finds the broken one in $calls by bisection, and repeats only its call', async (expected, { world, rpc }) => {
    const { batches, rpc: recorded } = recording(rpc)
    const vaults = (length: number, vault: Address) => Array.from({ length }, () => vaultQuery(world, vault))
    const queries = [...vaults(expected.before + 24, world.vault), BROKEN_QUERY, ...vaults(25, world.other)]
    const { blocks, values } = await createChainReader(BASE, recorded).readEach(queries)
    expect(batches.map(({ length }) => length)).toEqual(expected.batches)
    const { block, value: whole } = await atBlock(world, await latestBlock(world))
    const broken = expected.before + 24
    expect(values.slice(0, broken)).toEqual(Array(broken).fill(whole))
    expect(values[broken]).toBeUndefined()
    const other = { words: { proposal: NO_PROPOSAL }, answers: { name: 'Another', minted: whole.answers.minted } }
    expect(values.slice(broken + 1)).toMatchObject(Array(25).fill(other))
    expect(blocks).toEqual(Array(queries.length).fill(block))
  })

  test('takes one request if none is broken', async ({ world, rpc }) => {
    const { batches, rpc: recorded } = recording(rpc)
    const { values } = await createChainReader(BASE, recorded).readEach([vaultQuery(world, world.vault)])
    expect(batches).toHaveLength(1)
    expect(values).toHaveLength(1)
  })

  test('fails with upstream_bad_answer if all are broken', async ({ rpc }) => {
    const queries = [BROKEN_QUERY, BROKEN_QUERY]
    expect(await failure(createChainReader(BASE, rpc).readEach(queries))).toMatchObject({ code: 'upstream_bad_answer' })
  })

  const refuseAll: Rpc = async (requests) => requests.map(() => ({ error: { code: -32000 } }))
  const nonsense: Rpc = async (requests) => requests.map(() => ({ result: '0xdeadbeef' }))
  test.for([
    ['refuses every call', refuseAll, 2],
    ['returns nonsense', nonsense, 1],
  ] as const)('does not read each contract at a node that %s', async ([, node, requests], { world }) => {
    const { batches, rpc: recorded } = recording(node)
    const queries = Array.from({ length: 50 }, () => vaultQuery(world, world.vault))
    expect(await failure(createChainReader(BASE, recorded).readEach(queries))).toMatchObject({
      code: 'upstream_bad_answer',
    })
    expect(batches).toHaveLength(requests)
  })
})

describe('The number of a block', () => {
  // The bytecode replaces Arbitrum's contract ArbSys. It returns the EVM's block number plus 1,000 for any call.
  const ARB_SYS_CODE: Hex = '0x6103e843015f5260205ff3'
  const setArbSys = (code: Hex, { chain }: World) =>
    callRpc(chain, [{ method: 'anvil_setCode', params: [ARB_SYS, code] }])
  test.beforeEach(({ world }) => setArbSys(ARB_SYS_CODE, world))
  test.afterEach(({ world }) => setArbSys('0x', world))

  test("is the chain's own on Arbitrum, from ArbSys, not the EVM's", async ({ world, rpc }) => {
    const { block } = await readVault(createChainReader(ARBITRUM, rpc), world)
    expect(block.number).toBe((await latestBlock(world)) + 1_000n)
  })

  test('pins single words on Arbitrum', async ({ world, rpc }) => {
    // The test invents the storage words, because anvil does not have the block that ArbSys reports.
    const recorded = recording(async (requests) =>
      (await wrapRefusing(rpc)(requests)).map((outcome, i) =>
        requests[i]?.method === 'eth_getStorageAt' ? { result: '0x7' } : outcome,
      ),
    )
    const { value } = await readVault(createChainReader(ARBITRUM, recorded.rpc), world)
    const tag = numberToHex((await latestBlock(world)) + 1_000n)
    expect(recorded.batches[1]).toMatchObject([
      { params: [world.vault, PROPOSAL, tag] },
      { params: [world.vault, EPOCHS, tag] },
    ])
    expect(value.words).toEqual({ proposal: 7n, epochs: 7n })
  })

  test("is the EVM's if ArbSys does not respond", async ({ world, rpc }) => {
    await setArbSys('0x', world)
    const { block } = await readVault(createChainReader(ARBITRUM, rpc), world)
    expect(block.number).toBe(await latestBlock(world))
  })

  test("is the EVM's on other chains, whatever is at the address of ArbSys", async ({ world, rpc }) => {
    const { block } = await readVault(createChainReader(BASE, rpc), world)
    expect(block.number).toBe(await latestBlock(world))
  })
})
