import type { IncomingHttpHeaders } from 'node:http'

/** A request to one of the local providers; `body` is what was sent, as text. */
export type ProviderRequest = {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What a provider answers: `body` goes out as JSON, or as it is when it is text. */
export type ProviderReply = {
  readonly status: number
  readonly body: unknown
  readonly contentType?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Answers in a service's stead; undefined for requests that are not for it. */
export type Provider = (request: ProviderRequest) => Promise<ProviderReply | 'hang up' | undefined>

/** What becomes of a provider's answer before it leaves. */
type Rewrite = (
  reply: ProviderReply,
  request: ProviderRequest,
) => ProviderReply | 'hang up' | Promise<ProviderReply | 'hang up'>

/** The local fake for a service that only answers questions. */
export type Fake = {
  readonly answer: Provider
  /** The paths that it was asked, with their queries and without the prefix: the last thousand, newest last. */
  readonly requests: string[]
  /** Rewrites each answer before it leaves, so that the service lies, fails, dawdles or hangs up. */
  rewrite: Rewrite | undefined
}

/** A question to a fake: the parts of its path behind the prefix, decoded, its query, and its body as text. */
export type Question = Pick<ProviderRequest, 'headers' | 'body'> & {
  readonly parts: readonly string[]
  readonly query: URLSearchParams
}

const REMEMBERED_REQUESTS = 1_000

/** A fake for the requests below a path prefix, such as `/coingecko`. */
export function fake(prefix: string, answerTo: (question: Question) => ProviderReply | Promise<ProviderReply>): Fake {
  const service: Fake = {
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
