import { verifyRefundClaim } from './bridge-calls.ts'
import { type PinnedVault, type Preparation, type Step, type TrustedFacts, verifyPattern } from './patterns.ts'
import { type Reason, Refusal, refuseUnless } from './refusal.ts'
import { contentDigest, type Exchange, type PublicKey, type SignatureDetails, verifySignature } from './signature.ts'
import type { Witness, Witnessed } from './witness.ts'

export type { PinnedVault, Preparation, Step, TrustedFacts as Known } from './patterns.ts'
export type { Exchange, PublicKey, SignatureDetails as Signed } from './signature.ts'
export type { Witness, Witnessed } from './witness.ts'

/** Facts that a caller trusts more than any response of the service. */
export type Trust = TrustedFacts & {
  /**
   * Public keys that may sign responses. Get them from the operator: keys fetched from the service's own host prove no more than TLS does.
   */
  readonly keys: readonly PublicKey[]
  /** Checks transactions at the caller's own node: `createWitness` of `@vaultline/client/witness`. */
  readonly witness?: Witness | undefined
}

/** Outcome of a verification: the transactions' effects in sending order, or the reason of a refusal. */
export type Verdict<Extra = unknown> =
  | ({ readonly ok: true; readonly steps: readonly Step[] } & Extra)
  | { readonly ok: false; readonly reason: Reason; readonly message: string }

/** Signing keys of the production host; empty until there is one. */
export const PINNED_KEYS: readonly PublicKey[] = []

/** Paths of market data. Its responses are public and cacheable, so they are not signed. */
const MARKETS = /\/portfolio-indexor\/(markets|token)\b/
/** Paths of the service's own public documents, whose responses are not signed either. A parameter of another path never counts. */
const OWN_DOCUMENTS =
  /^(?!.*\/(?:auth|defi-vaults|portfolio-indexor|webhooks)\/).*\/(health$|openapi\.json$|\.well-known\/)/
/**
 * Paths of the operations whose response has transactions. Only the path's end is compared, because the service may be mounted under
 * another path.
 */
const PREPARATION = /\/defi-vaults\/v1\/defi\/(?:vault\/(deposit|withdraw|claim|cancel)|(rewards)\/claim)$/

/**
 * Verifies one response: its signature, and that its transactions match exactly the one known pattern for the request. With a `witness`,
 * the caller's own node must confirm them too. `now` is the caller's clock, or null for a saved response. Never throws.
 */
export async function verifyAnswer(
  exchange: Exchange,
  { keys, witness, ...facts }: Trust,
  now: Date | null = new Date(),
): Promise<Verdict<SignatureDetails & { readonly witnessed?: Witnessed }>> {
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
    const steps = verifyPattern(preparation, input, answer, facts)
    const witnessed = await witness?.({ preparation, input, answer, steps })
    return { ok: true, steps, ...signed, ...(witnessed && { witnessed }) }
  } catch (error) {
    return refusalOf(error)
  }
}

/**
 * Verifies only the transactions of a response, not its signature: they must match exactly the one known pattern for the input. Never
 * throws.
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
 * Returns a `fetch` for a client that verifies responses before it returns them. It throws an UnverifiedAnswer for a refused response.
 * Errors of the service and its public documents are not signed, and pass unchecked. Market data is not signed either, and passes if it
 * contains no transactions.
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

/** Returns true if a request is for market data, whose responses are not signed. */
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

/** Error for a refused response: neither sign nor show any of it. */
export class UnverifiedAnswer extends Error {
  readonly reason: Reason
  /** Id of the request, for the service's operator. The id comes from the refused response, so nothing proves it. */
  readonly requestId: string | undefined
  constructor(reason: Reason, message: string, requestId?: string) {
    super(message)
    this.name = 'UnverifiedAnswer'
    this.reason = reason
    this.requestId = requestId
  }
}

/** Returns the kind of operation of a request whose response has transactions; undefined for any other request. */
export function preparationOf({
  method,
  url,
}: {
  readonly method: string
  readonly url: string
}): Preparation | undefined {
  const [, ofVault, rewards] = PREPARATION.exec(new URL(url).pathname) ?? []
  // The cast is safe because the regular expression matches only the names of this type.
  return method === 'POST' ? ((ofVault ?? rewards) as Preparation | undefined) : undefined
}

/** Throws a Refusal if a response that should have no transactions has a field with transactions, at any depth. */
function demandNoTransactions(text: string): void {
  // The JSON is parsed and written again, because a field name could be hidden by escaped characters.
  const answer = /^\s*[{[]/.test(text) ? JSON.stringify(JSON.parse(text)) : ''
  refuseUnless(!/"(operations|approval|calls)":/.test(answer), 'there are transactions that were not requested')
}

/**
 * Verifies the refund claims in a transfer's status. Each must be for the account that the request names, or else for the transfer's
 * depositor.
 */
function verifyRefundClaims(url: string, text: string): void {
  const answer: PossibleStatus = /^\s*\{/.test(text) ? JSON.parse(text) : {}
  const user = new URL(url).searchParams.get('userAddress')
  for (const { depositor, refund } of [answer, ...(answer.transfers ?? [])]) {
    if (!refund?.claim) continue
    const { to, data, value, chainId } = refund.claim
    refuseUnless(chainId === refund.chainId, 'the claim of the refund is on another chain')
    const owner = { user: user ?? depositor, token: refund.token, chainId }
    verifyRefundClaim({ to, data: data.slice(2).toLowerCase(), value: BigInt(value) }, owner)
  }
}

type PossibleStatus = Status & { readonly transfers?: readonly Status[] }
type Claim = { readonly chainId: number; readonly to: string; readonly data: string; readonly value: string }
type Status = {
  readonly depositor: string
  readonly refund?: { readonly chainId: number; readonly token: string; readonly claim?: Claim | null } | null
}

function refusalOf(error: unknown): { ok: false; reason: Reason; message: string } {
  if (error instanceof Refusal) return { ok: false, reason: error.reason, message: error.message }
  return { ok: false, reason: 'malformed', message: 'The request or the answer is malformed.' }
}
