/** One JSON-RPC call. */
export type RpcRequest = { readonly method: string; readonly params: readonly unknown[] }

/** A node's outcome of one call: a result, or an error that concerns only this call, such as a revert. */
export type RpcOutcome = { readonly result: unknown } | { readonly error: RpcError }

/** A node's error for one call. The node's own text is left out, because it may contain a secret URL. */
export type RpcError = {
  readonly code: number
  /**
   * Reason why the node does not serve the call; absent if the call itself fails, for example in a revert.
   * * `range`: the request for events covers too many blocks.
   * * `results`: the blocks have too many events.
   * * `archive`: the node does not keep data of that age.
   * * `unsupported`: the node lacks the method, or state overrides.
   * * `unserved`: any other fault of the node.
   */
  readonly refusal?: 'range' | 'results' | 'archive' | 'unsupported' | 'unserved'
  /**
   * With `range`: the number of blocks that the node probably accepts in one call. With `results`: the number of
   * blocks, from the range's first, that the response covered before it became too large.
   */
  readonly blocks?: number
}

/**
 * Sends calls to the nodes of one chain and returns the outcomes in the order of the calls. All calls go in one HTTP
 * request if a node accepts so many, else in as few as possible, concurrently. Throws AppError `upstream_timeout`,
 * `upstream_bad_answer` or `upstream_unavailable` if no node serves. The last of these errors carries a node's
 * Retry-After, if any.
 */
export type Rpc = (requests: readonly RpcRequest[], options?: RpcOptions) => Promise<RpcOutcome[]>

/**
 * Options of RPC calls. `mostBytes`: maximum bytes of a response, 32 MiB by default. A larger response becomes the
 * refusal `results` for a request for events, and `unserved` for other calls.
 */
export type RpcOptions = { readonly mostBytes?: number }
