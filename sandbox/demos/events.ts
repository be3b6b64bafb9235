import { setTimeout as sleep } from 'node:timers/promises'
import { formatUnits, type Hex } from 'viem'
import { WebhookEvent } from '../../lib/webhooks/event.ts'
import { sendHttpRequest } from '../exchange.ts'
import type { ReceivedDelivery } from '../receiver.ts'
import type { LocalState } from '../state.ts'

const PAUSE_MS = 250
const PATIENCE_MS = 8_000

/** Prints the webhook deliveries that the receiver gets, until the process ends. */
export async function playEvents(state: LocalState, say: (text: string) => void): Promise<void> {
  const { url, receivedUrl } = state.webhook
  say(`Printing webhook events that arrive at ${url}; Ctrl-C ends this …`)
  await followArrivals(receivedUrl, (arrival) => say(describeArrival(state, arrival)))
}

type EventsOfUser = {
  /** Makes `waitForExpected` wait for a webhook event that names this transaction. */
  expect(hash: Hex): void
  /** Resolves when all expected events have arrived, or after 8 seconds. */
  waitForExpected(): Promise<void>
  end(): Promise<void>
}

/** Prints new webhook events about this user, including events that other accounts cause, such as settlements. */
export async function printEvents(state: LocalState, user: Hex, say: (text: string) => void): Promise<EventsOfUser> {
  const { receivedUrl } = state.webhook
  const sent = new Set<string>()
  const unreported = new Set<string>()
  const ending = new AbortController()
  const since = (await listArrivals(receivedUrl)).at(-1)?.number ?? 0
  const report = (arrival: ReceivedDelivery) => {
    const text = JSON.stringify(arrival.event).toLowerCase()
    const named = [...sent].filter((hash) => text.includes(hash))
    // Final events are left out, because they may concern a transaction of an earlier demo.
    const isNew = text.includes(user.toLowerCase()) && arrival.event?.['final'] === false
    if (!arrival.isTaken || !(isNew || named.length > 0)) return
    for (const hash of named) unreported.delete(hash)
    say(describeArrival(state, arrival))
  }
  const followed = followArrivals(receivedUrl, report, { since, signal: ending.signal }).catch(() =>
    say('The webhook receiver does not respond.'),
  )
  return {
    expect(hash) {
      sent.add(hash)
      unreported.add(hash)
    },
    async waitForExpected() {
      for (const start = Date.now(); unreported.size > 0 && Date.now() - start < PATIENCE_MS; ) await sleep(PAUSE_MS)
    },
    async end() {
      ending.abort()
      await followed
    },
  }
}

async function followArrivals(
  receivedUrl: string,
  report: (arrival: ReceivedDelivery) => void,
  { since = 0, signal }: { readonly since?: number; readonly signal?: AbortSignal } = {},
): Promise<void> {
  for (let after = since; !signal?.aborted; await sleep(PAUSE_MS)) {
    for (const arrival of await listArrivals(receivedUrl, after)) {
      report(arrival)
      after = arrival.number
    }
  }
}

async function listArrivals(receivedUrl: string, after = 0): Promise<readonly ReceivedDelivery[]> {
  const { text } = await sendHttpRequest(`${receivedUrl}?after=${after}`, { method: 'GET' })
  return JSON.parse(text).received
}

function describeArrival(
  state: LocalState,
  { event, delayMs, attempt, status, isVerified, isTaken }: ReceivedDelivery,
): string {
  const notes = [
    ...(delayMs === null ? [] : [`${(delayMs / 1000).toFixed(1)} s after it happened`]),
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
    ...(isVerified ? [] : ['wrong signature']),
    ...(status === null ? ['no response'] : isTaken ? [] : [`response ${status}`]),
  ]
  return `Event ${event ? describeEvent(state, event) : 'of unknown form'}, ${notes.join(', ')}`
}

function describeEvent({ vaults, tokens }: LocalState, event: NonNullable<ReceivedDelivery['event']>): string {
  const { success, data: parsedEvent } = WebhookEvent.safeParse(event)
  // Parsing fails for a test delivery, and for an event type that this version does not know.
  if (!success) return event.type
  const { type, final, data } = parsedEvent
  const contract = 'vaultAddress' in data ? data.vaultAddress : data.token
  const vault = vaults.find(({ chainId, address }) => chainId === data.chainId && address === contract)
  const token = tokens.find(({ chainId, address }) => chainId === vault?.chainId && address === vault.asset)
  const assets =
    token && 'assets' in data && data.assets !== null
      ? `${formatUnits(data.assets, token.decimals)} ${token.symbol}, `
      : ''
  return `${type} (${final ? 'final' : 'not final yet'}): ${assets}${vault?.name ?? contract}`
}
