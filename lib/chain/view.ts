import {
  type Abi,
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
} from 'viem'
import { AppError } from '../errors.ts'

/** A read-only call of a contract, and how to read what it returns. */
export type View<T> = {
  readonly to: Address
  readonly data: Hex
  /** Throws on return data of another shape. */
  readonly decode: (data: Hex) => T
}

/** The answers to named views: undefined where the contract has no such function, reverted, or returned something else. */
export type Answers<Views extends Record<string, View<unknown>>> = {
  readonly [Name in keyof Views]: Views[Name] extends View<infer T> ? T | undefined : never
}

/** The view `functionName(...args)` of the contract at `to`. */
export function view<
  const abi extends Abi,
  name extends ContractFunctionName<abi, 'pure' | 'view'>,
  const args extends ContractFunctionArgs<abi, 'pure' | 'view', name>,
>(
  to: Address,
  abi: abi,
  functionName: name,
  args: args,
): View<ContractFunctionReturnType<abi, 'pure' | 'view', name, args>> {
  // viem's conditional parameter types cannot be satisfied while `abi` is generic; the signature above is the check.
  const call = { abi, functionName, args } as Parameters<typeof encodeFunctionData>[0]
  return {
    to,
    data: encodeFunctionData(call),
    decode: (data) =>
      decodeFunctionResult({ ...call, data } as Parameters<
        typeof decodeFunctionResult
      >[0]) as ContractFunctionReturnType<abi, 'pure' | 'view', name, args>,
  }
}

/** The answer, where there is one; throws `upstream_bad_answer` where there is none: unknown is not zero. */
export function known<T>(answer: T | undefined | null): T {
  if (answer === undefined || answer === null)
    throw new AppError('upstream_bad_answer', { cause: new Error('the contract does not tell') })
  return answer
}
