import type { WebhookEvent } from '@vaultline/client'
import type { Reported } from './activity.ts'

/** A delivery of an event, as the sandbox's receiver lists it. */
export type Arrival = {
  readonly number: number
  readonly receivedAt: string
  readonly id: string
  readonly attempt: number
  readonly isVerified: boolean
  /** True if it is verified and received for the first time. */
  readonly isTaken: boolean
  /** With what it was answered; null where it was not. */
  readonly status: number | null
  readonly delayMs: number | null
  /** Null for what is no event; its type may be one that this wallet does not know, such as that of a test. */
  readonly event: WebhookEvent | null
}

/** The user's accounts, and the first transactions of the user's transfers. */
export type Owner = { readonly accounts: ReadonlySet<string>; readonly transfers: ReadonlySet<string> }

/** True if an event is about this user's money. */
export function isAbout({ data }: WebhookEvent, { accounts, transfers }: Owner): boolean {
  if ('transactions' in data && transfers.has(data.transactions.source)) return true
  return 'userAddress' in data && data.userAddress !== null && accounts.has(data.userAddress)
}

const STEPS = ['claimable', 'completed', 'cancelled'] as const

/** Time and transaction of the steps of each deposit and withdrawal, by its id; events that a reorganisation undid are left out. */
export function listReported(arrivals: readonly Arrival[]): ReadonlyMap<string, Reported> {
  const taken = arrivals.flatMap(({ isTaken, event }) => (isTaken && event ? [event] : []))
  const undone = new Set(taken.flatMap(({ data }) => ('eventId' in data ? [data.eventId] : [])))
  const reported = new Map<string, Reported>()
  for (const { id, type, timestamp: at, data } of taken.toSorted((left, right) => left.sequence - right.sequence)) {
    const step = STEPS.find((one) => type.endsWith(`.${one}`))
    if (!step || undone.has(id) || !('entry' in data) || 'eventId' in data) continue
    const request = 'depositId' in data ? data.depositId : data.withdrawalId
    const hash = data.transactionHash ?? undefined
    if (request !== null) reported.set(request, { ...reported.get(request), [step]: { at, hash } })
  }
  return reported
}
