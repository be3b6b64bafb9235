import type { Service } from './service.ts'

/** Webhook event of any type, as a receiver gets it. */
export type ReceivedEvent = {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly sequence: number
  readonly final: boolean
  readonly data: Readonly<Record<string, unknown>>
}

/** Runs the functions that consume queues. Then returns all webhook events of an API key's client so far, in order. */
export async function listEvents(service: Service, key: string): Promise<ReceivedEvent[]> {
  await service.consume()
  const events: ReceivedEvent[] = []
  for (let isDone = false; !isDone; ) {
    const path = `/webhooks/events?limit=100&after=${events.at(-1)?.sequence ?? 0}`
    const { status, body } = await service.call('GET', path, { key })
    if (status !== 200) throw new Error(`The log is answered with ${status}.`)
    events.push(...body.events)
    isDone = body.events.length < 100
  }
  return events
}

/** Deposit or withdrawal as a webhook receiver stores it. `entry` is null after a chain reorganisation has removed it. */
type Stored = { readonly version: number; readonly entry: Readonly<Record<string, unknown>> | null }

/**
 * Returns the deposits and withdrawals, by id, that a webhook receiver stores after these events. The event with the highest
 * version wins. The last event wins among equal versions.
 */
export function applyReceivedEvents(events: readonly ReceivedEvent[]): ReadonlyMap<string, Stored> {
  const stored = new Map<string, Stored>()
  for (const { type, data } of events) {
    const id = data['depositId'] ?? data['withdrawalId']
    if (!('entry' in data) || typeof id !== 'string') continue
    const [entry, version] = [data['entry'] as Stored['entry'], Number(data['version'])]
    const isKnown = entry !== null || type.endsWith('.reverted')
    if (isKnown && version >= (stored.get(id)?.version ?? 0)) stored.set(id, { version, entry })
  }
  return stored
}

/** Returns an account's deposits and withdrawals from the API, by id. Fields that webhook events lack are removed. */
export async function listEntriesOf(
  service: Service,
  key: string,
  account: string,
): Promise<ReadonlyMap<string, Stored['entry']>> {
  const shown = new Map<string, Stored['entry']>()
  for (const what of ['deposits', 'withdrawals'] as const) {
    const { body } = await service.call('GET', `/defi-vaults/v1/defi/user/${account}/${what}?limit=100`, { key })
    for (const { vaultName: _, source: __, ...entry } of body[what]) {
      shown.set(entry.depositId ?? entry.withdrawalId, entry)
    }
  }
  return shown
}
