import { numberToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { createAgreementOf, type RunAgreed } from '../../../lib/chain/agree.ts'
import { type EvmChain, evmChain } from '../../../lib/chain/registry.ts'
import type { Rpc, RpcOutcome, RpcRequest } from '../../../lib/chain/rpc.ts'
import { simulationRequest } from '../../../lib/chain/simulation.ts'
import { AppError, badResponse } from '../../../lib/core/errors.ts'
import { createAgreedReaderOf } from '../../support/agreed.ts'
import { catchFailure } from '../../support/errors.ts'

const CHAIN = evmChain(8453) as EvmChain
const ACCOUNT = '0x0000000000000000000000000000000000000016'

const headerOf = (number: number, fork = 0) => ({
  number: numberToHex(number),
  timestamp: numberToHex(1_700_000_000 + Math.floor(number / 5)),
  hash: numberToHex(number + fork, { size: 32 }),
  parentHash: numberToHex(number - 1 + fork, { size: 32 }),
})

type Host = {
  readonly head?: number
  readonly fork?: number
  /** Milliseconds until the host responds. */
  readonly delay?: number
  /** Returns the host's result at a block. Results for block headers are always correct. */
  readonly say?: (block: number, request: RpcRequest) => RpcOutcome
  readonly isDown?: boolean
}

/** Simulates a host whose newest block is `head`. `requestedBlocks` lists the requested blocks of each HTTP request. */
function hostOf({ head = 1_000, fork = 0, delay = 0, isDown = false, say = (block) => ({ result: block }) }: Host) {
  const requestedBlocks: unknown[][] = []
  const rpc: Rpc = async (requests) => {
    requestedBlocks.push(requests.map(({ params }) => params.find((param) => param === 'latest' || Number(param) >= 0)))
    await new Promise((resolve) => setTimeout(resolve, delay))
    if (isDown) throw new AppError('upstream_unavailable')
    return requests.map((request) => {
      const block = request.params.find((param) => param === 'latest' || Number(param) >= 0)
      const number = block === 'latest' ? head : Number(block)
      return request.method === 'eth_getBlockByNumber' ? { result: headerOf(number, fork) } : say(number, request)
    })
  }
  return { rpc, requestedBlocks }
}

type Hosts = readonly ReturnType<typeof hostOf>[]
const agreeOf = (hosts: Hosts): RunAgreed =>
  createAgreementOf(() => ({ chain: CHAIN, rpcs: hosts.map(({ rpc }) => rpc) }))
const READ: RpcRequest = { method: 'eth_call', params: [{ to: ACCOUNT, data: '0x' }, 'latest'] }

const read = (hosts: Hosts) =>
  agreeOf(hosts)([CHAIN.id], async (getReader) => {
    const [outcome] = await getReader(CHAIN.id).request([READ])
    return outcome && 'result' in outcome ? outcome.result : undefined
  })

const constant = { say: () => ({ result: 7 }) }

describe('Two hosts', () => {
  test('that agree get one request each, even if one is some blocks ahead', async () => {
    for (const head of [1_000, 1_001, 1_010]) {
      const hosts = [hostOf({ ...constant, head }), hostOf(constant)]
      expect(await read(hosts)).toBe(7)
      expect(hosts.map(({ requestedBlocks }) => requestedBlocks)).toEqual([
        [['latest', 'latest']],
        [['latest', 'latest']],
      ])
    }
  })

  test('that differ get a second request, both at the older head', async () => {
    const hosts = [hostOf({ head: 1_003 }), hostOf({ head: 1_000 })]
    expect(await read(hosts)).toBe(1_000)
    expect(hosts.map(({ requestedBlocks }) => requestedBlocks[1])).toEqual([
      ['0x3e8', '0x3e8'],
      ['0x3e8', '0x3e8'],
    ])
  })

  test('that differ at one block disagree', async () => {
    const liar = hostOf({ say: () => ({ result: 8 }) })
    expect((await catchFailure(read([hostOf(constant), liar]))).code).toBe('nodes_disagree')
    expect((await catchFailure(read([liar, hostOf(constant)]))).code).toBe('nodes_disagree')
  })

  test('on two forks disagree, even with equal results', async () => {
    expect((await catchFailure(read([hostOf(constant), hostOf({ ...constant, fork: 7 })]))).code).toBe('nodes_disagree')
  })

  test('that refuse with the same code refuse, and with different codes disagree', async () => {
    const refuse = (hosts: Hosts, codes: readonly ('vault_is_paused' | 'vault_is_closed')[]) => {
      let runs = 0
      return catchFailure(
        agreeOf(hosts)([CHAIN.id], async (getReader) => {
          await getReader(CHAIN.id).request([READ])
          throw new AppError(codes[runs++ % codes.length] ?? 'internal')
        }),
      )
    }
    const hosts = [hostOf(constant), hostOf(constant)]
    expect((await refuse(hosts, ['vault_is_paused'])).code).toBe('vault_is_paused')
    expect((await refuse(hosts, ['vault_is_paused', 'vault_is_closed'])).code).toBe('nodes_disagree')
  })

  test('return no result if one does not serve', async () => {
    expect((await catchFailure(read([hostOf(constant), hostOf({ isDown: true })]))).code).toBe('second_node_silent')
    expect((await catchFailure(read([hostOf({ isDown: true }), hostOf({ isDown: true })]))).code).toBe(
      'upstream_unavailable',
    )
  })

  test('return no result if one is eight seconds behind', async () => {
    const hosts = [hostOf(constant), hostOf({ ...constant, head: 960 })]
    expect((await catchFailure(read(hosts))).code).toBe('second_node_silent')
  })

  test('are believed if both report an unreadable contract, and a third gets no request', async () => {
    const hosts = [hostOf(constant), hostOf(constant), hostOf(constant)]
    const agree = agreeOf(hosts)
    for (const reads of [1, 2]) {
      const failure = await catchFailure(
        agree([CHAIN.id], async (getReader) => {
          await getReader(CHAIN.id).request([READ])
          throw new AppError('upstream_bad_answer')
        }),
      )
      expect(failure.code).toBe('upstream_bad_answer')
      expect(hosts.map(({ requestedBlocks }) => requestedBlocks.length)).toEqual([reads, reads, 0])
    }
  })
})

test('A result too deep for JSON is a disagreement, not an internal error', async () => {
  const deep = JSON.parse(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)
  const liar = hostOf({ say: () => ({ result: deep }) })
  for (const method of ['eth_call', 'eth_getCode']) {
    const reader = createAgreedReaderOf(CHAIN, [hostOf({ say: () => ({ result: '0x' }) }).rpc, liar.rpc])
    const failure = await catchFailure(reader.request([{ method, params: [ACCOUNT, 'latest'] }]))
    expect(failure.code).toBe('nodes_disagree')
  }
})

describe('Among three hosts,', () => {
  test.for([0, 1, 2])(
    'two agree while one does not serve, which gets the next requests last (place %i)',
    async (place) => {
      const hosts = [hostOf(constant), hostOf(constant), hostOf(constant)].with(place, hostOf({ isDown: true }))
      const agree = agreeOf(hosts)
      for (let run = 0; run < 5; run += 1) {
        expect(await agree([CHAIN.id], async (getReader) => getReader(CHAIN.id).request([READ]))).toEqual([
          { result: 7 },
        ])
      }
      expect(hosts[place]?.requestedBlocks.length).toBeLessThanOrEqual(1)
    },
  )

  test.for([0, 1, 2])('two agree while one is a minute ahead or behind (place %i)', async (place) => {
    for (const head of [700, 1_300]) {
      const odd = hostOf({ head, say: () => ({ result: 8 }) })
      expect(await read([hostOf(constant), hostOf(constant), hostOf(constant)].with(place, odd))).toBe(7)
    }
  })

  test.for([0, 1])('one that fails only at blocks with numbers is replaced by the third (place %i)', async (place) => {
    const say = (_: number, { params }: RpcRequest): RpcOutcome =>
      params[1] === 'latest' ? { result: place } : { error: { code: -32_000, refusal: 'unserved' } }
    const hosts = [hostOf({}), hostOf({ head: 1_003 }), hostOf({ head: 1_002 })].with(place, hostOf({ say }))
    expect(await read(hosts)).toBeGreaterThanOrEqual(1_000)
  })

  test.for([0, 1])('one whose result cannot be parsed is replaced by the third (place %i)', async (place) => {
    const unparsable = { result: 'no number' }
    const hosts = [0, 1, 2].map((at) => hostOf(at === place ? { say: () => unparsable } : constant))
    const parsed = agreeOf(hosts)([CHAIN.id], async (getReader) => {
      const [outcome] = await getReader(CHAIN.id).request([READ])
      if (outcome && 'result' in outcome && outcome.result === 7) return 7
      throw badResponse('no number')
    })
    expect(await parsed).toBe(7)
  })

  test('the third is asked beside a slow second one if the first’s result cannot be parsed', async () => {
    const hosts = [
      hostOf({ say: () => ({ result: 'no number' }) }),
      hostOf({ ...constant, delay: 400 }),
      hostOf(constant),
    ]
    let atSecond: number | undefined
    const parsed = agreeOf(hosts)([CHAIN.id], async (getReader) => {
      const [outcome] = await getReader(CHAIN.id).request([READ])
      if (outcome && 'result' in outcome && outcome.result === 7) {
        atSecond ??= hosts[2]?.requestedBlocks.length
        return 7
      }
      throw badResponse('no number')
    })
    expect(await parsed).toBe(7)
    // The first readable result is the third host's, which was asked while the second one was slow.
    expect(atSecond).toBe(1)
  })

  test('one that lies is not outvoted, so there is no result', async () => {
    const liar = hostOf({ say: () => ({ result: 8 }) })
    const hosts = [hostOf(constant), liar, hostOf(constant)]
    expect((await catchFailure(read(hosts))).code).toBe('nodes_disagree')
  })

  test('the third replaces a second one that takes twice as long as the first', async () => {
    const slow = hostOf({ ...constant, delay: 2_000 })
    const hosts = [hostOf({ ...constant, delay: 10 }), slow, hostOf(constant)]
    const agree = agreeOf(hosts)
    const ask = () => agree([CHAIN.id], async (getReader) => getReader(CHAIN.id).request([READ]))
    for (let run = 0; run < 3; run += 1) expect(await ask()).toEqual([{ result: 7 }])
    expect(hosts.map(({ requestedBlocks }) => requestedBlocks.length)).toEqual([3, 1, 3])
  })
})

test('A single host gets one request, and its result counts', async () => {
  const host = hostOf({})
  expect(await read([host])).toBe(1_000)
  expect(host.requestedBlocks).toEqual([['latest']])
})

/** Errors with which hosts refuse to simulate transactions, although they serve all other calls. */
const NO_DRY_RUN: readonly RpcOutcome[] = [
  { error: { code: -32_601, refusal: 'unsupported' } },
  { error: { code: -32_603, refusal: 'unserved' } },
  { error: { code: -38_026 } },
]

test.for(NO_DRY_RUN)('The dry run of the only host that can simulate counts for both', async (missing) => {
  const dryRun = { result: [{ calls: [{ status: '0x1', gasUsed: '0x1' }] }] }
  const hosts = [hostOf({ say: () => dryRun }), hostOf({ say: () => missing })]
  const agreed = await agreeOf(hosts)([CHAIN.id], async (getReader) => {
    const [outcome] = await getReader(CHAIN.id).request([simulationRequest(ACCOUNT, [])])
    return outcome && 'result' in outcome
  })
  expect(agreed).toBe(true)
})

test.for(NO_DRY_RUN)('A refusal by the only host that can simulate is returned', async (missing) => {
  const able = hostOf({ say: () => ({ result: 'reverts' }) })
  const unable = hostOf({ say: () => missing })
  for (const hosts of [
    [able, unable],
    [unable, able],
  ]) {
    const refused = agreeOf(hosts)([CHAIN.id], async (getReader) => {
      const [outcome] = await getReader(CHAIN.id).request([simulationRequest(ACCOUNT, [])])
      if (outcome && 'result' in outcome) throw new AppError('withdrawal_refused')
      return 'handed out'
    })
    expect((await catchFailure(refused)).code).toBe('withdrawal_refused')
  }
})

test('Results of two hosts at a numbered block are compared', async () => {
  const readAt = (prices: readonly number[]) =>
    createAgreedReaderOf(
      CHAIN,
      prices.map((price) => hostOf({ say: () => ({ result: numberToHex(price) }) }).rpc),
    ).request([{ method: 'eth_call', params: [{ to: ACCOUNT, data: '0x' }, '0x2'] }])
  expect(await readAt([1, 1])).toEqual([{ result: '0x1' }])
  expect((await catchFailure(readAt([1, 2]))).code).toBe('nodes_disagree')
})
