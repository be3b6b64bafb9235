import type { IncomingHttpHeaders } from 'node:http'

/** A request to a fake; `body` is the text as sent. */
export type ProviderRequest = {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A fake's reply: `body` is sent as JSON, a string unchanged. */
export type ProviderReply = {
  readonly status: number
  readonly body: unknown
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Returns undefined for requests to another fake. */
export type Provider = (request: ProviderRequest) => Promise<ProviderReply | 'hang up' | undefined>

type Rewrite = (
  reply: ProviderReply,
  request: ProviderRequest,
) => ProviderReply | 'hang up' | Promise<ProviderReply | 'hang up'>

/** A fake of an outside service. */
export type FakeService = {
  readonly answer: Provider
  /** The last thousand paths with queries, without the prefix, newest last. */
  readonly requests: string[]
  /** Simulates wrong, failed, late or missing replies. */
  rewrite: Rewrite | undefined
}

/** A request to a fake: decoded path after the prefix, query and body. */
export type Question = Pick<ProviderRequest, 'headers' | 'body'> & {
  readonly parts: readonly string[]
  readonly query: URLSearchParams
}

const REMEMBERED_REQUESTS = 1_000

/** Returns a fake below a path prefix, such as `/coingecko`. */
export function fake(
  prefix: string,
  answerTo: (question: Question) => ProviderReply | Promise<ProviderReply>,
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
