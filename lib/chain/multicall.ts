import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, parseAbi } from 'viem'

/** Multicall3's address, the same on every chain of ours. */
export const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** The part of Multicall3 that we call (https://github.com/mds1/multicall3). */
export const multicall3Abi = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call[] calls) payable returns (Result[] returnData)',
  'function getBlockNumber() view returns (uint256 blockNumber)',
  'function getCurrentBlockTimestamp() view returns (uint256 timestamp)',
  'function getEthBalance(address account) view returns (uint256 balance)',
])

/** The calldata of `aggregate3`: all calls in one, each of which may fail by itself. */
export function encodeAggregate(calls: readonly { readonly to: Address; readonly data: Hex }[]): Hex {
  return encodeFunctionData({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }))],
  })
}

/** What each call of an `aggregate3` returned, in order; undefined where it reverted. Throws on anything that is not its return data. */
export function decodeAggregate(data: Hex): (Hex | undefined)[] {
  return decodeFunctionResult({ abi: multicall3Abi, functionName: 'aggregate3', data }).map(
    ({ success, returnData }) => (success ? returnData : undefined),
  )
}
