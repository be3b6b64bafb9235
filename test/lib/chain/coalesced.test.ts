import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { coalesced } from '../../../lib/chain/coalesced.ts'
import type { Rpc, RpcRequest } from '../../../lib/chain/rpc.ts'

const call = (n: number): RpcRequest => ({ method: 'eth_call', params: [n] })

/** A node that answers each call with its own parameter. */
function node() {
  return vi.fn<Rpc>(async (requests) => requests.map(({ params }) => ({ result: params[0] })))
}

describe('What is asked in one turn', () => {
  test('goes out as one batch, and each asker gets its own answers in order', async () => {
    const rpc = node()
    const shared = coalesced(rpc)
    const answers = await Promise.all([shared([call(3), call(1)]), shared([]), shared([call(2)])])
    expect(answers).toEqual([[{ result: 3 }, { result: 1 }], [], [{ result: 2 }]])
    expect(rpc.mock.calls).toEqual([[[call(3), call(1), call(2)]]])
  })

  test('by several of them goes out once', async () => {
    const rpc = node()
    const shared = coalesced(rpc)
    const answers = await Promise.all([shared([call(1), call(2)]), shared([call(2), call(1), call(2)])])
    expect(answers.map((of) => of.map((one) => 'result' in one && one.result))).toEqual([
      [1, 2],
      [2, 1, 2],
    ])
    expect(rpc.mock.calls).toEqual([[[call(1), call(2)]]])
  })

  test('fails for all who asked when the batch does, and not for those who ask later', async () => {
    const failure = new Error('no connection')
    const rpc = node().mockRejectedValueOnce(failure)
    const shared = coalesced(rpc)
    const settled = await Promise.allSettled([shared([call(1)]), shared([call(2)])])
    expect(settled).toEqual(Array(2).fill({ status: 'rejected', reason: failure }))
    expect(await shared([call(3)])).toEqual([{ result: 3 }])
  })
})

test('What is asked in another turn is another batch', async () => {
  const rpc = node()
  const shared = coalesced(rpc)
  const first = shared([call(1)])
  await sleep(5)
  const second = shared([call(1)])
  await Promise.all([first, second])
  expect(rpc).toHaveBeenCalledTimes(2)
})
