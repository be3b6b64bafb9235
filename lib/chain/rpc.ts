/** One JSON-RPC call. */
export type RpcRequest = { readonly method: string; readonly params: readonly unknown[] }

/** A node's outcome of one call: a result, or an error of only that call (a revert, an unsupported method). */
export type RpcOutcome = { readonly result: unknown } | { readonly error: RpcError }

/** A node's error for one call. It omits the node's own text, which may contain a URL. */
export type RpcError = {
  readonly code: number
  /**
   * Reason why a healthy node refuses the call.
   * * `range`: events of too many blocks. `results`: too many events.
   * * `archive`: the data is too old for the node.
   * * `unsupported`: the node lacks the method, or state overrides.
   * * `unserved`: a fault of the node in any other words.
   */
  readonly refusal?: 'range' | 'results' | 'archive' | 'unsupported' | 'unserved'
  /**
   * With `range`: the number of blocks for which the node probably returns events in one call. With `results`: the
   * number of leading blocks read before there were too many events.
   */
  readonly blocks?: number
}

/**
 * Sends calls to the nodes of one chain and returns their outcomes in order. Sends one HTTP request if a node accepts
 * that many calls, else as few as possible, concurrently. Throws AppError `upstream_timeout`, `upstream_unavailable`
 * (with the node's Retry-After, if any) or `upstream_bad_answer` if no node serves.
 */
export type Rpc = (requests: readonly RpcRequest[], options?: RpcOptions) => Promise<RpcOutcome[]>

/**
 * Options of calls. `mostBytes`: maximum response size, 32 MiB by default; a larger one is refused with `results`.
 * `isOfPast`: marks calls that read past states; no code uses it.
 */
export type RpcOptions = { readonly mostBytes?: number; readonly isOfPast?: true }
