import fc from 'fast-check'
import { type Abi, type Address, encodeErrorResult, type Hex, parseAbi } from 'viem'
import { describe, expect } from 'vitest'
import type { RpcOutcome } from '../../../lib/chain/rpc.ts'
import { parseSimulation, simulationRequest, summariseSimulation } from '../../../lib/chain/simulation.ts'
import { scaleSampleCount } from '../../support/runs.ts'
import { test, USERS } from '../../support/service.ts'
import { expectSuccess, openLagoonVault, openYieldVault, ROLES, type TestVault } from '../../support/vaults.ts'
import type { RecordingProxy } from '../../support/wire.ts'

const [ALICE, BOB] = USERS
const AMOUNT = 5_000_000n

const abi: Abi = parseAbi(['error MaxCapReached()', 'error InsufficientBalance(address sender, uint256 needed)'])
const SENDER: Address = '0x00000000000000000000000000000000000000A1'

const good = { status: '0x1', gasUsed: '0x5208', returnData: '0x', logs: [] }
const blockOf = (...calls: unknown[]): RpcOutcome => ({ result: [{ number: '0x1', calls }] })
const reverted = (data: Hex) => ({ status: '0x0', gasUsed: '0x5208', returnData: data, logs: [] })

describe('The request of a simulation', () => {
  test("runs one account's transactions in order on the latest state, without fees", () => {
    const transactions = [
      { to: SENDER, data: '0x1234', value: 0n },
      { to: ALICE.address, data: '0x', value: 10n ** 18n },
    ] as const
    expect(simulationRequest(BOB.address, transactions)).toEqual({
      method: 'eth_simulateV1',
      params: [
        {
          blockStateCalls: [
            {
              calls: [
                { from: BOB.address, to: SENDER, data: '0x1234', value: '0x0' },
                { from: BOB.address, to: ALICE.address, data: '0x', value: '0xde0b6b3a7640000' },
              ],
            },
          ],
          validation: false,
        },
        'latest',
      ],
    })
  })
})

