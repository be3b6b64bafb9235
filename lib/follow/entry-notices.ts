import type { Hash } from 'viem'
import { buildDepositQueue } from '../activity/history.ts'
import { buildEntryId, buildSortKey } from '../activity/ledger-entry.ts'
import type { OpenRequest } from '../activity/open-requests.ts'
import type { QueuedRequest } from '../activity/queue.ts'
import { buildQueueByKind, type RequestEntry } from '../activity/request-queue.ts'
import { buildRedemptionQueue } from '../activity/withdrawals.ts'
import { matchPayments } from '../protocols/fixed-requests.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import type { RequestKind } from '../protocols/request-kind.ts'
import type { EstimatedSettlement } from '../vaults/settlement-waits.ts'
import type { Notice } from '../webhooks/event.ts'

/** Account's deposits, withdrawals and transfers in a vault, in order; undefined if there are too many to search. */
type Entries = readonly LedgerEntry[] | undefined

/**
 * Amounts of an event for one deposit or withdrawal. A null id stands for all deposits or withdrawals without a
 * separate webhook event.
 */
type Part = { readonly id: string | null; readonly assets: bigint | null; readonly shares: bigint | null }

type Described = {
  readonly type: Exclude<Extract<Notice['type'], `${RequestKind}.${string}`>, `${string}.${'claimable' | 'reverted'}`>
  readonly parts: readonly Part[]
}

/** Maximum number of requests for which one claim or cancellation causes separate webhook events. The rest share one event. */
const MAX_PARTS = 20
const UNREAD = { entry: null, version: 0 }

/**
 * Builds the webhook events of a ledger entry, one for each deposit or withdrawal that the entry affects. Entries of
 * unpublished kinds have no events. `before` are the account's earlier entries, which show the requests that a claim,
 * payment or cancellation affects. Without `before`, such an entry gets one event, whose deposit or withdrawal id is
 * null. Each event has a key. The first event's key is the same with and without `before`. The keys of events that are
 * not final end with the hash `unfinalBlock`.
 */
export function buildEntryNotices(
  entry: LedgerEntry,
  before: Entries,
  estimatedSettlement: EstimatedSettlement | null,
  unfinalBlock?: Hash,
): Notice[] {
  const described = describe(entry, before)
  if (!described) return []
  const { account, chainId, vault, transactionHash, blockNumber, timestamp } = entry
  const where = { chainId, vaultAddress: vault, userAddress: account, transactionHash, blockNumber, ...UNREAD }
  return described.parts.map(({ id, assets, shares }, index): Notice => {
    const what = index === 0 ? transactionHash : `${transactionHash}#${id ?? 'rest'}`
    const common = { key: buildKey(buildSortKey(entry), what, unfinalBlock), timestamp, final: !unfinalBlock }
    const deposit = { ...where, depositId: id, assets, shares }
    const withdrawal = { ...where, withdrawalId: id, assets, shares }
    switch (described.type) {
      case 'deposit.pending':
        return { ...common, type: described.type, data: { ...deposit, estimatedSettlement } }
      case 'withdrawal.pending':
        return { ...common, type: described.type, data: { ...withdrawal, estimatedSettlement } }
      case 'deposit.completed':
      case 'deposit.cancelled':
        return { ...common, type: described.type, data: deposit }
      default:
        return { ...common, type: described.type, data: withdrawal }
    }
  })
}

function describe(entry: LedgerEntry, before: Entries): Described | undefined {
  switch (entry.kind) {
    case 'deposit': {
      const { assets, shares } = entry
      const type = shares === null ? 'deposit.pending' : 'deposit.completed'
      return { type, parts: [{ id: buildEntryId(entry), assets, shares }] }
    }
    case 'claim': {
      const { assets, shares } = entry
      const parts = listParts(buildDepositQueue, before, entry, ({ claimed, given }) => ({
        assets: claimed,
        shares: given,
      }))
      return { type: 'deposit.completed', parts: mergeParts(parts, { assets, shares }) }
    }
    case 'cancel': {
      const parts = listParts(buildDepositQueue, before, entry, ({ cancelled }) => ({
        assets: cancelled,
        shares: null,
      }))
      return { type: 'deposit.cancelled', parts: mergeParts(parts, { assets: entry.assets ?? null, shares: null }) }
    }
    case 'redeem': {
      const { assets = null, shares } = entry
      return { type: 'withdrawal.pending', parts: [{ id: buildEntryId(entry), assets, shares }] }
    }
    case 'cancelRedeem': {
      const parts = listParts(buildRedemptionQueue, before, entry, ({ cancelled }) => ({
        assets: null,
        shares: cancelled,
      }))
      return { type: 'withdrawal.cancelled', parts: mergeParts(parts, { assets: null, shares: entry.shares }) }
    }
    case 'withdraw': {
      const { assets, shares } = entry
      const type = 'withdrawal.completed'
      if (!entry.isClaim) return { type, parts: [{ id: buildEntryId(entry), assets, shares }] }
      const parts = listParts(buildRedemptionQueue, before, entry, ({ claimed, given }) => {
        return { assets: given, shares: claimed }
      })
      return { type, parts: mergeParts(parts, { assets, shares }) }
    }
    case 'paid': {
      const requests = before && matchPayments([...before, entry]).get(entry)
      // A payment that completes none of this account's requests is for another account's requests. This account then
      // gets no event.
      if (before && !requests) return undefined
      const parts = requests?.map((request) => {
        return { id: buildEntryId(request), assets: request.assets, shares: request.shares }
      })
      return { type: 'withdrawal.completed', parts: mergeParts(parts, { assets: entry.assets ?? null, shares: null }) }
    }
    default:
      return undefined
  }
}

