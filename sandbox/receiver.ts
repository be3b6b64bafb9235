import type { IncomingMessage, ServerResponse } from 'node:http'
import { Webhook } from 'standardwebhooks'
import * as z from 'zod'
import { listen } from './listen.ts'
import { readBody } from './read-body.ts'

/** A delivery as it arrived, and what became of it. */
export type Arrival = {
  /** 1, 2, 3 and so on, in the order of arrival. */
  readonly number: number
  readonly receivedAt: string
  /** Its `webhook-id`, which is the event's. */
  readonly id: string
  /** How often this id has come, this time included. */
  readonly attempt: number
  /** Whether the signature is right, by the standard's own library. */
  readonly isVerified: boolean
  /** Whether it was taken: it is verified and was acknowledged for the first time. All else is dropped. */
  readonly isTaken: boolean
  /** With what it was answered; null where it got no answer. */
  readonly status: number | null
  /**
   * From what happened to its arrival, by the clock of the chain and that of this machine; null where it tells no time, 0
   * where the chain's clock is ahead, as once it was advanced.
   */
  readonly delayMs: number | null
  /** What it says; null for what is no event. */
  readonly event: z.output<typeof Body> | null
}

/** How the receiver can be told to answer. */
type Behaviour = keyof typeof STATUSES

/** A wallet's own back end, as far as it receives what the service tells. */
export type Receiver = {
  /** Where deliveries are sent to. */
  readonly url: string
  /** Takes from now on what is signed with this secret. */
  trust(secret: string): void
  /** Answers so for so many seconds; afterwards, and with none, it acknowledges. */
  behave(behaviour: Behaviour, seconds: number): void
  /** How it answers now. */
  behaviour(): Behaviour
  /** What has arrived after this number, at most the last 300. */
  listArrivals(after: number): readonly Arrival[]
  stop(): Promise<void>
}

/** What each behaviour answers; null is no answer at all. */
const STATUSES = { acknowledge: 204, refuse: 503, gone: 410, hang: null } as const
const KEPT_ARRIVALS = 300
const MAX_BODY_BYTES = 64 * 1024
const PATH = '/webhooks'

/** What is shown of any event, also of a type that is new. */
const Body = z.looseObject({ id: z.string(), type: z.string(), timestamp: z.iso.datetime() })

/**
 * Starts a server on a free port of this machine, which receives as the guide does (docs/guides/webhooks.md): it verifies
 * the bytes that came, drops what it has taken already, and answers at once.
 */
export async function startReceiver(now: () => number): Promise<Receiver> {
  let arrivals: readonly Arrival[] = []
  let verifier: Webhook | undefined
  let told: { readonly behaviour: Behaviour; readonly until: number } = { behaviour: 'acknowledge', until: 0 }

  const currentBehaviour = () => (now() < told.until ? told.behaviour : 'acknowledge')

  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== 'POST' || request.url !== PATH) return response.writeHead(404).end()
    const body = await readBody(request, MAX_BODY_BYTES)
    if (!body) return response.writeHead(413).end()
    const isVerified = verify(verifier, body, request.headers)
    const behaviour = currentBehaviour()
    // What somebody else has sent is refused, however it behaves.
    const status = behaviour === 'acknowledge' && !isVerified ? 401 : STATUSES[behaviour]
    const id = String(request.headers['webhook-id'] ?? '')
    const before = arrivals.filter((arrival) => arrival.id === id)
    const event = parseEvent(body)
    const receivedAt = now()
    const arrival: Arrival = {
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
    arrivals = [...arrivals, arrival].slice(-KEPT_ARRIVALS)
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
      told = { behaviour, until: now() + seconds * 1000 }
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

function parseEvent(body: Buffer): Arrival['event'] {
  try {
    return Body.parse(JSON.parse(body.toString()))
  } catch {
    return null
  }
}
