import type { WebhookEvent } from '@vaultline/client'
import { formatAmount, formatDuration } from './format.ts'

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

/** What of a vault its news says: its name, and how amounts of its asset and of its shares are written. */
export type NamedVault = {
  readonly name: string
  readonly asset: { readonly symbol: string; readonly decimals: number }
  readonly shareDecimals: number
}

/** `of` is the amount, as ` of 25 USDC`, or nothing where it is not known; `sent` is what a transfer is of, and where to. */
type Words = { readonly vault: string; readonly of: string; readonly sent: string }

const TEXTS: Readonly<Record<string, (words: Words) => string>> = {
  'deposit.pending': ({ vault, of }) => `Your deposit${of} into ${vault} is waiting`,
  'deposit.claimable': ({ vault, of }) => `Your deposit${of} into ${vault} can be claimed`,
  'deposit.completed': ({ vault, of }) => `Your deposit${of} into ${vault} is done: the shares are yours`,
  'deposit.cancelled': ({ vault, of }) => `Your deposit${of} into ${vault} was cancelled`,
  'withdrawal.pending': ({ vault, of }) => `Your withdrawal${of} from ${vault} is waiting`,
  'withdrawal.claimable': ({ vault, of }) => `Your withdrawal${of} from ${vault} can be claimed`,
  'withdrawal.completed': ({ vault, of }) => `Your withdrawal${of} from ${vault} was paid`,
  'withdrawal.cancelled': ({ vault, of }) => `Your withdrawal${of} from ${vault} was cancelled`,
  'transfer.completed': ({ sent }) => `${sent} has arrived`,
  'transfer.failed': ({ sent }) => `${sent} did not arrive`,
  'transfer.refunded': ({ sent }) => `${sent} was paid back`,
}

/** What is said instead of `claimable` once a claim has followed: of all of it, or of a part. */
const CLAIMED_TEXTS: Readonly<Record<'all' | 'part', typeof TEXTS>> = {
  all: {
    'deposit.claimable': ({ vault, of }) => `Your deposit${of} into ${vault} was settled and claimed`,
    'withdrawal.claimable': ({ vault, of }) => `Your withdrawal${of} from ${vault} was claimed`,
  },
  part: {
    'deposit.claimable': ({ vault, of }) =>
      `Your deposit${of} into ${vault} was settled: a part is still to be claimed`,
    'withdrawal.claimable': ({ vault, of }) => `A part of your withdrawal${of} from ${vault} is still to be claimed`,
  },
}

/** Whether an event is about this user's money. */
export function isAbout({ data }: WebhookEvent, { accounts, transfers }: Owner): boolean {
  if ('transactions' in data && transfers.has(data.transactions.source)) return true
  return 'userAddress' in data && data.userAddress !== null && accounts.has(data.userAddress)
}

/**
 * A user's news, the newest first: what was told before it was final and again when it was is one, what a reorganisation has
 * undone says so, what was claimed since is not said to be claimable, and what no longer waits is left out. `findVault` gives
 * undefined where the wallet does not know the vault.
 */
export function listNews(
  arrivals: readonly Arrival[],
  owner: Owner,
  findVault: (chainId: number, address: `0x${string}`) => NamedVault | undefined,
): readonly News[] {
  const taken = arrivals.flatMap(({ isTaken, event }) => (isTaken && event ? [event] : []))
  const undone = new Set(taken.flatMap(({ data }) => ('eventId' in data ? [data.eventId] : [])))
  const news = new Map<string, News>()
  const known = taken.filter((event) => TEXTS[event.type] !== undefined && isAbout(event, owner))
  const standing = [
    ...new Map(known.flatMap((event) => (undone.has(event.id) ? [] : ([[keyOf(event), event]] as const)))).values(),
  ]
  for (const event of known.toSorted((left, right) => left.sequence - right.sequence)) {
    const { id, type, timestamp, final, data } = event
    if (!undone.has(id) && isPast(event, standing)) continue
    const { chainId, vaultAddress } = data
    const settlement = 'estimatedSettlement' in data ? data.estimatedSettlement : null
    const vault = findVault(chainId, vaultAddress)
    const amount = vault && amountOf(event, vault)
    const name = vault?.name ?? 'a vault'
    // What a vault has paid is sent on as a plain token, which may be that of several vaults.
    const isFromVault = 'srcChain' in data && data.srcChain.id === chainId
    const words = {
      vault: name,
      of: amount === undefined ? '' : ` of ${amount}`,
      sent: `${amount ?? 'What'} you sent between chains${isFromVault ? '' : ` for ${name}`}`,
    }
    const claimed = claimedOf(event, standing)
    const write = (claimed && CLAIMED_TEXTS[claimed][type]) ?? TEXTS[type]
    const text = write?.(words) ?? type
    news.set(keyOf(event), {
      id,
      text: settlement ? `${text}, usually less than ${formatDuration(settlement.p90 * 1000)}` : text,
      state: undone.has(id) ? 'undone' : final ? 'final' : 'may change',
      ...{ timestamp, chainId, vaultAddress },
    })
  }
  return [...news.values()].toReversed()
}

