import { numberToHex, pad } from 'viem'
import { expect, test } from 'vitest'
import { compareNodes } from '../../admin/compare-nodes.ts'

type Results = Partial<Record<'eth_getBlockByNumber' | 'eth_call' | 'eth_getLogs', unknown>>

const EVENT = {
  address: pad('0x1', { size: 20 }),
  topics: [pad('0x2')],
  data: '0x',
  blockNumber: numberToHex(7),
  logIndex: '0x0',
  transactionHash: pad('0x3'),
  blockHash: pad('0x4'),
}
const HONEST: Results = {
  eth_getBlockByNumber: { number: numberToHex(7), timestamp: numberToHex(1), hash: pad('0x4') },
  eth_call: pad('0x5'),
  eth_getLogs: [EVENT],
}

/** Compares a correct node at block 9 with a node at block 7 that returns these results. */
function compareWith(results: Results) {
  const nodeOf = (name: string, head: bigint, results: Results) => ({
    name,
    head,
    ask: async (method: string) => results[method as keyof Results],
  })
  return compareNodes([nodeOf('a.example', 9n, HONEST), nodeOf('b.example', 7n, { ...HONEST, ...results })])
}

test.for<[string, Results, string[]]>([
  ['nothing', {}, []],
  [
    'only what hosts add to an event',
    { eth_getLogs: [{ ...EVENT, address: EVENT.address.toUpperCase().replace('X', 'x'), blockTimestamp: '0x1' }] },
    [],
  ],
  [
    'the hash',
    { eth_getBlockByNumber: { number: numberToHex(7), timestamp: numberToHex(1), hash: pad('0x9') } },
    ['a.example and b.example differ in the hash of block 7'],
  ],
  [
    'the number',
    { eth_getBlockByNumber: { number: numberToHex(8), timestamp: numberToHex(1), hash: pad('0x4') } },
    ['a.example and b.example differ in the hash of block 7'],
  ],
  ['the state', { eth_call: pad('0x6') }, ['a.example and b.example differ in the state at block 7']],
  ['events', { eth_getLogs: [] }, ['a.example and b.example differ in the events up to block 7']],
  ['nothing, where one returns nothing', { eth_getLogs: undefined, eth_call: undefined }, []],
])('Two nodes differ in %s', async ([, results, differences]) => {
  const compared = await compareWith(results)
  expect(compared).toEqual({ block: 7n, differences, silent: compared.silent })
})

test('A node that lacks a result of the others is named', async () => {
  const { silent } = await compareWith({ eth_getLogs: undefined })
  expect(silent).toEqual(['b.example does not return the events up to block 7'])
})
