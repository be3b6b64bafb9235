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
  options: { readonly chainId?: number } = {},
): Rpc {
  const nodes = urls.map((url) => createNode(url, environment, options))
  // A node that failed is not the first choice of the next batch.
  let preferred = 0

  /** The nodes in the order in which they are asked, those that want to be left alone last. */
  function inOrder(): Node[] {
    const turned = [...nodes.slice(preferred), ...nodes.slice(0, preferred)]
    return turned.toSorted((left, right) => left.pause() - right.pause())
  }

  /** The outcomes from the first of these nodes that serves; what it does not serve is asked of those after it. */
  async function ask(
    requests: readonly RpcRequest[],
    order: readonly Node[],
    options: RpcOptions & { readonly giveUpAt: number },
  ): Promise<NodeOutcome[]> {
    const [first, ...others] = order
    if (!first) throw new FailedTry('upstream_unavailable', 'no node is left')
    const tryNode = (node: Node) => async (signal: AbortSignal) => ({
      node,
      outcomes: await node.send(requests, { ...options, signal }),
    })
    const { node, outcomes } = await firstAnswer(
      environment,
      // The only node is asked again.
      [tryNode(first), ...(others.length > 0 ? others : [first]).map(tryNode)],
      { giveUpAt: options.giveUpAt, ...(others.length > 0 && { besides: true, goOn: () => true }) },
    )
    if (node !== first) preferred = nodes.indexOf(node)

    const after = others.slice(others.indexOf(node) + 1)
    const open = requests.flatMap((request, index) =>
      isOpen(outcomes[index], after.length > 0) ? [{ request, index }] : [],
    )
    if (open.length === 0) return outcomes
    if (after[0] && outcomes.some((outcome) => 'unserved' in outcome)) preferred = nodes.indexOf(after[0])
    const asked = open.map(({ request }) => request)
    const answers = await (after.length > 0
      ? ask(asked, after, options)
      : firstAnswer(environment, [(signal) => node.send(asked, { ...options, signal })], options)
    ).catch((error: unknown): NodeOutcome[] => {
      if (error instanceof FailedTry) return []
      throw error
    })
    const answerOf = new Map(open.map(({ index }, i) => [index, answers[i]]))
    return outcomes.map((outcome, index) => answerOf.get(index) ?? outcome)
  }

  return async (requests, options = {}) => {
    if (requests.length === 0) return []
    const giveUpAt = environment.now() + DEADLINE_MS
    const order = inOrder()
    const pause = order[0]?.pause() ?? 0
    if (pause > 0) throw toAppError(restingFor(pause), NAME)

    // Each call goes to the first node that is not known to refuse it, all at once.
    const indexed = requests.map((request, index) => ({ request, index }))
    const groups = Map.groupBy(indexed, ({ request }) =>
      Math.max(
        0,
        order.findIndex((node) => node.takes(request)),
      ),
    )
    const outcomes: RpcOutcome[] = []
    try {
      await Promise.all(
        [...groups].map(async ([from, group]) => {
          const asked = group.map(({ request }) => request)
          const answers = await ask(asked, [...order.slice(from), ...order.slice(0, from)], { ...options, giveUpAt })
          for (const [i, { index }] of group.entries()) outcomes[index] = served(answers[i])
        }),
      )
      return outcomes
    } catch (error) {
      preferred = (nodes.indexOf(order[0] as Node) + 1) % nodes.length
      throw error instanceof FailedTry ? toAppError(error, NAME) : error
    }
  }
}

/** Whether a call is to be asked again: of the same node for what may pass, of another one for what it refuses. */
function isOpen(outcome: NodeOutcome | undefined, isElsewhere: boolean): boolean {
  if (!outcome || 'unserved' in outcome) return true
  const refusal = 'error' in outcome ? outcome.error.refusal : undefined
  return isElsewhere && (refusal === 'unsupported' || refusal === 'archive')
}

/** The outcome where there is one. What no node serves is an error of that call, unless they are too busy to tell. */
function served(outcome: NodeOutcome | undefined): RpcOutcome {
  if (outcome && !('unserved' in outcome)) return outcome
  if (outcome && !outcome.isBusy) return { error: outcome.unserved }
  throw new FailedTry('upstream_unavailable', 'too busy')
}

function restingFor(milliseconds: number): FailedTry {
  return new FailedTry('upstream_unavailable', 'wants to be left alone', {
    retryAfterSeconds: Math.ceil(milliseconds / 1000),
  })
}
