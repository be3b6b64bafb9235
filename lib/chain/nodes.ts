import { DEADLINE_MS, FailedTry, firstSuccess, type HttpEnvironment, toAppError } from '../core/http.ts'
import { logger } from '../core/logger.ts'
import { createNode, type Node, type NodeOutcome } from './node.ts'
import type { Rpc, RpcOptions, RpcOutcome, RpcRequest } from './rpc.ts'

/** Name of every node in error messages. A node's URL may contain a secret key. */
const NAME = 'node'

type RequestState = RpcOptions & { readonly deadline: number; readonly said: Set<string> }

/**
 * Creates an Rpc that sends calls to the nodes at these URLs of one chain. All HTTP requests for one batch of calls
 * share a deadline of 3 s. The next node replaces a failed one, and is also called while a node is slow. Calls that a
 * node refuses, or is known to refuse, go to the other nodes. With a `chainId`, nodes of another chain are excluded.
 */
export function createRpc(
  urls: readonly [string, ...string[]],
  environment: HttpEnvironment,
  { chainId }: { readonly chainId?: number } = {},
): Rpc {
  const places = urls.map((url) => createNode(url, environment, chainId))
  // The order of nodes changes after a failure, so that the next batch starts with a node that did not fail.
  let nodes = places
  const prefer = (node: Node | undefined) => {
    const index = node ? nodes.indexOf(node) : 0
    nodes = [...nodes.slice(index), ...nodes.slice(0, index)]
  }

  async function sendInOrder(
    requests: readonly RpcRequest[],
    order: readonly Node[],
    question: RequestState,
  ): Promise<NodeOutcome[]> {
    const failed = new Set<Node>()
    const tryNode = (node: Node) => async (signal: AbortSignal) => {
      try {
        return { node, outcomes: await node.send(requests, { ...question, signal }) }
      } catch (error) {
        if (!signal.aborted) failed.add(node)
        if (error instanceof FailedTry) question.said.add(`${places.indexOf(node)}: ${error.code}, ${error.message}`)
        throw error
      }
    }
    const isOnly = order.length === 1
    // A node is tried twice if no other node can replace it.
    const tries = isOnly ? [...order, ...order] : order
    const hedge = { slowMs: (index: number) => order[index]?.slowMs() ?? 0, shouldContinue: () => true }
    const { node, outcomes } = await firstSuccess(environment, tries.map(tryNode), {
      ...question,
      ...(!isOnly && hedge),
    })
    if (node !== order[0]) prefer(node)

    const others = order.filter((one) => one !== node && !failed.has(one))
    const isOpen = (outcome: NodeOutcome) => {
      const refusal = refusalOf(outcome)
      if (others.length > 0) return refusal !== undefined
      return refusal === 'busy' || (refusal === 'unserved' && places.length === 1)
    }
    const open = outcomes.flatMap((outcome, index) => (isOpen(outcome) ? [index] : []))
    for (const index of open) {
      question.said.add(`${places.indexOf(node)}: ${requests[index]?.method} ${textOf(outcomes[index])}`)
    }
    if (open.length === 0) return outcomes
    const pending = requests.filter((_, index) => open.includes(index))
    const answers = await (others.length > 0
      ? sendInOrder(pending, others, question)
      : firstSuccess(environment, [(signal) => node.send(pending, { ...question, signal })], question)
    ).catch((error: unknown): NodeOutcome[] => {
      if (error instanceof FailedTry) return []
      throw error
    })
    // A node is at fault only if another node serves the refused call. A call that all nodes refuse is itself at fault.
    const isAtFault = open.some((index, i) => {
      const [refusal, answer] = [refusalOf(outcomes[index]), answers[i]]
      return NOT_LEARNT.includes(refusal) && answer !== undefined && !refusalOf(answer)
    })
    if (isAtFault) prefer(others[0])
    return outcomes.map((outcome, index) => best(outcome, answers[open.indexOf(index)]))
  }

  return async (requests, options = {}) => {
    if (requests.length === 0) return []
    const question = { ...options, deadline: environment.now() + DEADLINE_MS, said: new Set<string>() }
    // Nodes that have requested a pause (Retry-After) come last.
    const order = nodes.toSorted((left, right) => left.pause() - right.pause())
    const pause = order[0]?.pause() ?? 0
    if (pause > 0) {
      const retryAfterSeconds = Math.ceil(pause / 1000)
      throw toAppError(new FailedTry('upstream_unavailable', 'rate limited (Retry-After)', { retryAfterSeconds }), NAME)
    }

    // Each call goes to the first node that is not known to refuse the call. All nodes are called concurrently.
    const indexed = requests.map((request, index) => ({ request, index }))
    const groups = Map.groupBy(indexed, ({ request }) => order.findIndex((node) => node.takes(request)))
    const outcomes: RpcOutcome[] = []
    try {
      await Promise.all(
        [...groups].map(async ([from, group]) => {
          const pending = group.map(({ request }) => request)
          // A call that all nodes are known to refuse goes to the first node, which returns its refusal.
          const start = Math.max(0, from)
          const answers = await sendInOrder(pending, [...order.slice(start), ...order.slice(0, start)], question)
          for (const [i, { index }] of group.entries()) outcomes[index] = served(answers[i])
        }),
      )
      return outcomes
    } catch (error) {
      const [first] = order
      prefer(nodes[first ? (nodes.indexOf(first) + 1) % nodes.length : 0])
      if (!(error instanceof FailedTry)) throw error
      logger.warn('no node serves', { chainId, said: [...question.said] })
      throw toAppError(error, NAME)
    }
  }
}

function refusalOf(outcome: NodeOutcome | undefined) {
  return outcome && 'error' in outcome ? outcome.error.refusal : undefined
}

function textOf(outcome: NodeOutcome | undefined): string {
  return outcome && 'error' in outcome ? `${outcome.error.refusal} ${outcome.error.code}` : ''
}

/** Kinds of refusals that set no limit for later calls to the node. */
const NOT_LEARNT: readonly unknown[] = ['results', 'busy', 'unserved']

/**
 * Kinds of refusals, the most useful one for the caller first; undefined stands for no refusal. After `range` and
 * `results`, the caller can try a smaller range. `archive` is last, because a node that refuses for another reason may
 * still have the old data.
 */
const RANKS: readonly unknown[] = [undefined, 'range', 'results', 'busy', 'unserved', 'unsupported', 'archive']

/**
 * Returns the more useful of two nodes' outcomes for one call. Of two refused block ranges, the one that allows more
 * blocks wins.
 */
function best(one: NodeOutcome, other: NodeOutcome | undefined): NodeOutcome {
  if (!other) return one
  const [rank, otherRank] = [one, other].map((outcome) => RANKS.indexOf(refusalOf(outcome))) as [number, number]
  if (rank !== otherRank || !('error' in one && 'error' in other)) return rank < otherRank ? one : other
  return (one.error.blocks ?? 0) > (other.error.blocks ?? 0) ? one : other
}

function served(outcome: NodeOutcome | undefined): RpcOutcome {
  if (outcome && 'result' in outcome) return outcome
  const { refusal, ...error } = outcome?.error ?? { code: 0, refusal: 'busy' }
  if (refusal === 'busy') throw new FailedTry('upstream_unavailable', 'too busy')
  return { error: { ...error, ...(refusal && { refusal }) } }
}
