import { encodeFunctionData, numberToHex, zeroAddress } from 'viem'
import * as z from 'zod'
import { HashText, Quantity } from '../lib/chain/hex.ts'
import { Log } from '../lib/chain/logs.ts'
import { encodeAggregate, MULTICALL3, multicall3Abi } from '../lib/chain/multicall.ts'
import { min } from '../lib/core/bigint.ts'

/**
 * Node to compare. `head` is the number of its last block. `ask` sends a request to the node, and returns undefined if
 * the node refuses it.
 */
export type ComparedNode = {
  readonly name: string
  readonly head: bigint
  readonly ask: (method: string, params: readonly unknown[]) => Promise<unknown>
}

/** Result of comparing the nodes of a chain at one block, in words. Both lists are empty if the nodes agree. */
export type NodeComparison = {
  readonly block: bigint
  readonly differences: readonly string[]
  /** Results that one node does not return although another does. */
  readonly silent: readonly string[]
}

/** Number of requests that a comparison sends to each node. */
export const COMPARISON_REQUESTS = 3

/** Number of latest blocks whose token transfers are compared. Every provider's plan allows requests for so few blocks. */
const EVENT_BLOCKS = 2n
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const Identity = z.object({ number: Quantity, hash: HashText })
const Events = z.array(Log)

/**
 * Compares nodes of one chain at the lowest of their last blocks: the block's hash, the result of a call to the contract Multicall3, and
 * token transfers.
 */
export async function compareNodes(nodes: readonly ComparedNode[]): Promise<NodeComparison> {
  const block = nodes.reduce((lowest, { head }) => min(lowest, head), nodes[0]?.head ?? 0n)
  const questions = requestsAt(block)
  const compared = await Promise.all(
    questions.map(async ({ what, method, params, textOf }) => {
      const texts = await Promise.all(nodes.map(async (node) => textOf(await node.ask(method, params))))
      const named = nodes.map(({ name }, index) => ({ name, text: texts[index] }))
      const responding = named.filter(({ text }) => text !== undefined)
      const names = [...new Set(responding.map(({ name }) => name))].join(' and ')
      const isSame = new Set(responding.map(({ text }) => text)).size <= 1
      return {
        differences: isSame ? [] : [`${names} differ in ${what}`],
        silent:
          responding.length === 0
            ? []
            : named.flatMap(({ name, text }) => (text === undefined ? [`${name} does not return ${what}`] : [])),
      }
    }),
  )
  return {
    block,
    differences: compared.flatMap(({ differences }) => differences),
    silent: compared.flatMap(({ silent }) => silent),
  }
}

/**
 * Lists requests whose correct result is the same at every node. `textOf` extracts the compared part of a result, or returns undefined for
 * a refusal.
 */
function requestsAt(block: bigint) {
  const number = numberToHex(block)
  const from = block < EVENT_BLOCKS ? 0n : block - EVENT_BLOCKS + 1n
  const events = { fromBlock: numberToHex(from), toBlock: number, topics: [TRANSFER] }
  return [
    {
      what: `the hash of block ${block}`,
      method: 'eth_getBlockByNumber',
      params: [number, false],
      textOf: (result: unknown) => {
        const { data } = Identity.safeParse(result)
        return data && `${data.number} ${data.hash}`
      },
    },
    {
      what: `the state at block ${block}`,
      method: 'eth_call',
      params: [{ to: MULTICALL3, data: STATE }, number],
      textOf: (result: unknown) => (typeof result === 'string' ? result.toLowerCase() : undefined),
    },
    {
      what: `the events up to block ${block}`,
      method: 'eth_getLogs',
      params: [events],
      textOf: (result: unknown) => {
        const { data } = Events.safeParse(result)
        return data && JSON.stringify(data.map(textOfEvent))
      },
    },
  ]
}

/**
 * Call to the contract Multicall3 that reads the balance of the zero address and the block's time. Both change over time, so nodes with
 * different states return different results.
 */
const STATE = encodeAggregate(
  [
    encodeFunctionData({ abi: multicall3Abi, functionName: 'getEthBalance', args: [zeroAddress] }),
    encodeFunctionData({ abi: multicall3Abi, functionName: 'getCurrentBlockTimestamp' }),
  ].map((data) => ({ to: MULTICALL3, data })),
)

/** Returns an event as text, without the fields that hosts may leave out. */
function textOfEvent({ address, topics, data, logIndex, blockNumber, transactionHash }: Log): string {
  return [address, topics.join(), data, logIndex, blockNumber, transactionHash].join(' ').toLowerCase()
}
