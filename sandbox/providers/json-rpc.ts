import type { ProviderReply } from '../fake.ts'

/** A call as it arrives; `params` are a list, or by their names. */
export type JsonRpcCall = { readonly method: string; readonly params: unknown }

type Envelope = JsonRpcCall & { readonly id: unknown }

/** The reply to a call or a batch of calls in JSON-RPC 2.0; a call that `resultOf` gives no result is one of an unknown method. */
export function jsonRpcReply(body: string, resultOf: (call: JsonRpcCall) => unknown): ProviderReply {
  const received: Envelope | Envelope[] = JSON.parse(body || '{}')
  const answer = ({ id = null, method, params }: Envelope) => {
    const result = resultOf({ method, params })
    const error = { code: -32601, message: `The method ${method} does not exist (made up)` }
    return { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }
  }
  return { status: 200, body: Array.isArray(received) ? received.map(answer) : answer(received) }
}
