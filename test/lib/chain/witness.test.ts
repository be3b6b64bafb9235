import { type Hex, numberToHex } from 'viem'
import { expect, test } from 'vitest'
import { CHAINS } from '../../../lib/chain/registry.ts'
import type { Rpc, RpcOutcome } from '../../../lib/chain/rpc.ts'
import { witnessedReader } from '../../../lib/chain/witness.ts'
import { failureOf } from '../../support/errors.ts'

const [CHAIN] = CHAINS
const ACCOUNT = '0x0000000000000000000000000000000000000016'
const HEADER = {
  number: '0x5',
  timestamp: '0x5',
  hash: numberToHex(5, { size: 32 }),
  parentHash: numberToHex(4, { size: 32 }),
}

type Simulated = { readonly gasUsed: Hex; readonly status?: Hex; readonly logs?: readonly [] }

type Saying = Simulated | 'cannot simulate' | 'odd'

/** A host that says this of every dry run. */
const hostSaying =
  (simulated: Saying): Rpc =>
  async (requests) =>
    requests.map(({ method }): RpcOutcome => {
      if (method !== 'eth_simulateV1') return { result: HEADER }
      if (simulated === 'odd') return { error: { code: 35, refusal: 'unserved' } }
      if (simulated === 'cannot simulate') return { error: { code: -32_601, refusal: 'unsupported' } }
      return { result: [{ calls: [{ status: '0x1', returnData: '0x', logs: [], ...simulated }] }] }
    })

/** The dry run that a reader of hosts that say this returns. */
async function simulateAt(...hosts: readonly Saying[]): Promise<RpcOutcome | undefined> {
  const reader = witnessedReader(CHAIN as NonNullable<typeof CHAIN>, hosts.map(hostSaying))
  const [outcome] = await reader.simulate(ACCOUNT, [[{ to: ACCOUNT, data: '0x', value: 0n }]])
  return outcome
}

const TRUE: Simulated = { gasUsed: numberToHex(196_800) }

test.for([
  [TRUE, { gasUsed: numberToHex(190_000) }],
  [{ gasUsed: numberToHex(100_000) }, TRUE],
] as const)('Of two estimates of gas the larger one counts, whoever says it', async ([first, second]) => {
  expect(await simulateAt(first, second)).toMatchObject({ result: [{ calls: [{ gasUsed: TRUE.gasUsed }] }] })
})

test.for([1n, 98_399n, 393_601n, 2n ** 63n].flatMap((gas) => [[gas, true] as const, [gas, false] as const]))(
  'A host that says %s gas where another says 196,800 gets nothing handed out (first: %s)',
  async ([gas, isFirst]) => {
    const liar: Simulated = { gasUsed: numberToHex(gas) }
    const said = isFirst ? simulateAt(liar, TRUE) : simulateAt(TRUE, liar)
    expect((await failureOf(said)).code).toBe('nodes_disagree')
  },
)

test('A host that leaves out the logs takes no part of the gas away', async () => {
  const { logs: _, ...silent } = { logs: [], gasUsed: numberToHex(120_000) } as const
  const simulated = await simulateAt({ ...silent, logs: undefined as never }, TRUE)
  expect(simulated).toMatchObject({ result: [{ calls: [{ gasUsed: TRUE.gasUsed }] }] })
})

test('A dry run that reverts at the only host that can simulate keeps the transaction back', async () => {
  const reverted: Simulated = { ...TRUE, status: '0x0' }
  for (const hosts of [
    [reverted, 'cannot simulate'],
    ['cannot simulate', reverted],
  ] as const) {
    expect(await simulateAt(...hosts)).toMatchObject({ result: [{ calls: [{ status: '0x0' }] }] })
  }
  expect(await simulateAt(TRUE, 'cannot simulate')).toMatchObject({ error: { refusal: 'unsupported' } })
})

test('A dry run that burns all the gas that each host allows reverts at both, whatever they allow', async () => {
  const burnt = (gas: number): Simulated => ({ status: '0x0', gasUsed: numberToHex(gas) })
  const simulated = await simulateAt(burnt(50_000_000), burnt(300_000_000))
  expect(simulated).toMatchObject({ result: [{ calls: [{ status: '0x0' }] }] })
})

test.for([0, 1, 2])('A host that fails in words of its own is replaced by the third one (place %i)', async (place) => {
  const hosts: Saying[] = [TRUE, TRUE, TRUE]
  expect(await simulateAt(...hosts.with(place, 'odd'))).toMatchObject({ result: [{ calls: [{ status: '0x1' }] }] })
})

test('A state of the past is given where it is asked for as such, of one block at both hosts', async () => {
  const ago = { ...HEADER, number: '0x2', timestamp: '0x2', hash: numberToHex(2, { size: 32 }) }
  const head = { ...HEADER, timestamp: numberToHex(1_000) }
  const hostOf =
    (price: Hex): Rpc =>
    async (requests) =>
      requests.map(({ method, params }) => ({
        result: method === 'eth_call' ? price : params[0] === 'latest' ? head : ago,
      }))
  const read = (prices: readonly Hex[], options?: { isOfPast: true }) =>
    witnessedReader(CHAIN as NonNullable<typeof CHAIN>, prices.map(hostOf)).request(
      [{ method: 'eth_call', params: [{ to: ACCOUNT, data: '0x' }, '0x2'] }],
      options,
    )
  expect((await failureOf(read(['0x1', '0x1']))).code).toBe('nodes_disagree')
  expect(await read(['0x1', '0x1'], { isOfPast: true })).toEqual([{ result: '0x1' }])
  expect((await failureOf(read(['0x1', '0x2'], { isOfPast: true }))).code).toBe('nodes_disagree')
})
