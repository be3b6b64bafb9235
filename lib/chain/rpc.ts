/** One JSON-RPC call. */
export type RpcRequest = { readonly method: string; readonly params: readonly unknown[] }

/** A node's outcome of one call: a result, or an error of only that call (a revert, an unsupported method). */
export type RpcOutcome = { readonly result: unknown } | { readonly error: RpcError }

/** A node's error for one call. It omits the node's own text, which may contain a URL. */
export type RpcError = {
  readonly code: number
  /**
   * Kind of the refusal, if the node does not serve the call.
   * * `range`: the call is for events of too many blocks. `results`: there are too many events.
   * * `archive`: the data is too old for the node.
   * * `unsupported`: the node lacks the method, or state overrides.
   * * `unserved`: any other fault of the node.
   */
  readonly refusal?: 'range' | 'results' | 'archive' | 'unsupported' | 'unserved'
  /**
   * With `range`: the number of blocks for which the node probably returns events in one call. With `results`: the
   * number of blocks, from the first, that were read before there were too many events.
   */
  readonly blocks?: number
}

/**
 * Sends calls to the nodes of one chain and returns their outcomes in order. Sends one HTTP request if a node accepts
 * that many calls, else as few as possible, concurrently. If no node serves, throws AppError `upstream_timeout`,
 * `upstream_bad_answer` or `upstream_unavailable`, the last with a node's Retry-After, if any.
 */
export type Rpc = (requests: readonly RpcRequest[], options?: RpcOptions) => Promise<RpcOutcome[]>

/**
 * Options of calls. `mostBytes`: maximum response size, 32 MiB by default; calls whose response is larger are refused
 * with `results`.
 */
export type RpcOptions = { readonly mostBytes?: number }
