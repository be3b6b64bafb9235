import { createUpstream, type Upstream, type UpstreamOptions } from '../../lib/upstream.ts'

/** What a service says: an object is its JSON, text is sent as it is. */
export type Said = { readonly status?: number; readonly body: unknown; readonly headers?: Record<string, string> }

/** A service that always says the same, and what it was asked. */
export function serviceThat(said: Said, options: Partial<UpstreamOptions> = {}) {
  const requests: { url: string; method: string; headers: Headers; body: unknown }[] = []
  const answering: typeof fetch = async (url, { method = 'GET', headers, body } = {}) => {
    const sent = body === undefined ? undefined : JSON.parse(String(body))
    requests.push({ url: String(url), method, headers: new Headers(headers), body: sent })
    const { status = 200, headers: replied = {} } = said
    const text = typeof said.body === 'string' ? said.body : JSON.stringify(said.body)
    return new Response(text, { status, headers: replied })
  }
  const ask: Upstream = createUpstream(
    { name: 'Service', url: 'https://service.example/v1', ...options },
    { fetch: answering, random: () => 0, now: () => 0 },
  )
  return { ask, requests }
}

/** What services say when they fail, and the error that it is. */
export const UPSTREAM_FAILURES: readonly (readonly [string, Said, string])[] = [
  ['429', { status: 429, body: 'Too Many Requests' }, 'upstream_unavailable'],
  ['500', { status: 500, body: 'Internal Server Error' }, 'upstream_unavailable'],
  ['503 with HTML', { status: 503, body: '<html></html>' }, 'upstream_unavailable'],
  ['HTML', { body: '<html><body>Welcome</body></html>' }, 'upstream_bad_answer'],
  ['JSON that is cut off', { body: '{"data":{"items":[{"contract_na' }, 'upstream_bad_answer'],
  ['another shape', { body: { items: [] } }, 'upstream_bad_answer'],
  ['null', { body: null }, 'upstream_bad_answer'],
  ['400', { status: 400, body: { error: true } }, 'upstream_bad_answer'],
]
