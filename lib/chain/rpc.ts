/** One JSON-RPC call. */
export type RpcRequest = { readonly method: string; readonly params: readonly unknown[] }

/** What a node said to one call: a result, or an error of that call alone (a revert, an unsupported method). */
export type RpcOutcome = { readonly result: unknown } | { readonly error: RpcError }

/** A node's error for one call. The node's own text is not kept: it may name a URL. */
export type RpcError = {
  readonly code: number
  /**
   * Why a node that serves refuses the call: `range` for events of too many blocks, `results` for too many events,
   * `archive` for what is too old for it, `unsupported` for a method, or state overrides, that it does not have, and
   * `unserved` for a fault of the node in any other words.
   */
  readonly refusal?: 'range' | 'results' | 'archive' | 'unsupported' | 'unserved'
  /**
   * With `range`: of how many blocks the node is thought to give events in one call. With `results`: of how many blocks from the
   * first on they were read before there were too many.
   */
  readonly blocks?: number
}

/**
 * Sends calls to the nodes of one chain and gives their outcomes in order: one HTTP request where a node takes so many
 * calls in one, else as few as it takes, side by side.
 * Throws AppError `upstream_timeout`, `upstream_unavailable` (with Retry-After where the node tells it) or
 * `upstream_bad_answer` when no node serves.
 */
export type Rpc = (requests: readonly RpcRequest[], options?: RpcOptions) => Promise<RpcOutcome[]>

/**
 * `mostBytes`: a call whose answer is larger is refused for its `results`; 32 MiB unless told. `isOfPast`: the calls read states
 * of the past, where two hosts else take a block that is older than a minute for a wrong one.
 */
export type RpcOptions = { readonly mostBytes?: number; readonly isOfPast?: true }
