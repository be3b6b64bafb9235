import type { ProviderReply } from '../fake.ts'

/** JSON-RPC call that a fake node received. `params` is an array or an object. */
export type JsonRpcCall = { readonly method: string; readonly params: unknown }

type Envelope = JsonRpcCall & { readonly id: unknown }

/** Returns the reply to a JSON-RPC 2.0 call or batch. A method is unknown if `resultOf` returns undefined. */
export function jsonRpcReply(body: string, resultOf: (call: JsonRpcCall) => unknown): ProviderReply {
  const received: Envelope | Envelope[] = JSON.parse(body || '{}')
  const answer = ({ id = null, method, params }: Envelope) => {
    const result = resultOf({ method, params })
    const error = { code: -32601, message: `The method ${method} does not exist (made up)` }
    return { jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }
  }
  return { status: 200, body: Array.isArray(received) ? received.map(answer) : answer(received) }
}
