import { type AbiFunction, decodeFunctionData, encodeFunctionResult, type Hex, toFunctionSelector } from 'viem'
import { poolAbi } from '../../lib/bridge/abi.ts'
import type { ContractCall } from '../../lib/chain/call.ts'
import { erc20Abi } from '../../lib/chain/erc20.ts'
import { multicall3Abi } from '../../lib/chain/multicall.ts'
import type { ChainReader, ReadPlan } from '../../lib/chain/reader.ts'
import { cooldownAbi } from '../../lib/protocols/cooldown/abi.ts'
import { erc7540Abi } from '../../lib/protocols/erc7540/abi.ts'
import { lagoonAbi } from '../../lib/protocols/lagoon/abi.ts'

/**
 * Simulated contracts. `answers` maps a function name to its result, or to a function of arguments and contract address. A call
 * of any other function reverts. `words` maps storage slots to their values; other slots are zero.
 */
export type SimulatedContracts = {
  readonly answers: Readonly<Record<string, unknown>>
  readonly words?: Readonly<Record<Hex, bigint>>
}

const FUNCTIONS = new Map(
  [...lagoonAbi, ...erc7540Abi, ...cooldownAbi, ...multicall3Abi, ...erc20Abi, ...poolAbi]
    .filter((item) => item.type === 'function')
    .map((item): [Hex, AbiFunction] => [toFunctionSelector(item), item]),
)

/** Runs a plan of storage reads and contract calls on simulated contracts. Throws the errors of the plan's `parse`. */
export function runReadPlan<T>({ slots, calls, parse }: ReadPlan<T>, contracts: SimulatedContracts): T {
  const words = slots.map((slot) => contracts.words?.[slot] ?? 0n)
  return parse({ words, answers: calls.map((call) => answerOf(call, contracts)) })
}

/** Creates a ChainReader of simulated contracts. Only `read` and `readOne` work. */
export function createContractsReader(contracts: SimulatedContracts): ChainReader {
  const reader: Partial<Record<keyof ChainReader, unknown>> = {
    read: async (plans: readonly ReadPlan<unknown>[]) => ({
      values: plans.map((plan) => runReadPlan(plan, contracts)),
    }),
    readOne: async (plan: ReadPlan<unknown>) => ({ value: runReadPlan(plan, contracts) }),
  }
  return reader as ChainReader
}

function answerOf({ to, data, decode }: ContractCall<unknown>, { answers }: SimulatedContracts): unknown {
  const item = FUNCTIONS.get(data.slice(0, 10) as Hex)
  if (!item) throw new Error(`No ABI has the function ${data.slice(0, 10)}.`)
  const { args = [] } = decodeFunctionData({ abi: [item], data })
  const answer = answers[item.name]
  const value = typeof answer === 'function' ? answer(...args, to) : answer
  return value === undefined ? undefined : decode(encodeFunctionResult({ abi: [item], result: value }))
}
