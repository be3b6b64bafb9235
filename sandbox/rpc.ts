import { createClient, http } from 'viem'
import * as z from 'zod'
import { sendHttpRequest } from './exchange.ts'

/** One JSON-RPC call. */
export type RpcCall = { readonly method: string; readonly params: readonly unknown[] }

const Replies = z.array(
  z.object({
    id: z.number(),
    result: z.unknown().optional(),
    error: z.object({ message: z.string() }).optional(),
  }),
)

/** Returns a viem client of a chain that batches its requests and never retries. */
export const createBatchingClient = ({ rpcUrl }: { readonly rpcUrl: string }) =>
  createClient({ transport: http(rpcUrl, { batch: true, retryCount: 0 }) })

/** Sends calls to a chain in one request and returns their results in order; throws if one fails. */
export async function callRpc(chain: { readonly rpcUrl: string }, calls: readonly RpcCall[]): Promise<unknown[]> {
  if (calls.length === 0) return []
  const body = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }))
  const headers = { 'content-type': 'application/json' }
  const { text } = await sendHttpRequest(chain.rpcUrl, { headers, body: JSON.stringify(body) })
  const results: unknown[] = []
  for (const { id, result, error } of Replies.parse(JSON.parse(text))) {
    if (error) throw new Error(`${calls[id]?.method} failed: ${error.message}`)
    results[id] = result
  }
  return results
}
