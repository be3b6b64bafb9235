import { createUpstream, type Upstream } from '../../lib/upstream.ts'

/** What a service says: `body` is sent as JSON, or as it is when it is text. */
export type Reply = {
  readonly status?: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** An Upstream whose wire answers each URL so, and all URLs that it was asked. */
export function answering(reply: (url: URL) => Reply): { readonly ask: Upstream; readonly urls: URL[] } {
  const urls: URL[] = []
  const fetch = async (input: Parameters<typeof globalThis.fetch>[0]): Promise<Response> => {
    const url = new URL(input.toString())
    urls.push(url)
    const { status = 200, body, headers = {} } = reply(url)
    return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status, headers })
  }
  const options = { name: 'some service', url: 'https://service.example/api' }
  return { ask: createUpstream(options, { fetch, random: () => 0, now: () => performance.now() }), urls }
}
