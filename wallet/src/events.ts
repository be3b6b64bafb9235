import type { WebhookEvent } from '@vaultline/client'
import type { ReportedSteps } from './activity.ts'

/** Delivery of a webhook event, as the sandbox's receiver lists it. */
export type WebhookDelivery = {
  readonly number: number
  readonly receivedAt: string
  readonly id: string
  readonly attempt: number
  readonly isVerified: boolean
  /** True if the signature is valid and the event was not received before. */
  readonly isTaken: boolean
  readonly status: number | null
  readonly delayMs: number | null
  /** Event in the body; null if the body is no event. Its type may be unknown to this wallet, such as that of a test event. */
  readonly event: WebhookEvent | null
}

/** User's accounts, and the source transactions of the user's transfers between chains. */
export type Owner = { readonly accounts: ReadonlySet<string>; readonly transfers: ReadonlySet<string> }

/** Returns true if an event is about this user's money. */
export function isEventOfOwner({ data }: WebhookEvent, { accounts, transfers }: Owner): boolean {
  if ('transactions' in data && transfers.has(data.transactions.source)) return true
  return 'userAddress' in data && data.userAddress !== null && accounts.has(data.userAddress)
}

const STEPS = ['claimable', 'completed', 'cancelled'] as const

/**
 * Returns the time and transaction of each step that webhook events report, by the id of the deposit or withdrawal. Events that a chain
 * reorganisation undid are left out.
 */
export function listReported(arrivals: readonly WebhookDelivery[]): ReadonlyMap<string, ReportedSteps> {
  const taken = arrivals.flatMap(({ isTaken, event }) => (isTaken && event ? [event] : []))
  const undone = new Set(taken.flatMap(({ data }) => ('eventId' in data ? [data.eventId] : [])))
  const reported = new Map<string, ReportedSteps>()
  for (const { id, type, timestamp: at, data } of taken.toSorted((left, right) => left.sequence - right.sequence)) {
    const step = STEPS.find((one) => type.endsWith(`.${one}`))
    if (!step || undone.has(id) || !('entry' in data) || 'eventId' in data) continue
    const request = 'depositId' in data ? data.depositId : data.withdrawalId
    const hash = data.transactionHash ?? undefined
    if (request !== null) reported.set(request, { ...reported.get(request), [step]: { at, hash } })
  }
  return reported
}