describe('The result of a simulation', () => {
  test('has gas and return data of each success, and the reason of each revert', () => {
    const cap = encodeErrorResult({ abi, errorName: 'MaxCapReached' })
    const calls = [{ ...good, returnData: '0x07' }, reverted(cap)]
    expect(parseSimulation(blockOf(...calls), 2, abi)).toEqual([
      { status: 'success', gasUsed: 21_000n, returnData: '0x07', logs: [] },
      { status: 'reverted', gasUsed: 21_000n, reason: 'MaxCapReached' },
    ])
  })

  const errorOf = (text: string) =>
    encodeErrorResult({ abi: parseAbi(['error Error(string)']), errorName: 'Error', args: [text] })
  const balance = encodeErrorResult({ abi, errorName: 'InsufficientBalance', args: [SENDER, 1n] })
  const panic = encodeErrorResult({ abi: parseAbi(['error Panic(uint256)']), errorName: 'Panic', args: [17n] })

  test('treats an error of null as none', () => {
    expect(parseSimulation(blockOf({ ...good, error: null }), 1, abi)).toMatchObject([{ status: 'success' }])
  })

  test.for([
    { what: 'a known error', call: reverted(balance), reason: 'InsufficientBalance' },
    { what: 'a text', call: reverted(errorOf('Pausable: paused')), reason: 'Pausable: paused' },
    { what: 'a long text', call: reverted(errorOf('x'.repeat(5_000))), reason: 'x'.repeat(200) },
    { what: 'a panic', call: reverted(panic), reason: 'Panic' },
    { what: 'an unknown error', call: reverted('0xdeadbeef00000001'), reason: 'reverted with 0xdeadbeef' },
    { what: 'less than an error', call: reverted('0xdead'), reason: 'reverted with 0xdead' },
    { what: 'nothing', call: reverted('0x'), reason: 'reverted without a reason' },
    { what: 'no return data', call: { status: '0x0', gasUsed: '0x1' }, reason: 'reverted without a reason' },
    {
      what: 'an error object with the data',
      call: { ...reverted('0x'), error: { code: 3, message: 'execution reverted', data: balance } },
      reason: 'InsufficientBalance',
    },
    {
      what: 'an error object without data',
      call: { ...reverted(balance), error: { code: 3, message: 'execution reverted' } },
      reason: 'InsufficientBalance',
    },
    {
      what: 'an error object with other data',
      call: { ...reverted(balance), error: { code: 3, data: 'see the log' } },
      reason: 'InsufficientBalance',
    },
  ])('has a reason for a revert with $what', ({ call, reason }) => {
    expect(parseSimulation(blockOf(call), 1, abi)).toMatchObject([{ status: 'reverted', reason }])
  })

  const UNUSABLE: Record<string, RpcOutcome | undefined> = {
    'was not requested': undefined,
    'is refused': { error: { code: -32601 } },
    'is null itself': { result: null },
    'is text': { result: 'ok' },
    'has no blocks': { result: [] },
    'has too many blocks': { result: [{ calls: [good] }, { calls: [] }] },
    'has no calls': { result: [{}] },
    'has too few calls': blockOf(),
    'has too many calls': blockOf(good, good),
    'has a call that is nothing': blockOf(null),
    'has no status': blockOf({ gasUsed: '0x5208' }),
    'has an empty status': blockOf({ ...good, status: '0x' }),
    'has a status in words': blockOf({ ...good, status: 'success' }),
    'has no gas': blockOf({ status: '0x1' }),
    'has empty gas': blockOf({ ...good, gasUsed: '0x' }),
    'has gas that is no hex': blockOf({ ...good, gasUsed: '0xgas' }),
    'has gas that is a number': blockOf({ ...good, gasUsed: 21_000 }),
    'has gas below zero': blockOf({ ...good, gasUsed: '-0x1' }),
    'has more gas than there is': blockOf({ ...good, gasUsed: `0x${'f'.repeat(64)}` }),
    'has return data that is no hex': blockOf({ ...good, returnData: 'shares' }),
  }
  test.for(Object.entries(UNUSABLE))('is null if it %s', ([, outcome]) => {
    expect(parseSimulation(outcome, 1, abi)).toBeNull()
  })

  test('is null or complete for any response', () => {
    const hex = fc.stringMatching(/^0x[0-9a-fA-F]{0,70}$/)
    const anyValue = fc.oneof(hex, fc.jsonValue(), fc.constantFrom('0x', '0x0', '0x1', undefined))
    const call = fc.record(
      {
        status: anyValue,
        gasUsed: anyValue,
        returnData: anyValue,
        error: fc.oneof(anyValue, fc.record({ data: anyValue })),
      },
      { requiredKeys: [] },
    )
    const calls = fc.array(fc.oneof(call, fc.constant(good)), { maxLength: 3 })
    const result = fc.oneof(fc.jsonValue(), fc.array(fc.record({ calls }), { minLength: 1, maxLength: 1 }))
    fc.assert(
      fc.property(result, fc.nat({ max: 3 }), (result, length) => {
        const parsed = parseSimulation({ result }, length, abi)
        for (const { status, gasUsed, ...rest } of parsed ?? []) {
          expect(gasUsed).toBeGreaterThanOrEqual(0n)
          expect(gasUsed).toBeLessThan(2n ** 64n)
          expect(rest).toEqual(
            status === 'success'
              ? expect.objectContaining({ returnData: expect.any(String) })
              : { reason: expect.any(String) },
          )
        }
        expect(parsed === null || parsed.length === length).toBe(true)
      }),
      { numRuns: scaleSampleCount(1_000) },
    )
  })
})

describe('The summary of a simulation', () => {
  const success = (gasUsed: bigint) => ({ status: 'success', gasUsed, returnData: '0x' }) as const

  test('has the total gas of all successes, plus 15 % for changes', () => {
    expect(summariseSimulation([success(100_000n), success(46_000n), success(1n)], 500_000n)).toEqual({
      estimatedGas: 167_901n,
      simulation: { status: 'success' },
    })
  })

  test('has the reason of a revert, and the upper estimate of gas', () => {
    const revert = { status: 'reverted', gasUsed: 30_000n, reason: 'MaxCapReached' } as const
    expect(summariseSimulation([success(100_000n), revert], 570_000n)).toEqual({
      estimatedGas: 570_000n,
      simulation: { status: 'reverted', reason: 'MaxCapReached' },
    })
  })

  test('has the upper estimate of gas without a simulation', () => {
    expect(summariseSimulation(undefined, 570_000n)).toEqual({
      estimatedGas: 570_000n,
      simulation: { status: 'unavailable' },
    })
  })
})

function answerSimulations(wire: RecordingProxy | undefined, spoil: (answer: Answer) => Partial<Answer>): void {
  if (!wire) throw new Error('There is no such wire')
  wire.rewrite = (answers, request) => {
    const calls: { id: number; method: string }[] = JSON.parse(request)
    const ids = new Set(calls.filter(({ method }) => method === 'eth_simulateV1').map(({ id }) => id))
    const items: Answer[] = JSON.parse(answers)
    return JSON.stringify(
      items.map((item) => (ids.has(item.id) ? { jsonrpc: '2.0', id: item.id, ...spoil(item) } : item)),
    )
  }
}
type Answer = { id: number; result?: unknown; error?: unknown }

