import { verifyRefundClaim } from './bridge-calls.ts'
import { type Known, type PinnedVault, type Preparation, type Step, verifyPattern } from './patterns.ts'
import { demand, type Reason, Refusal } from './refusal.ts'
import { contentDigest, type Exchange, type PublicKey, type Signed, verifySignature } from './signature.ts'
import type { Witness, Witnessed } from './witness.ts'

export type { Known, PinnedVault, Preparation, Step } from './patterns.ts'
export type { Exchange, PublicKey, Signed } from './signature.ts'
export type { Witness, Witnessed } from './witness.ts'

/** What a caller trusts, whatever the service says. */
export type Trust = Known & {
  /** The keys that may sign. Those that the service's own host tells prove no more than TLS does: pin them. */
  readonly keys: readonly PublicKey[]
  /** Checks transactions at a node of the caller's own: `createWitness` of `@vaultline/client/witness`. */
  readonly witness?: Witness | undefined
}

/** What an answer is: what its transactions do, in the order in which they are sent, or why it is refused. */
export type Verdict<Extra = unknown> =
  | ({ readonly ok: true; readonly steps: readonly Step[] } & Extra)
  | { readonly ok: false; readonly reason: Reason; readonly message: string }

/** The keys of the production host that this package pins: none, before there is one. */
export const PINNED_KEYS: readonly PublicKey[] = []

/** What anybody may keep is not signed: the markets, and what the service says of itself. */
const MARKETS = /\/portfolio-indexor\/(markets|token)\b/
const OWN_DOCUMENTS = /\/(health$|openapi\.json$|\.well-known\/)/
/** The one list of what answers transactions, by the end of its path: a service may be behind another path. */
const PREPARATION = /\/defi-vaults\/v1\/defi\/(?:vault\/(deposit|withdraw|claim|cancel)|(rewards)\/claim)$/

/**
 * Verifies an answer by itself: its signature, and that its transactions are exactly those of the one known pattern for the
 * request. With a witness, its node confirms them too. `now` is the caller's clock, null for an answer that was kept. Never
 * throws.
 */
export async function verifyAnswer(
  exchange: Exchange,
  { keys, witness, ...known }: Trust,
  now: Date | null = new Date(),
): Promise<Verdict<Signed & { readonly witnessed?: Witnessed }>> {
  try {
    const signed = await verifySignature(exchange, keys, now)
    const preparation = preparationOf(exchange.request)
    const { body } = exchange.answer
    const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
    if (!preparation) {
      demandNoTransactions(text)
      verifyRefundClaims(exchange.request.url, text)
      return { ok: true, steps: [], ...signed }
    }
    const input: unknown = JSON.parse(exchange.request.body ?? '')
    const answer: unknown = JSON.parse(text)
    const steps = verifyPattern(preparation, input, answer, known)
    const witnessed = await witness?.({ preparation, input, answer, steps })
    return { ok: true, steps, ...signed, ...(witnessed && { witnessed }) }
  } catch (error) {
    return refusalOf(error)
  }
}

/**
 * Verifies the transactions alone, of an answer that came in another way: that they are exactly those of the one known
 * pattern for the input. Never throws.
 */
export function verifyTransactions(
  preparation: Preparation,
  input: unknown,
  answer: unknown,
  vaults?: readonly PinnedVault[],
  mostSent?: bigint,
): Verdict {
  try {
    return { ok: true, steps: verifyPattern(preparation, input, answer, { vaults, mostSent }) }
  } catch (error) {
    return refusalOf(error)
  }
}

/**
 * A `fetch` for a client, whose answers are verified before anybody sees them. It throws an UnverifiedAnswer where one is
 * refused. Errors of the service, and what anybody may keep, are not signed and come as they are.
 */
