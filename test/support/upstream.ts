import type { ErrorCode } from '../../lib/core/errors.ts'
import { createUpstream, type Upstream } from '../../lib/core/http.ts'
import type { Payment } from '../../lib/meter/meter.ts'

/** Request budget that is never exhausted. */
export const UNLIMITED_BUDGET: Payment = { pay: async () => {}, findRefusal: () => undefined }

/** Response of an external HTTP service. `body` is sent as JSON, or unchanged if it is text. */
export type FakeReply = {
  readonly status?: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Failing responses of an external HTTP service, each with the error code that the service returns for it. */
export const UPSTREAM_FAILURES: readonly (readonly [string, FakeReply, ErrorCode])[] = [
  ['429', { status: 429, body: 'Too Many Requests' }, 'upstream_unavailable'],
  ['500', { status: 500, body: 'Internal Server Error' }, 'upstream_unavailable'],
  ['503 with HTML', { status: 503, body: '<html></html>' }, 'upstream_unavailable'],
  ['HTML', { body: '<html><body>Welcome</body></html>' }, 'upstream_bad_answer'],
  ['JSON that is cut off', { body: '{"data":{"items":[{"contract_na' }, 'upstream_bad_answer'],
  ['another shape', { body: { items: [] } }, 'upstream_bad_answer'],
  ['null', { body: null }, 'upstream_bad_answer'],
  ['400', { status: 400, body: { error: true } }, 'upstream_bad_answer'],
]

/** Creates a fake external service that returns these responses. `urls` and `requests` record the requests that it receives. */
export function createFakeUpstream(
  reply: (url: URL) => FakeReply,
  headers: Readonly<Record<string, string>> = {},
): { readonly ask: Upstream; readonly urls: URL[]; readonly requests: RequestInit[] } {
  const urls: URL[] = []
  const requests: RequestInit[] = []
  const fetch: typeof globalThis.fetch = async (input, init = {}) => {
    const url = new URL(input.toString())
    urls.push(url)
    requests.push(init)
    const { status = 200, body, headers = {} } = reply(url)
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers })
  }
  const options = { name: 'some service', url: 'https://service.example/api', headers }
  return { ask: createUpstream(options, { fetch, random: () => 0, now: () => performance.now() }), urls, requests }
}
