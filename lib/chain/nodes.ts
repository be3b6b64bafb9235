import { DEADLINE_MS, FailedTry, firstAnswer, type HttpEnvironment, toAppError } from '../http.ts'
import { createNode, type Node, type NodeOutcome } from './node.ts'
import type { Rpc, RpcOptions, RpcOutcome, RpcRequest } from './rpc.ts'

/** What stands for a node in errors: its URL may hold a key. */
const NAME = 'node'

/**
 * An Rpc over these URLs of one chain. All that is asked at once has 3 s in all: a node that fails is replaced by the
 * next one, a slow one has the next one beside it, and what a node cannot serve, or was learnt to refuse, is asked of
 * the others. With a `chainId` nodes of another chain are left out.
 */
export function createRpc(
  urls: readonly [string, ...string[]],
  environment: HttpEnvironment,
  { chainId }: { readonly chainId?: number } = {},
): Rpc {
  // A node that failed is not the first choice of the next batch.
  let nodes = urls.map((url) => createNode(url, environment, chainId))
  const prefer = (index: number) => {
    nodes = [...nodes.slice(index), ...nodes.slice(0, index)]
  }

  /** The outcomes from the first of these nodes that serves; what it does not serve is asked of those after it. */
  async function ask(
    requests: readonly RpcRequest[],
    order: readonly Node[],
    options: RpcOptions & { readonly deadline: number },
  ): Promise<NodeOutcome[]> {
    const tryNode = (node: Node) => async (signal: AbortSignal) => ({
      node,
      outcomes: await node.send(requests, { ...options, signal }),
    })
    const { node, outcomes } = await (order.length > 1
      ? firstAnswer(environment, order.map(tryNode), { ...options, hedged: true, shouldContinue: () => true })
      : // The only node is asked again.
        firstAnswer(environment, [...order, ...order].map(tryNode), options))
    if (node !== order[0]) prefer(nodes.indexOf(node))

    const after = order.slice(order.indexOf(node) + 1)
    const open = [...requests.keys()].filter((index) => isOpen(outcomes[index], after.length > 0))
    if (open.length === 0) return outcomes
    if (after[0] && outcomes.some((outcome) => 'unserved' in outcome)) prefer(nodes.indexOf(after[0]))
    const asked = requests.filter((_, index) => open.includes(index))
    const answers = await (after.length > 0
      ? ask(asked, after, options)
      : firstAnswer(environment, [(signal) => node.send(asked, { ...options, signal })], options)
    ).catch((error: unknown): NodeOutcome[] => {
      if (error instanceof FailedTry) return []
      throw error
    })
    return outcomes.map((outcome, index) => answers[open.indexOf(index)] ?? outcome)
  }

  return async (requests, options = {}) => {
    if (requests.length === 0) return []
    const deadline = environment.now() + DEADLINE_MS
    // Those that limit our rate (Retry-After) come last.
    const order = nodes.toSorted((left, right) => left.pause() - right.pause())
    const pause = order[0]?.pause() ?? 0
    if (pause > 0) {
      const retryAfterSeconds = Math.ceil(pause / 1000)
      throw toAppError(new FailedTry('upstream_unavailable', 'rate limited (Retry-After)', { retryAfterSeconds }), NAME)
    }

    // Each call goes to the first node that is not known to refuse it, all at once.
    const indexed = requests.map((request, index) => ({ request, index }))
    const groups = Map.groupBy(indexed, ({ request }) => order.findIndex((node) => node.takes(request)))
    const outcomes: RpcOutcome[] = []
    try {
      await Promise.all(
        [...groups].map(async ([from, group]) => {
          const asked = group.map(({ request }) => request)
          // Where all are known to refuse it, to the first of all, which says so.
          const start = Math.max(0, from)
          const answers = await ask(asked, [...order.slice(start), ...order.slice(0, start)], { ...options, deadline })
          for (const [i, { index }] of group.entries()) outcomes[index] = served(answers[i])
        }),
      )
      return outcomes
    } catch (error) {
      const [first] = order
      prefer(first ? nodes.indexOf(first) + 1 : 0)
      throw error instanceof FailedTry ? toAppError(error, NAME) : error
    }
  }
}

/** True for a call to ask again: of another node if this one does not serve it, of the same one if it is busy. */
function isOpen(outcome: NodeOutcome | undefined, isElsewhere: boolean): boolean {
  if (!outcome) return true
  if ('unserved' in outcome) return isElsewhere || outcome.isBusy
  const refusal = 'error' in outcome ? outcome.error.refusal : undefined
  return isElsewhere && (refusal === 'unsupported' || refusal === 'archive')
}

/** The outcome where there is one. What no node serves is an error of that call, unless they are too busy to tell. */
function served(outcome: NodeOutcome | undefined): RpcOutcome {
  if (outcome && !('unserved' in outcome)) return outcome
  if (outcome && !outcome.isBusy) return { error: { ...outcome.unserved, refusal: 'unserved' } }
  throw new FailedTry('upstream_unavailable', 'too busy')
}