const UNSUPPORTED = { error: { code: -32601, message: 'the method eth_simulateV1 does not exist' } }

/**
 * Two unusable responses: an error, and a well-formed result with too much gas. Unit tests of the parser cover all
 * others.
 */
const GARBAGE: { garbage: string; spoil: (answer: Answer) => Partial<Answer> }[] = [
  { garbage: 'that the method does not exist', spoil: () => UNSUPPORTED },
  {
    garbage: 'more gas than there is',
    spoil: ({ result }) => ({
      result: (result as { calls: object[] }[]).map(({ calls }) => ({
        calls: calls.map((call) => ({ ...call, status: '0x1', gasUsed: `0x${'f'.repeat(64)}` })),
      })),
    }),
  },
]

describe('At a node that cannot simulate,', () => {
  test.for(GARBAGE)(
    'a deposit has the upper estimate if the simulation returns $garbage',
    async ({ spoil }, { service }) => {
      const vault = await openLagoonVault(service, { generation: '0.5' })
      answerSimulations(service.rpc[8453], spoil)
      const reply = await vault.deposit(ALICE, AMOUNT)
      expect(reply.status).toBe(200)
      expect(reply.body).toMatchObject({ simulation: { status: 'unavailable' }, estimatedGas: '570000' })
      expect(reply.body.approval).toHaveLength(1)
      expectSuccess(await vault.send(ALICE, reply))
    },
  )

  test.for(GARBAGE)(
    'a claim has its exact shares and the upper estimate if the simulation returns $garbage',
    async ({ spoil }, { service }) => {
      const vault = await openClaimable(service)
      answerSimulations(service.rpc[8453], spoil)
      const reply = await vault.claim(ALICE)
      expect(reply.status).toBe(200)
      expect(reply.body).toMatchObject({ simulation: { status: 'unavailable' }, estimatedGas: '400000' })
      await expectClaimed(vault, reply)
    },
  )

  test.for([{ returnData: '0x' }, { returnData: '0x1234' }, { returnData: undefined }])(
    'a claim has its exact shares even if the simulation returns $returnData instead',
    async ({ returnData }, { coldService: service }) => {
      const vault = await openClaimable(service)
      answerSimulations(service.rpc[8453], ({ result }) => ({
        result: (result as { calls: object[] }[]).map(({ calls }) => ({
          calls: calls.map((call) => ({ ...call, returnData })),
        })),
      }))
      const reply = await vault.claim(ALICE)
      expect(reply.status).toBe(200)
      expect(reply.body.simulation).toEqual({ status: 'success' })
      await expectClaimed(vault, reply)
    },
  )

  test.for([{ asset: 'USDC' }, { asset: 'USDT' }] as const)(
    'an allowance of $asset that is too small is always reset first',
    async ({ asset }, { service }) => {
      const vault = await openYieldVault(service, { asset })
      await vault.approve(ALICE.address, 1n)
      answerSimulations(service.rpc[8453], () => UNSUPPORTED)
      const reply = await vault.deposit(ALICE, AMOUNT)
      expect(reply.body.approval).toHaveLength(2)
      expect(reply.body).toMatchObject({ simulation: { status: 'unavailable' }, estimatedGas: '640000' })
      expectSuccess(await vault.send(ALICE, reply))
    },
  )

  test('a blacklisted user is still refused a claim', async ({ service }) => {
    const vault = await openClaimable(service)
    await vault.act(ROLES.admin, 'addToBlacklist', [ALICE.address])
    answerSimulations(service.rpc[8453], () => UNSUPPORTED)
    expect(await vault.claim(ALICE)).toMatchObject({ status: 403, body: { code: 'depositor_not_allowed' } })
  })
})

async function openClaimable(service: Parameters<typeof openLagoonVault>[0]): Promise<TestVault> {
  const vault = await openLagoonVault(service, { generation: '0.6', entryRate: 37 })
  await vault.request(BOB.address, 1_000_007n)
  await vault.settle()
  await vault.settle(31_415n)
  await vault.request(ALICE.address, AMOUNT)
  await vault.settle()
  return vault
}

async function expectClaimed(vault: TestVault, reply: Awaited<ReturnType<TestVault['claim']>>): Promise<void> {
  expectSuccess(await vault.send(ALICE, reply))
  const shares = await vault.read('balanceOf', ALICE.address)
  expect(reply.body.claimable).toEqual({ assets: `${AMOUNT}`, shares: `${shares}` })
}
