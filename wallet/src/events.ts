import type { WebhookEvent } from '@vaultline/client'
import { formatDuration } from './format.ts'

/** A delivery of an event, as the sandbox's receiver lists it. */
export type Arrival = {
  readonly number: number
  readonly receivedAt: string
  readonly id: string
  readonly attempt: number
  readonly isVerified: boolean
  /** Whether it is new: verified, and taken for the first time. */
  readonly isTaken: boolean
  /** With what it was answered; null where it was not. */
  readonly status: number | null
  readonly delayMs: number | null
  /** Null for what is no event; its type may be one that this wallet does not know, such as that of a test. */
  readonly event: WebhookEvent | null
}

/** Something that has happened to a user, in the user's words. */
export type News = {
  readonly id: string
  readonly text: string
  /** Whether a reorganisation of the chain can still undo it, or has. */
  readonly state: 'final' | 'may change' | 'undone'
  readonly timestamp: string
  readonly chainId: number
  readonly vaultAddress: `0x${string}`
}

/** Whose news: these accounts', and those of these transfers, by the hashes of their first transactions. */
export type Owner = { readonly accounts: ReadonlySet<string>; readonly transfers: ReadonlySet<string> }

const TEXTS: Readonly<Record<string, (vault: string) => string>> = {
  'deposit.pending': (vault) => `Your deposit into ${vault} waits for its settlement`,
  'deposit.claimable': (vault) => `Your deposit into ${vault} can be claimed`,
  'deposit.completed': (vault) => `Your deposit into ${vault} is done: the shares are yours`,
  'deposit.cancelled': (vault) => `Your deposit into ${vault} was taken back`,
  'withdrawal.pending': (vault) => `Your withdrawal from ${vault} waits for its settlement`,
  'withdrawal.claimable': (vault) => `Your withdrawal from ${vault} can be claimed`,
  'withdrawal.completed': (vault) => `Your withdrawal from ${vault} was paid`,
  'withdrawal.cancelled': (vault) => `Your withdrawal from ${vault} was taken back`,
  'transfer.completed': (vault) => `What you sent between chains for ${vault} has arrived`,
  'transfer.failed': (vault) => `What you sent between chains for ${vault} did not get there`,
  'transfer.refunded': (vault) => `What you sent between chains for ${vault} was paid back`,
}

/** Whether an event is about this user's money. */
export function isAbout({ data }: WebhookEvent, { accounts, transfers }: Owner): boolean {
  if ('transactions' in data && transfers.has(data.transactions.source)) return true
  return 'userAddress' in data && data.userAddress !== null && accounts.has(data.userAddress)
}

/**
 * A user's news, the newest first: what was told before it was final and again when it was is one, and what a reorganisation
 * has undone says so. `vaultName` is undefined where the wallet does not know the vault.
 */
export function listNews(
  arrivals: readonly Arrival[],
  owner: Owner,
  vaultName: (chainId: number, address: string) => string | undefined,
): readonly News[] {
  const taken = arrivals.flatMap(({ isTaken, event }) => (isTaken && event ? [event] : []))
  const undone = new Set(taken.flatMap(({ data }) => ('eventId' in data ? [data.eventId] : [])))
  const news = new Map<string, News>()
  const known = taken.filter((event) => TEXTS[event.type] !== undefined && isAbout(event, owner))
  for (const event of known.toSorted((left, right) => left.sequence - right.sequence)) {
    const { id, type, timestamp, final, data } = event
    const { chainId, vaultAddress } = data
    const settlement = 'estimatedSettlement' in data ? data.estimatedSettlement : null
    const text = TEXTS[type]?.(vaultName(chainId, vaultAddress) ?? 'a vault') ?? type
    news.set(keyOf(event), {
      id,
      text: settlement ? `${text}, mostly within ${formatDuration(settlement.p90 * 1000)}` : text,
      state: undone.has(id) ? 'undone' : final ? 'final' : 'may change',
      ...{ timestamp, chainId, vaultAddress },
    })
  }
  return [...news.values()].toReversed()
}

/** What happened, whether it was final when it was told or not. */
function keyOf({ type, data }: WebhookEvent): string {
  const { chainId, vaultAddress } = data
  const place = [type, chainId, vaultAddress]
  if ('transactions' in data) return [...place, data.transactions.source].join(' ')
  if (!('userAddress' in data)) return place.join(' ')
  const ids = 'depositIds' in data ? data.depositIds : data.withdrawalIds
  return [...place, data.userAddress, data.transactionHash, ...ids].join(' ')
}
