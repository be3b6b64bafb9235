import { type Abi, type Address, type Hex, numberToHex } from 'viem'
import * as z from 'zod'
import { sum } from '../core/bigint.ts'
import { decodeError } from './decode.ts'
import { HexText, Quantity } from './hex.ts'
import { Log } from './logs.ts'
import type { RpcOutcome, RpcRequest } from './rpc.ts'
import type { SimulationResult } from './simulation-result.ts'
import type { Transaction } from './transaction.ts'

/**
 * Result of one simulated transaction. `gasUsed` is in gas units. `reason` is the name or text of the revert's error,
 * or the first bytes of unknown revert data. `logs` are undefined if the node omits them.
 */
export type SimulatedTransaction =
  | {
      readonly status: 'success'
      readonly gasUsed: bigint
      readonly returnData: Hex
      readonly logs?: readonly SimulatedLog[] | undefined
    }
  | { readonly status: 'reverted'; readonly gasUsed: bigint; readonly reason: string }

/** Margin above the simulated gas, in percent, because the state may change before the transactions are mined. */
const MARGIN_PERCENT = 15n

/**
 * Upper estimates of gas by kind of transaction, in gas units. They apply if the node cannot simulate, or a simulation
 * reverts.
 */
export const UPPER_GAS_ESTIMATES = {
  approve: 70_000n,
  deposit: 500_000n,
  claim: 400_000n,
  withdrawal: 400_000n,
  cancel: 200_000n,
  bridge: 250_000n,
}

const Number64 = Quantity.pipe(z.bigint().lt(2n ** 64n))

const SimulatedLog = Log.pick({ address: true, topics: true, data: true })
type SimulatedLog = z.output<typeof SimulatedLog>

const SimulatedBlocks = z.array(
  z.object({
    calls: z.array(
      z.object({
        status: Number64,
        gasUsed: Number64,
        returnData: HexText.default('0x'),
        logs: z.array(SimulatedLog).optional().catch(undefined),
        error: z.object({ data: HexText.optional().catch(undefined) }).nullish(),
      }),
    ),
  }),
)

/** Storage words, by contract and slot, that replace the chain's own words during a simulation. */
export type StorageOverrides = Readonly<Record<Address, { readonly stateDiff: Readonly<Record<Hex, Hex>> }>>

/**
 * Returns the request that simulates these transactions of one account in order, each on the state after the previous
 * one. The simulation needs no signature and no balance for gas (eth_simulateV1,
 * https://github.com/ethereum/execution-apis).
 */
export function simulationRequest(from: Address, transactions: readonly Transaction[]): RpcRequest {
  return simulation([{ calls: callsOf(from, transactions) }], 'latest')
}

/** Total gas of one simulated block, below the block gas limit of every chain. Its transactions get equal parts. */
const BLOCK_GAS = 28_000_000n

/**
 * Returns the request that simulates blocks of transactions in order. Each transaction has a gas limit, so none can use
 * up the gas of later transactions. The simulation starts after block `at`, by default after the latest, on the storage
 * words in `storage`. The last block has the time `until`, in seconds since 1970, if given.
 */
export function boundedSimulationRequest(
  from: Address,
  blocks: readonly (readonly Transaction[])[],
  {
    at,
    storage,
    until,
  }: { readonly at?: bigint; readonly storage?: StorageOverrides; readonly until?: bigint | undefined } = {},
): RpcRequest {
  const blockStateCalls = blocks.map((transactions, index) => ({
    ...(index === 0 && storage && { stateOverrides: storage }),
    ...(index === blocks.length - 1 && until !== undefined && { blockOverrides: { time: numberToHex(until) } }),
    calls: boundedCallsOf(from, transactions),
  }))
  return simulation(blockStateCalls, at === undefined ? 'latest' : numberToHex(at))
}

function simulation(blockStateCalls: readonly object[], at: string): RpcRequest {
  return { method: 'eth_simulateV1', params: [{ blockStateCalls, validation: false }, at] }
}

function callsOf(from: Address, transactions: readonly Transaction[]) {
  return transactions.map(({ to, data, value }) => ({ from, to, data, value: numberToHex(value) }))
}

function boundedCallsOf(from: Address, transactions: readonly Transaction[]) {
  const gas = numberToHex(BLOCK_GAS / BigInt(transactions.length))
  return callsOf(from, transactions).map((call) => ({ ...call, gas }))
}

/**
 * Parses the results of `length` simulated transactions; null if the node returned no such simulation. `abi` decodes
 * the errors of reverts.
 */
export function parseSimulation(
  outcome: RpcOutcome | undefined,
  length: number,
  abi: Abi,
): SimulatedTransaction[] | null {
  return parseSimulatedBlocks(outcome, [length], abi)?.[0] ?? null
}

/** Parses a simulation of several blocks, like `parseSimulation`. `lengths` has the number of transactions in each block. */
export function parseSimulatedBlocks(
  outcome: RpcOutcome | undefined,
  lengths: readonly number[],
  abi: Abi,
): SimulatedTransaction[][] | null {
  const blocks = SimulatedBlocks.safeParse(outcome && 'result' in outcome ? outcome.result : undefined).data
  if (blocks?.length !== lengths.length) return null
  if (blocks.some(({ calls }, index) => calls.length !== lengths[index])) return null
  return blocks.map(({ calls }) =>
    calls.map(({ status, gasUsed, returnData, logs, error }) =>
      status === 1n
        ? { status: 'success', gasUsed, returnData, logs }
        : { status: 'reverted', gasUsed, reason: revertReason(error?.data ?? returnData, abi) },
    ),
  )
}

/**
 * Returns the gas and the result of simulated transactions. Gas is the sum of the transactions plus a margin of 15 %.
 * If a transaction reverted, or the node could not simulate (`calls` is undefined), gas is `upperEstimate`.
 */
export function summariseSimulation(
  calls: readonly SimulatedTransaction[] | undefined,
  upperEstimate: bigint,
): { estimatedGas: bigint; simulation: SimulationResult } {
  if (!calls) return { estimatedGas: upperEstimate, simulation: { status: 'unavailable' } }
  const reverted = calls.find((call) => call.status === 'reverted')
  if (reverted) return { estimatedGas: upperEstimate, simulation: { status: 'reverted', reason: reverted.reason } }
  const used = sum(calls.map(({ gasUsed }) => gasUsed))
  return { estimatedGas: (used * (100n + MARGIN_PERCENT)) / 100n, simulation: { status: 'success' } }
}

function revertReason(data: Hex, abi: Abi): string {
  const error = decodeError(abi, data)
  if (error) return error.name === 'Error' ? String(error.args[0]).slice(0, 200) : error.name
  return data === '0x' ? 'reverted without a reason' : `reverted with ${data.slice(0, 10)}`
}
