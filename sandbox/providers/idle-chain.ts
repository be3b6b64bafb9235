import {
  decodeFunctionData,
  encodeFunctionResult,
  type Hex,
  isHex,
  numberToHex,
  parseAbi,
  slice,
  toFunctionSelector,
} from 'viem'
import * as z from 'zod'
import { MULTICALL3 } from '../chains.ts'
import { createFakeService, type FakeService } from '../fake.ts'
import { type JsonRpcCall, jsonRpcReply } from './json-rpc.ts'

const BLOCK_MS = 2_000
const ZERO_WORD = numberToHex(0, { size: 32 })

const abi = parseAbi([
  'struct Call { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call[] calls) payable returns (Result[] returnData)',
  'function getBlockNumber() view returns (uint256)',
  'function arbBlockNumber() view returns (uint256)',
  'function getCurrentBlockTimestamp() view returns (uint256)',
])
// The selectors are computed once, because these chains get hundreds of requests at a time.
const BLOCK_NUMBERS = ['getBlockNumber()', 'arbBlockNumber()'].map((name) => toFunctionSelector(name))
const BLOCK_TIMESTAMP = toFunctionSelector('getCurrentBlockTimestamp()')

const BlockParams = z.tuple([z.string()]).rest(z.unknown())
const Call = z.tuple([z.object({ to: z.string(), data: z.custom<Hex>(isHex) })]).rest(z.unknown())

/**
 * Returns fake RPC nodes of chains that have blocks but no balances or events, under the path /idle/<chain id>. `now` is in epoch
 * milliseconds.
 */
export function fakeIdleChains(now: () => number): FakeService {
  return createFakeService('/idle', ({ parts: [chainId], body }) =>
    jsonRpcReply(body, (call) => resultOf(call, Number(chainId), now())),
  )
}

function resultOf({ method, params }: JsonRpcCall, chainId: number, moment: number): unknown {
  const head = BigInt(Math.floor(moment / BLOCK_MS))
  const results: Readonly<Record<string, () => unknown>> = {
    eth_chainId: () => numberToHex(chainId),
    eth_blockNumber: () => numberToHex(head),
    eth_getBlockByNumber: () => {
      const [block] = BlockParams.parse(params)
      const number = isHex(block) ? BigInt(block) : head
      return {
        number: numberToHex(number),
        timestamp: numberToHex(timeOf(number)),
        hash: numberToHex(number, { size: 32 }),
        parentHash: numberToHex(number - 1n, { size: 32 }),
      }
    },
    eth_getBalance: () => '0x0',
    eth_getCode: () => '0x',
    eth_getStorageAt: () => ZERO_WORD,
    eth_getLogs: () => [],
    eth_getTransactionReceipt: () => null,
    eth_getTransactionByHash: () => null,
    eth_call: () => {
      const [{ to, data }] = Call.parse(params)
      return to.toLowerCase() === MULTICALL3.toLowerCase() ? aggregate(data, head) : '0x'
    },
  }
  return Object.hasOwn(results, method) ? results[method]?.() : undefined
}

/** Executes a call of Multicall3. Calls for the block's number or time return that value; all other calls return a zero word. */
function aggregate(data: Hex, head: bigint): Hex {
  const { functionName, args } = decodeFunctionData({ abi, data })
  if (functionName !== 'aggregate3') return ZERO_WORD
  const result = args[0].map(({ callData }) => ({ success: true, returnData: answerTo(callData, head) }))
  return encodeFunctionResult({ abi, functionName: 'aggregate3', result })
}

function answerTo(callData: Hex, head: bigint): Hex {
  const selector = slice(callData, 0, 4)
  if (selector === BLOCK_TIMESTAMP) return numberToHex(timeOf(head), { size: 32 })
  return BLOCK_NUMBERS.includes(selector) ? numberToHex(head, { size: 32 }) : ZERO_WORD
}

/** Returns a block's time in seconds since 1970. */
function timeOf(number: bigint): bigint {
  return (number * BigInt(BLOCK_MS)) / 1000n
}