/** The amount of an event in its vault's asset, or in shares where that alone is known; undefined where neither is. */
function amountOf({ data }: WebhookEvent, { asset, shareDecimals }: NamedVault): string | undefined {
  const inAsset = (units: string) => `${formatAmount(BigInt(units), asset.decimals)} ${asset.symbol}`
  if ('srcChain' in data) {
    // What is sent from the vault's chain is its asset there; what is sent to it is its asset when it arrives.
    const units = data.srcChain.id === data.chainId ? data.inputAmount : data.outputAmount
    return units === null ? undefined : inAsset(units)
  }
  if (!('assets' in data)) return undefined
  if (data.assets !== null) return inAsset(data.assets)
  return data.shares === null ? undefined : `${formatAmount(BigInt(data.shares), shareDecimals)} shares`
}

/** The deposit or withdrawal that an event is about; null if unknown. */
function requestOf({ data }: WebhookEvent): string | null {
  if (!('entry' in data)) return null
  return 'depositId' in data ? data.depositId : data.withdrawalId
}

/** How many events of this kind are about the request of this event, and how much they are of, in what is requested; null where that is unknown. */
function sumOf(event: WebhookEvent, kind: string, standing: readonly WebhookEvent[]) {
  const request = requestOf(event)
  const [side] = event.type.split('.')
  const told = standing.filter(
    (other) => request !== null && other.type === `${side}.${kind}` && requestOf(other) === request,
  )
  const amounts = told.flatMap(({ data }) => ('assets' in data ? [side === 'deposit' ? data.assets : data.shares] : []))
  const known = amounts.filter((amount) => amount !== null)
  const sum = known.length < amounts.length ? null : known.reduce((total, amount) => total + BigInt(amount), 0n)
  return { count: told.length, sum }
}

/** Whether what the first were of is covered by the others; of unknown amounts any other covers it. */
function isCovered(first: ReturnType<typeof sumOf>, others: ReturnType<typeof sumOf>): boolean {
  return others.count > 0 && (first.sum === null || others.sum === null || others.sum >= first.sum)
}

/** Whether an event says that something waits of which nothing does any more. */
function isPast(event: WebhookEvent, standing: readonly WebhookEvent[]): boolean {
  if (!event.type.endsWith('.pending')) return false
  const requested = sumOf(event, 'pending', standing)
  return (
    sumOf(event, 'cancelled', standing).count > 0 ||
    ['claimable', 'completed'].some((kind) => isCovered(requested, sumOf(event, kind, standing)))
  )
}

/** How much of a settlement was claimed; undefined for nothing, and for what is no settlement. */
function claimedOf(event: WebhookEvent, standing: readonly WebhookEvent[]): 'all' | 'part' | undefined {
  const claimed = sumOf(event, 'completed', standing)
  if (!event.type.endsWith('.claimable') || claimed.count === 0) return undefined
  return isCovered(sumOf(event, 'claimable', standing), claimed) ? 'all' : 'part'
}

/** What happened, whether it was final when it was told or not. */
function keyOf(event: WebhookEvent): string {
  const { type, data } = event
  const { chainId, vaultAddress } = data
  const place = [type, chainId, vaultAddress]
  if ('transactions' in data) return [...place, data.transactions.source].join(' ')
  if (!('transactionHash' in data)) return place.join(' ')
  return [...place, data.userAddress, data.transactionHash, requestOf(event)].join(' ')
}
