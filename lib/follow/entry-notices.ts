import type { Hash } from 'viem'
import { depositLine } from '../activity/history.ts'
import { buildEntryId, buildSortKey } from '../activity/ledger-entry.ts'
import type { LineRequest } from '../activity/line.ts'
import type { OpenRequest } from '../activity/open-requests.ts'
import { buildRequestLine, type RequestEntry } from '../activity/request-line.ts'
import { redemptionLine } from '../activity/withdrawals.ts'
import { matchPayments } from '../protocols/fixed-requests.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import type { RequestKind } from '../protocols/request-kind.ts'
import type { EstimatedSettlement } from '../vaults/settlement-waits.ts'
import type { Notice } from '../webhooks/event.ts'

/** An account's entries in a vault, in order; undefined if they are too many to search. */
type Entries = readonly LedgerEntry[] | undefined

/** Amounts of an event for one deposit or withdrawal; without an id, for those that have no notice of their own. */
type Part = { readonly id: string | null; readonly assets: bigint | null; readonly shares: bigint | null }

/** An event's type and its parts, at least one. */
type Described = {
  readonly type: Exclude<Extract<Notice['type'], `${RequestKind}.${string}`>, `${string}.${'claimable' | 'reverted'}`>
  readonly parts: readonly Part[]
}

/** A claim or a cancellation has notices for this many requests, and one for the rest. */
const MAX_PARTS = 20
/** The entry of a notice before it is read. */
const UNREAD = { entry: null, version: 0 }

/**
 * Builds the notices of a ledger entry from the account's earlier entries, one for each deposit or withdrawal; none for an entry
 * that is not reported. The requests of a claim or a cancellation follow from the account's line; without a line it names none.
 * The first notice has the entry's key, whatever is known; the keys of non-final notices have the hash of their block.
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
    const told = { key: buildKey(buildSortKey(entry), what, unfinalBlock), timestamp, final: !unfinalBlock }
    const deposit = { ...where, depositId: id, assets, shares }
    const withdrawal = { ...where, withdrawalId: id, assets, shares }
    switch (described.type) {
      case 'deposit.pending':
        return { ...told, type: described.type, data: { ...deposit, estimatedSettlement } }
      case 'withdrawal.pending':
        return { ...told, type: described.type, data: { ...withdrawal, estimatedSettlement } }
      case 'deposit.completed':
      case 'deposit.cancelled':
        return { ...told, type: described.type, data: deposit }
      default:
        return { ...told, type: described.type, data: withdrawal }
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
      const parts = listParts(depositLine, before, entry, ({ claimed, given }) => ({ assets: claimed, shares: given }))
      return { type: 'deposit.completed', parts: limitParts(parts, { assets, shares }) }
    }
    case 'cancel': {
      const parts = listParts(depositLine, before, entry, ({ cancelled }) => ({ assets: cancelled, shares: null }))
      return { type: 'deposit.cancelled', parts: limitParts(parts, { assets: entry.assets ?? null, shares: null }) }
    }
    case 'redeem': {
      const { assets = null, shares } = entry
      return { type: 'withdrawal.pending', parts: [{ id: buildEntryId(entry), assets, shares }] }
    }
    case 'cancelRedeem': {
      const parts = listParts(redemptionLine, before, entry, ({ cancelled }) => ({ assets: null, shares: cancelled }))
      return { type: 'withdrawal.cancelled', parts: limitParts(parts, { assets: null, shares: entry.shares }) }
    }
    case 'withdraw': {
      const { assets, shares } = entry
      const type = 'withdrawal.completed'
      if (!entry.isClaim) return { type, parts: [{ id: buildEntryId(entry), assets, shares }] }
      const parts = listParts(redemptionLine, before, entry, ({ claimed, given }) => {
        return { assets: given, shares: claimed }
      })
      return { type, parts: limitParts(parts, { assets, shares }) }
    }
    case 'paid': {
      const requests = before && matchPayments([...before, entry]).get(entry)
      // It is of another account's requests.
      if (before && !requests) return undefined
      const parts = requests?.map((request) => {
        return { id: buildEntryId(request), assets: request.assets, shares: request.shares }
      })
      return { type: 'withdrawal.completed', parts: limitParts(parts, { assets: entry.assets ?? null, shares: null }) }
    }
    default:
      return undefined
  }
}

/** True if the notice of an entry needs the earlier entries. */
export function needsLine(entry: LedgerEntry): boolean {
  const { kind } = entry
  return ['claim', 'cancel', 'cancelRedeem', 'paid'].includes(kind) || (kind === 'withdraw' && entry.isClaim)
}

