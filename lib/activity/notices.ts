import type { Hash } from 'viem'
import { sum } from '../bigint.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import { MOST_IDS, type Notice, placeOf } from '../webhooks/event.ts'
import { depositLine } from './history.ts'
import { buildEntryId, buildSortKey } from './ledger-entry.ts'
import type { LineRequest } from './line.ts'
import type { OpenRequest } from './open-requests.ts'
import { buildRequestLine, type RequestEntry } from './request-line.ts'
import type { EstimatedSettlement } from './settlement-waits.ts'
import { redemptionLine } from './withdrawals.ts'

/** What happened to an account in a vault, in order; undefined where it is too much to be looked through. */
type Entries = readonly LedgerEntry[] | undefined

/**
 * The notice of a ledger entry, by what happened to its account before: undefined where nobody is told of it. Of which
 * requests a claim or a cancellation is follows from the account's line; where that is not known it names none. What is not
 * final has the hash of its block.
 */
export function buildEntryNotice(
  entry: LedgerEntry,
  before: Entries,
  estimatedSettlement: EstimatedSettlement | null,
  unfinalBlock?: Hash,
): Notice | undefined {
  const { account, chainId, vault, transactionHash, blockNumber, timestamp } = entry
  const told = { key: buildKey(buildSortKey(entry), transactionHash, unfinalBlock), timestamp, final: !unfinalBlock }
  const where = { chainId, vaultAddress: vault, userAddress: account, transactionHash, blockNumber }
  switch (entry.kind) {
    case 'deposit': {
      const data = { ...where, depositIds: [buildEntryId(entry)], assets: entry.assets, shares: entry.shares }
      return entry.shares === null
        ? { ...told, type: 'deposit.pending', data: { ...data, estimatedSettlement } }
        : { ...told, type: 'deposit.completed', data }
    }
    case 'claim': {
      const { assets, shares } = entry
      const depositIds = idsOf(findChanged(before, entry, depositLine, ({ claimed }) => claimed))
      return { ...told, type: 'deposit.completed', data: { ...where, depositIds, assets, shares } }
    }
    case 'cancel': {
      const changed = findChanged(before, entry, depositLine, ({ cancelled }) => cancelled)
      const assets = entry.assets ?? (changed ? sum(changed.map(({ amount }) => amount)) : null)
      return {
        ...told,
        type: 'deposit.cancelled',
        data: { ...where, depositIds: idsOf(changed), assets, shares: null },
      }
    }
    case 'redeem': {
      const data = { ...where, withdrawalIds: [buildEntryId(entry)], assets: null, shares: entry.shares }
      return { ...told, type: 'withdrawal.pending', data: { ...data, estimatedSettlement } }
    }
    case 'cancelRedeem': {
      const withdrawalIds = idsOf(findChanged(before, entry, redemptionLine, ({ cancelled }) => cancelled))
      return {
        ...told,
        type: 'withdrawal.cancelled',
        data: { ...where, withdrawalIds, assets: null, shares: entry.shares },
      }
    }
    case 'withdraw': {
      const { assets, shares } = entry
      const withdrawalIds = entry.isClaim
        ? idsOf(findChanged(before, entry, redemptionLine, ({ claimed }) => claimed))
        : [buildEntryId(entry)]
      return { ...told, type: 'withdrawal.completed', data: { ...where, withdrawalIds, assets, shares } }
    }
    default:
      return undefined
  }
}

/** Whether the notice of an entry needs to know what happened before. */
export function needsLine(entry: LedgerEntry): boolean {
  const { kind } = entry
  return kind === 'claim' || kind === 'cancel' || kind === 'cancelRedeem' || (kind === 'withdraw' && entry.isClaim)
}

/** Where and when something was settled, and all that is of a notice of it but its request. */
export type SettledAt = Pick<LedgerEntry, 'chainId' | 'vault' | 'blockNumber' | 'timestamp'> & {
  /** What the keys of the notices begin with. */
  readonly key: string
  /** What their places among notices of the same moment begin with, if not their keys. */
  readonly place?: string
  readonly transactionHash: Hash | null
}

/**
 * What can be claimed of a request, with the id of its entry, and what the claim gives, where that is known; the key of its
 * notice ends with `key`.
 */
export type ClaimablePart = {
  readonly id: string
  readonly key: string
  readonly amount: bigint
  readonly given?: bigint | undefined
}

/** What stands of an account's requests with this id, by its entries up to their settlement. */
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
 * The notices of what an account can claim of its requests with this id: one for each of these parts; where they are not
 * known, one without its amount.
 */
export function buildClaimableNotices(
  { kind, requestId, account, timestamp: requestedAt }: OpenRequest,
  parts: readonly ClaimablePart[] | undefined,
  { key: location, place, chainId, vault, transactionHash, blockNumber, timestamp }: SettledAt,
  unfinalBlock?: Hash,
): Notice[] {
  const build = (key: string, ids: string[], amount: bigint | null, given: bigint | null): Notice => {
    const own = { key: buildKey(location, key, unfinalBlock), timestamp, final: !unfinalBlock }
    const told = place === undefined ? own : { ...own, place: placeOf({ ...own, key: `${place}${key}` }) }
    const where = { chainId, vaultAddress: vault, userAddress: account, transactionHash, blockNumber }
    return kind === 'deposit'
      ? { ...told, type: 'deposit.claimable', data: { ...where, depositIds: ids, assets: amount, shares: given } }
      : { ...told, type: 'withdrawal.claimable', data: { ...where, withdrawalIds: ids, assets: given, shares: amount } }
  }
  if (!parts) return [build(`${account} ${requestId} ${requestedAt.getTime()}`, [], null, null)]
  return parts.map(({ id, key, amount, given = null }) => build(key, [id], amount, given))
}

type Changed = { readonly id: string; readonly amount: bigint }

/** Of which requests an entry changed an amount, and by how much; undefined where that cannot be told. */
function findChanged<Entry extends RequestEntry>(
  before: Entries,
  entry: LedgerEntry,
  line: (entries: readonly LedgerEntry[]) => readonly LineRequest<Entry>[],
  amountOf: (request: LineRequest<Entry>) => bigint,
): readonly Changed[] | undefined {
  if (!before) return undefined
  const earlier = line(before).map(amountOf)
  return line([...before, entry])
    .map((request, index) => ({ id: buildEntryId(request.entry), amount: amountOf(request) - (earlier[index] ?? 0n) }))
    .filter(({ amount }) => amount > 0n)
}

/** The ids of the first of these requests, so that an event stays small. */
function idsOf(changed: readonly Changed[] = []): string[] {
  return changed.slice(0, MOST_IDS).map(({ id }) => id)
}

/** The key of a notice: as text it sorts in the order in which things happened at one moment. */
function buildKey(location: string, what: string, unfinalBlock: Hash | undefined): string {
  const key = `${location}#${what}`
  return unfinalBlock ? buildLatestKey(key, unfinalBlock) : key
}

/** The key of the notice of the same before its block, which this names, was final. */
export function buildLatestKey(key: string, block: Hash): string {
  return `${key}#${block}`
}
