import type { Rpc, RpcOutcome, RpcRequest } from './rpc.ts'

type Waiting = {
  readonly requests: readonly RpcRequest[]
  readonly resolve: (outcomes: RpcOutcome[]) => void
  readonly reject: (error: unknown) => void
}

/**
 * The same Rpc for many askers: what they ask in one turn of the event loop goes out as one batch, a call that several
 * of them ask only once. A batch that fails as a whole fails for all of them.
 */
export function coalesced(rpc: Rpc): Rpc {
  let waiting: Waiting[] = []

  async function send(askers: readonly Waiting[]): Promise<void> {
    const calls = new Map(
      askers.flatMap(({ requests }) => requests.map((request) => [keyOf(request), request] as const)),
    )
    try {
      const outcomes = await rpc([...calls.values()])
      // Both casts: an Rpc gives an outcome for each call, and every call asked for is among them.
      const outcomeOf = new Map([...calls.keys()].map((key, index) => [key, outcomes[index] as RpcOutcome]))
      for (const { requests, resolve } of askers) {
        resolve(requests.map((request) => outcomeOf.get(keyOf(request)) as RpcOutcome))
      }
    } catch (error) {
      for (const { reject } of askers) reject(error)
    }
  }

  return (requests) =>
    new Promise((resolve, reject) => {
      waiting.push({ requests, resolve, reject })
      if (waiting.length > 1) return
      setImmediate(() => {
        const askers = waiting
        waiting = []
        void send(askers)
      })
    })
}

function keyOf({ method, params }: RpcRequest): string {
  return JSON.stringify([method, params])
}