export function verifyingFetch(
  trust: Trust,
  fetch: typeof globalThis.fetch = globalThis.fetch,
): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const { method, url } = request
    const body = method === 'GET' || method === 'HEAD' ? '' : await request.clone().text()
    if (body !== '') request.headers.set('content-digest', await contentDigest(body))
    const response = await fetch(request)
    const bytes = new Uint8Array(await response.clone().arrayBuffer())
    const isEmpty = bytes.length === 0 && method !== 'GET' && preparationOf(request) === undefined
    if (!response.ok || isEmpty || OWN_DOCUMENTS.test(new URL(url).pathname)) return response
    const answer = { status: response.status, headers: response.headers, body: bytes }
    const exchange = { request: { method, url, ...(body !== '' && { body }) }, answer }
    const verdict = isMarketData(url) ? verifyMarketData(bytes) : await verifyAnswer(exchange, trust)
    if (verdict.ok) return response
    throw new UnverifiedAnswer(verdict.reason, verdict.message, response.headers.get('x-request-id') ?? undefined)
  }
}

/** True if a request asks for market data, which is not signed. */
export function isMarketData(url: string): boolean {
  return MARKETS.test(new URL(url).pathname)
}

function verifyMarketData(body: Uint8Array): Verdict {
  try {
    demandNoTransactions(new TextDecoder().decode(body))
    return { ok: true, steps: [] }
  } catch (error) {
    return refusalOf(error)
  }
}

/** An answer that was refused: nothing of it must be signed or shown. */
export class UnverifiedAnswer extends Error {
  readonly reason: Reason
  /** Names the request to whoever runs the service; what came tells it, and nothing proves it. */
  readonly requestId: string | undefined
  constructor(reason: Reason, message: string, requestId?: string) {
    super(message)
    this.name = 'UnverifiedAnswer'
    this.reason = reason
    this.requestId = requestId
  }
}

/** Which of the operations that answer transactions a request asks for; undefined where it asks for none. */
export function preparationOf({
  method,
  url,
}: {
  readonly method: string
  readonly url: string
}): Preparation | undefined {
  const [, ofVault, rewards] = PREPARATION.exec(new URL(url).pathname) ?? []
  // The words that the expression takes.
  return method === 'POST' ? ((ofVault ?? rewards) as Preparation | undefined) : undefined
}

/** Throws if an answer has what a wallet would send, at any depth, by its names. */
function demandNoTransactions(text: string): void {
  // Written anew, a name has only one form.
  const answer = /^\s*[{[]/.test(text) ? JSON.stringify(JSON.parse(text)) : ''
  demand(!/"(operations|approval|calls)":/.test(answer), 'there are transactions where none were asked for')
}

/** Verifies the claims of refunds in a transfer's status: each for the account of the request, or else for the depositor. */
function verifyRefundClaims(url: string, text: string): void {
  const answer: PossibleStatus = /^\s*\{/.test(text) ? JSON.parse(text) : {}
  const user = new URL(url).searchParams.get('userAddress')
  for (const { depositor, refund } of [answer, ...(answer.transfers ?? [])]) {
    if (!refund?.claim) continue
    const { to, data, value, chainId } = refund.claim
    demand(chainId === refund.chainId, 'the claim of the refund is on another chain')
    const owner = { user: user ?? depositor, token: refund.token, chainId }
    verifyRefundClaim({ to, data: data.slice(2).toLowerCase(), value: BigInt(value) }, owner)
  }
}

/** The fields of a response that may hold the claim of a refund. */
type PossibleStatus = Status & { readonly transfers?: readonly Status[] }
type Claim = { readonly chainId: number; readonly to: string; readonly data: string; readonly value: string }
type Status = {
  readonly depositor: string
  readonly refund?: { readonly chainId: number; readonly token: string; readonly claim?: Claim | null } | null
}

function refusalOf(error: unknown): { ok: false; reason: Reason; message: string } {
  if (error instanceof Refusal) return { ok: false, reason: error.reason, message: error.message }
  return { ok: false, reason: 'malformed', message: 'The request or the answer has not the form of one.' }
}
