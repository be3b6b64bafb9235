import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { sendHttpRequest } from '../exchange.ts'

/** Paths of requests whose responses contain transactions to sign. */
const PREPARES = /\/defi\/vault\/(deposit|withdraw|claim|cancel)$/
const MARK = 'x-sandbox-tampered'

/**
 * Imitates a man in the middle between wallet and API. Replaces the user's address in signed responses that contain transactions, so that a
 * wallet must notice the wrong signature. Returns false for all other requests.
 */
export function tamperWithResponse(request: IncomingMessage, response: ServerResponse, apiUrl: string): boolean {
  const { method, url = '/', headers } = request
  if (method !== 'POST' || !PREPARES.test(url) || MARK in headers) return false
  const pass = async () => {
    const body = await buffer(request)
    const answer = await sendHttpRequest(`${apiUrl}${url}`, { headers: { ...headers, [MARK]: '1' }, body })
    const user = /"userAddress"\s*:\s*"0x(\w{40})"/.exec(body.toString())?.[1] ?? ''
    const text = user ? answer.text.replaceAll(new RegExp(user, 'gi'), 'a'.repeat(user.length)) : answer.text
    response.writeHead(answer.status, answer.headers).end(text)
  }
  pass().catch(() => response.writeHead(502).end())
  return true
}
