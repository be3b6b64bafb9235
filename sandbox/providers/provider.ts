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

/** A stand-in for a service outside; undefined for requests that are not for it. */
export type Provider = (request: ProviderRequest) => Promise<ProviderReply | 'hang up' | undefined>

/** What becomes of a provider's answer before it leaves. */
export type Rewrite = (
  reply: ProviderReply,
  request: ProviderRequest,
) => ProviderReply | 'hang up' | Promise<ProviderReply | 'hang up'>
