import type { Provider, ProviderReply, ProviderRequest, Rewrite } from './provider.ts'

/** The local stand-in for a service that only answers questions. */
export type StandIn = {
  readonly answer: Provider
  /** The paths that it was asked, with their queries and without the prefix: the last thousand, newest last. */
  readonly requests: string[]
  /** Rewrites each answer before it leaves, so that the service lies, fails, dawdles or hangs up. */
  rewrite: Rewrite | undefined
}

/** A question to a stand-in: the parts of its path behind the prefix, decoded, its query, and its body as text. */
export type Question = {
  readonly parts: readonly string[]
  readonly query: URLSearchParams
  readonly headers: ProviderRequest['headers']
  readonly body: string
}

const REMEMBERED_REQUESTS = 1_000

/** A stand-in for the requests below a path prefix, such as `/coingecko`. */
export function standIn(
  prefix: string,
  answerTo: (question: Question) => ProviderReply | Promise<ProviderReply>,
): StandIn {
  const service: StandIn = {
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
