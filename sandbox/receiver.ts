import type { IncomingMessage, ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import * as z from 'zod'
import { listen } from './listen.ts'
import { readBody } from './read-body.ts'

/** Webhook delivery that the receiver got, and the receiver's response. */
export type ReceivedDelivery = {
  /** Number of this delivery in the order of arrival, from 1. */
  readonly number: number
  readonly receivedAt: string
  /** Header `webhook-id`, which is the event's id. */
  readonly id: string
  /** Number of deliveries with this `webhook-id` so far, including this delivery. */
  readonly attempt: number
  /** True if the Standard Webhooks library verifies the signature. */
  readonly isVerified: boolean
  /** True for the first delivery of an event that the receiver verified and acknowledged. Later deliveries are duplicates. */
  readonly isTaken: boolean
  /** HTTP status of the response; null if the receiver sent no response. */
  readonly status: number | null
  /**
   * Milliseconds between the event (by the chain's clock) and its arrival (by the local clock). Null for an invalid event; 0 if the chain's
   * clock is ahead.
   */
  readonly delayMs: number | null
  /** Parsed event; null if the body is not a valid event. */
  readonly event: z.output<typeof Body> | null
}

type Behaviour = keyof typeof STATUSES

/** Webhook receiver, which plays the back end of a wallet. */
export type Receiver = {
  readonly url: string
  /** Makes the receiver accept deliveries that are signed with this secret. */
  trust(secret: string): void
  /** Sets the receiver's behaviour for this number of seconds. Afterwards the receiver acknowledges deliveries again. */
  behave(behaviour: Behaviour, seconds: number): void
  behaviour(): Behaviour
  /** Returns the deliveries with a number above `after`, at most the last 300. */
  listArrivals(after: number): readonly ReceivedDelivery[]
  stop(): Promise<void>
}

/** HTTP status for each behaviour; null for no response. */
const STATUSES = { acknowledge: 204, refuse: 503, gone: 410, hang: null } as const
const MAX_ARRIVALS = 300
const MAX_BODY_BYTES = 64 * 1024
const PATH = '/webhooks'

const Body = z.looseObject({ id: z.string(), type: z.string(), timestamp: z.iso.datetime() })

/**
 * Starts a webhook receiver on a free local port, built as docs/guides/webhooks.md advises. It verifies the signature of the received
 * bytes, ignores duplicates, and responds immediately.
 */
export async function startReceiver(now: () => number): Promise<Receiver> {
  let arrivals: readonly ReceivedDelivery[] = []
  let verifier: Webhook | undefined
  let behaviourUntil: { readonly behaviour: Behaviour; readonly until: number } = { behaviour: 'acknowledge', until: 0 }

  const currentBehaviour = () => (now() < behaviourUntil.until ? behaviourUntil.behaviour : 'acknowledge')

  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'POST' || request.url !== PATH) return response.writeHead(404).end()
    const body = await readBody(request, MAX_BODY_BYTES)
    if (!body) return response.writeHead(413).end()
    const isVerified = verify(verifier, body, request.headers)
    const behaviour = currentBehaviour()
    // A delivery with a wrong signature gets 401 even while the receiver acknowledges others.
    const status = behaviour === 'acknowledge' && !isVerified ? 401 : STATUSES[behaviour]
    const id = String(request.headers['webhook-id'] ?? '')
    const before = arrivals.filter((arrival) => arrival.id === id)
    const event = parseEvent(body)
    const receivedAt = now()
    const arrival: ReceivedDelivery = {
      number: (arrivals.at(-1)?.number ?? 0) + 1,
      receivedAt: new Date(receivedAt).toISOString(),
      id,
      attempt: before.length + 1,
      isVerified,
      isTaken: isVerified && status === STATUSES.acknowledge && !before.some(({ isTaken }) => isTaken),
      status,
      delayMs: event && Math.max(0, receivedAt - Date.parse(event.timestamp)),
      event,
    }
    arrivals = [...arrivals, arrival].slice(-MAX_ARRIVALS)
    if (status !== null) response.writeHead(status).end()
    return response
  }

  const { url, stop } = await listen((request, response) => {
    receive(request, response).catch(() => response.destroy())
  })
  return {
    url: `${url}${PATH}`,
    trust(secret) {
      verifier = new Webhook(secret)
    },
    behave(behaviour, seconds) {
      behaviourUntil = { behaviour, until: now() + seconds * 1000 }
    },
    behaviour: currentBehaviour,
    listArrivals: (after) => arrivals.filter(({ number }) => number > after),
    stop,
  }
}

function verify(verifier: Webhook | undefined, body: Buffer, headers: IncomingMessage['headers']): boolean {
  const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
  try {
    verifier?.verify(body, texts, { jsonParse: false })
    return verifier !== undefined
  } catch {
    return false
  }
}

function parseEvent(body: Buffer): ReceivedDelivery['event'] {
  try {
    return Body.parse(JSON.parse(body.toString()))
  } catch {
    return null
  }
}
