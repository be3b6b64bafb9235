import type { Client } from '@vaultline/client'
import type { Config } from './config.ts'
import { createStore, createStoredStore, hasFields } from './store.ts'

/** Who is logged in. */
export type Session = { readonly token: string; readonly email: string }

/** The session of this tab: it survives a reload and ends with the tab. */
export const session = createStoredStore<Session | undefined>(sessionStorage, 'vaultline.session', {
  initial: undefined,
  isValue: (kept): kept is Session => hasFields(kept, 'token', 'email'),
})

/** A request of this page and what came of it, for the developer's drawer. */
export type Exchange = {
  /** When it was asked, in ms since the page was opened. */
  readonly startedAt: number
  readonly method: string
  readonly url: string
  readonly body: string | undefined
  /** 0 where nothing came back. */
  readonly status: number
  readonly durationMs: number
  readonly requestId: string | undefined
  readonly answer: string
}

const KEPT_EXCHANGES = 40

/** The latest requests, newest first. */
export const exchanges = createStore<readonly Exchange[]>([])

/** The service, for whoever is logged in. What it prepares is verified before any page sees it. */
export function createService({ apiUrl, apiKey, signingKeys: keys }: Config): Client {
  const fetchVerified: typeof fetch = async (input, init) => {
    // Only who sends something needs the verifier.
    const { verifyingFetch } = await import('@vaultline/client/verify')
    return verifyingFetch({ keys })(input, init)
  }
  const ask: typeof fetch = (input, init) =>
    fetchAndRecord(PREPARES.test(String(input)) ? fetchVerified : fetch, input, init)
  return { url: apiUrl, key: apiKey, session: () => session.get()?.token, fetch: ask }
}

/** What answers transactions to sign. */
const PREPARES = /\/defi\/vault\/(deposit|withdraw|claim|cancel)$/

async function fetchAndRecord(ask: typeof fetch, ...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const startedAt = performance.now()
  const record = (status: number, answer: string, requestId?: string | null) => {
    const exchange: Exchange = {
      startedAt,
      method: init?.method ?? 'GET',
      url: String(input),
      body: typeof init?.body === 'string' ? init.body : undefined,
      status,
      durationMs: Math.round(performance.now() - startedAt),
      requestId: requestId ?? undefined,
      // A session opens the account to whoever reads it over the shoulder.
      answer: answer.replace(/("token":")[^"]+/, '$1…'),
    }
    exchanges.set([exchange, ...exchanges.get()].slice(0, KEPT_EXCHANGES))
  }
  try {
    const response = await ask(input, init)
    const text = await response.clone().text()
    record(response.status, text, response.headers.get('x-request-id'))
    if (response.status === 401 && text.includes('"invalid_session"')) forgetSession(init)
    return response
  } catch (error) {
    if (!init?.signal?.aborted) record(0, String(error))
    throw error
  }
}

/** Whatever asked: a session that is over is over for the whole page. A later one is not. */
function forgetSession(init: RequestInit | undefined): void {
  const asked = new Headers(init?.headers).get('authorization')
  if (asked === `Bearer ${session.get()?.token}`) session.set(undefined)
}