/** Time and place of a settlement: the fields that its notices share. */
export type SettledAt = Pick<LedgerEntry, 'chainId' | 'vault' | 'blockNumber' | 'timestamp'> & {
  /** Start of the keys of the notices. */
  readonly key: string
  readonly transactionHash: Hash | null
}

/**
 * The claimable part of a request: the id of its entry, the amount, and what the claim gives, if known. The key of its notice
 * ends with `key`.
 */
export type ClaimablePart = {
  readonly id: string
  readonly key: string
  readonly amount: bigint
  readonly given?: bigint | undefined
}

/** Lists the unclaimed parts of an account's requests with this id, from its entries up to their settlement. */
export function listStanding(
  { kind, requestId }: Pick<OpenRequest, 'kind' | 'requestId'>,
  entries: readonly LedgerEntry[],
): ClaimablePart[] {
  return buildRequestLine(kind, entries)
    .filter(({ entry, standing, claimed }) => entry.requestId === requestId && standing > claimed)
    .map(({ entry, standing, claimed }) => {
      const id = buildEntryId(entry)
      return { id, key: id, amount: standing - claimed }
    })
}

/**
 * Builds the notices for the claimable parts of an account's requests with this id, one for each part. If the parts are unknown,
 * it builds one without an amount.
 */
export function buildClaimableNotices(
  { kind, requestId, account, timestamp: requestedAt }: OpenRequest,
  parts: readonly ClaimablePart[] | undefined,
  { key: location, chainId, vault, transactionHash, blockNumber, timestamp }: SettledAt,
  unfinalBlock?: Hash,
): Notice[] {
  const build = (key: string, id: string | null, amount: bigint | null, given: bigint | null): Notice => {
    const told = { key: buildKey(location, key, unfinalBlock), timestamp, final: !unfinalBlock }
    const where = { chainId, vaultAddress: vault, userAddress: account, transactionHash, blockNumber, ...UNREAD }
    return kind === 'deposit'
      ? { ...told, type: 'deposit.claimable', data: { ...where, depositId: id, assets: amount, shares: given } }
      : { ...told, type: 'withdrawal.claimable', data: { ...where, withdrawalId: id, assets: given, shares: amount } }
  }
  if (!parts) return [build(`${account} ${requestId} ${requestedAt.getTime()}`, null, null, null)]
  return parts.map(({ id, key, amount, given = null }) => build(key, id, amount, given))
}

/** Lists what an entry did to each request of its line; undefined without the earlier entries. */
function listParts<Entry extends RequestEntry>(
  line: (entries: readonly LedgerEntry[]) => readonly LineRequest<Entry>[],
  before: Entries,
  entry: LedgerEntry,
  amountsOf: (request: LineRequest<Entry>) => Omit<Part, 'id'>,
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

/** The first parts, and one for the rest; one without an id for the `whole` where no part is known. */
function limitParts(parts: readonly Part[] | undefined, whole: Omit<Part, 'id'>): readonly Part[] {
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

/** The key of a notice; while its block is not final it ends with the block's hash. */
function buildKey(location: string, what: string, unfinalBlock: Hash | undefined): string {
  const key = `${location}#${what}`
  return unfinalBlock ? `${key}#${unfinalBlock}` : key
}