/**
 * Returns true if the webhook event of a ledger entry needs the account's earlier entries, to find the requests that it
 * affects.
 */
export function needsEarlierEntries(entry: LedgerEntry): boolean {
  const { kind } = entry
  return ['claim', 'cancel', 'cancelRedeem', 'paid'].includes(kind) || (kind === 'withdraw' && entry.isClaim)
}

/** Fields that all webhook events of one settlement share. */
export type SettlementFields = Pick<LedgerEntry, 'chainId' | 'vault' | 'blockNumber' | 'timestamp'> & {
  /** Text with which the key of each webhook event of the settlement begins. */
  readonly key: string
  readonly transactionHash: Hash | null
}

/**
 * Claimable amount of one request, with the id of its deposit or withdrawal. `given` is the amount that a claim pays,
 * if known. The key of the webhook event ends with `key`.
 */
export type ClaimablePart = {
  readonly id: string
  readonly key: string
  readonly amount: bigint
  readonly given?: bigint | undefined
}

/**
 * Lists the unclaimed amounts of an account's requests with this id. `entries` are the account's requests, claims and
 * cancellations up to the settlement.
 */
export function listUnclaimedParts(
  { kind, requestId }: Pick<OpenRequest, 'kind' | 'requestId'>,
  entries: readonly LedgerEntry[],
): ClaimablePart[] {
  return buildQueueByKind(kind, entries)
    .filter(({ entry, standing, claimed }) => entry.requestId === requestId && standing > claimed)
    .map(({ entry, standing, claimed }) => {
      const id = buildEntryId(entry)
      return { id, key: id, amount: standing - claimed }
    })
}

/**
 * Builds the webhook events for the claimable amounts of an account's requests with this id, one for each of `parts`.
 * If `parts` is undefined, builds one event without an amount.
 */
export function buildClaimableNotices(
  { kind, requestId, account, timestamp: requestedAt }: OpenRequest,
  parts: readonly ClaimablePart[] | undefined,
  { key: location, chainId, vault, transactionHash, blockNumber, timestamp }: SettlementFields,
  unfinalBlock?: Hash,
): Notice[] {
  const build = (key: string, id: string | null, amount: bigint | null, given: bigint | null): Notice => {
    const common = { key: buildKey(location, key, unfinalBlock), timestamp, final: !unfinalBlock }
    const where = { chainId, vaultAddress: vault, userAddress: account, transactionHash, blockNumber, ...UNREAD }
    return kind === 'deposit'
      ? { ...common, type: 'deposit.claimable', data: { ...where, depositId: id, assets: amount, shares: given } }
      : { ...common, type: 'withdrawal.claimable', data: { ...where, withdrawalId: id, assets: given, shares: amount } }
  }
  if (!parts) return [build(`${account} ${requestId} ${requestedAt.getTime()}`, null, null, null)]
  return parts.map(({ id, key, amount, given = null }) => build(key, id, amount, given))
}

/** Lists the amounts of a claim or cancellation for each request of the account; undefined if the account's earlier entries are unknown. */
function listParts<Entry extends RequestEntry>(
  line: (entries: readonly LedgerEntry[]) => readonly QueuedRequest<Entry>[],
  before: Entries,
  entry: LedgerEntry,
  amountsOf: (request: QueuedRequest<Entry>) => Omit<Part, 'id'>,
): Part[] | undefined {
  if (!before) return undefined
  const earlier = line(before).map(amountsOf)
  return line([...before, entry])
    .map((request, index) => {
      const { assets, shares } = amountsOf(request)
      const old = earlier[index]
      const id = buildEntryId(request.entry)
      return { id, assets: minus(assets, old?.assets), shares: minus(shares, old?.shares) }
    })
    .filter(({ assets, shares }) => assets || shares)
}

/**
 * Returns the first 20 amounts, and merges the rest into one. If no amount is known, returns one with the `whole`
 * amount and a null id.
 */
function mergeParts(parts: readonly Part[] | undefined, whole: Omit<Part, 'id'>): readonly Part[] {
  if (!parts?.length) return [{ id: null, ...whole }]
  if (parts.length <= MAX_PARTS) return parts
  const rest = parts.slice(MAX_PARTS)
  const sumOf = (name: 'assets' | 'shares') =>
    rest.reduce<bigint | null>(
      (total, { [name]: amount }) => (total === null || amount === null ? null : total + amount),
      0n,
    )
  return [...parts.slice(0, MAX_PARTS), { id: null, assets: sumOf('assets'), shares: sumOf('shares') }]
}

function minus(amount: bigint | null, before: bigint | null | undefined): bigint | null {
  return amount === null ? null : amount - (before ?? 0n)
}

function buildKey(location: string, what: string, unfinalBlock: Hash | undefined): string {
  const key = `${location}#${what}`
  return unfinalBlock ? `${key}#${unfinalBlock}` : key
}
