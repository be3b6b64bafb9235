import type { Client } from '@vaultline/client'
import type { Config } from './config.ts'
import { redact } from './redact.ts'
import { createStore, createStoredStore, hasFields } from './store.ts'

type Session = {
  readonly token: string
  readonly email: string
  /** WebAuthn id of the passkey with which the user logged in. */
  readonly passkey?: string | undefined
}

/** Name of the sandbox's iframe that this page runs in. Each iframe shows a prepared state and has a separate session. */
const FRAME = import.meta.env.MODE === 'sandbox' ? window.name : ''

/** Login session of this tab; it survives a reload and ends with the tab. */
export const session = createStoredStore<Session | undefined>(sessionStorage, `vaultline.session${FRAME}`, {
  initial: undefined,
  isValue: (value): value is Session => hasFields(value, 'token', 'email'),
})

/** API request of this page with its outcome, for the panel that shows requests to developers. */
export type ApiExchange = {
  /** Time of the request, in ms since the page was opened. */
  readonly startedAt: number
  readonly method: string
  readonly url: string
  readonly body: string | undefined
  /** HTTP status; 0 if there was no response. */
  readonly status: number
  readonly durationMs: number
  readonly requestId: string | undefined
  readonly answer: string
}

const MAX_EXCHANGES = 40

/** Latest API requests of this page, newest first. */
export const exchanges = createStore<readonly ApiExchange[]>([])

/** Adds an API request to `exchanges`, the list of the latest requests. */
export function recordExchange(exchange: ApiExchange): void {
  exchanges.set([exchange, ...exchanges.get()].slice(0, MAX_EXCHANGES))
}

/** Name of the BroadcastChannel that copies the wallet's API requests from its iframe to the sandbox's page of controls. */
export const EXCHANGES_CHANNEL = 'vaultline.exchanges'
const channel = import.meta.env.MODE === 'sandbox' ? new BroadcastChannel(EXCHANGES_CHANNEL) : undefined

/**
 * Creates an API client with the user's session. It verifies each response before a page sees it. `mostSent` is the maximum amount that may
 * go to another chain, in the smallest unit of the vault's asset.
 */
export function createService({ apiUrl, apiKey, signingKeys: keys }: Config, mostSent?: bigint): Client {
  const fetchVerified: typeof fetch = async (input, init) => {
    // The verifier is loaded only with the first response, so that the first page renders sooner.
    const { verifyingFetch } = await import('@vaultline/client/verify')
    return verifyingFetch({ keys, mostSent })(input, init)
  }
  return {
    url: apiUrl,
    key: apiKey,
    session: () => session.get()?.token,
    fetch: (input, init) => fetchAndRecord(fetchVerified, input, init),
  }
}

async function fetchAndRecord(ask: typeof fetch, ...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  const startedAt = performance.now()
  const record = (status: number, answer: string, requestId?: string | null) => {
    const exchange: ApiExchange = {
      startedAt,
      method: init?.method ?? 'GET',
      url: String(input),
      body: typeof init?.body === 'string' ? redact(init.body) : undefined,
      status,
      durationMs: Math.round(performance.now() - startedAt),
      requestId: requestId ?? undefined,
      answer: redact(answer),
    }
    recordExchange(exchange)
    channel?.postMessage(exchange)
  }
  try {
    const response = await ask(input, init)
    const text = await response.clone().text()
    record(response.status, text, response.headers.get('x-request-id'))
    if (response.status === 401 && text.includes('"invalid_session"')) forgetSession(init)
    return response
  } catch (error) {
    const requestId = error instanceof Error && 'requestId' in error ? String(error.requestId) : undefined
    if (!init?.signal?.aborted) record(0, String(error), requestId)
    throw error
  }
}

/**
 * Deletes the session of the whole page after the API rejected its token. If the user has logged in again meanwhile, the new session stays.
 */
function forgetSession(init: RequestInit | undefined): void {
  const authorization = new Headers(init?.headers).get('authorization')
  if (authorization === `Bearer ${session.get()?.token}`) session.set(undefined)
}
