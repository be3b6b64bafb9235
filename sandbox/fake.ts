import type { IncomingHttpHeaders } from 'node:http'

/** HTTP request to the fake of an outside service. `body` is the raw text. */
export type ProviderRequest = {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** HTTP reply of a fake service. A string `body` is sent unchanged, any other value as JSON. */
export type ProviderReply = {
  readonly status: number
  readonly body: unknown
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * Request handler of one fake service. It returns undefined for a request to another service. The reply 'hang up' closes the connection.
 */
export type RequestHandler = (request: ProviderRequest) => Promise<ProviderReply | 'hang up' | undefined>

type Rewrite = (
  reply: ProviderReply,
  request: ProviderRequest,
) => ProviderReply | 'hang up' | Promise<ProviderReply | 'hang up'>

/** A fake of an outside service. */
export type FakeService = {
  readonly answer: RequestHandler
  /** Paths with queries of the last 1,000 requests, the newest last. They lack the fake's path prefix, such as `/coingecko`. */
  readonly requests: string[]
  /** Function that replaces, delays or drops replies, to simulate failures; undefined for correct replies. */
  rewrite: Rewrite | undefined
}

/** Request to a fake service. `parts` are the URL-decoded segments of the path after the fake's path prefix. */
export type FakeRequest = Pick<ProviderRequest, 'headers' | 'body'> & {
  readonly parts: readonly string[]
  readonly query: URLSearchParams
}

const REMEMBERED_REQUESTS = 1_000

/** Creates a fake service that serves all requests below a path prefix, such as `/coingecko`. `answerTo` returns the correct replies. */
export function createFakeService(
  prefix: string,
  answerTo: (question: FakeRequest) => ProviderReply | Promise<ProviderReply>,
): FakeService {
  const service: FakeService = {
    requests: [],
    rewrite: undefined,
    async answer(request) {
      const { pathname, search, searchParams } = request.url
      if (pathname !== prefix && !pathname.startsWith(`${prefix}/`)) return undefined
      const path = pathname.slice(prefix.length)
      service.requests.push(`${path}${search}`)
      service.requests.splice(0, service.requests.length - REMEMBERED_REQUESTS)
      const parts = path.slice(1).split('/').map(decodeURIComponent)
      const { headers, body } = request
      const reply = await answerTo({ parts, query: searchParams, headers, body })
      return service.rewrite ? await service.rewrite(reply, request) : reply
    },
  }
  return service
}
