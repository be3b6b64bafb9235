import type { Hash } from 'viem'
import { depositLine } from '../activity/history.ts'
import { buildEntryId, buildSortKey } from '../activity/ledger-entry.ts'
import type { LineRequest } from '../activity/line.ts'
import type { OpenRequest } from '../activity/open-requests.ts'
import { buildRequestLine, type RequestEntry } from '../activity/request-line.ts'
import { redemptionLine } from '../activity/withdrawals.ts'
import { sum } from '../bigint.ts'
import { matchPayments } from '../protocols/fixed-requests.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import type { EstimatedSettlement } from '../vaults/settlement-waits.ts'
import { MOST_IDS, type Notice, placeOf } from '../webhooks/event.ts'

/** An account's entries in a vault, in order; undefined if they are too many to search. */
type Entries = readonly LedgerEntry[] | undefined

/**
 * Builds the notice of a ledger entry from the account's earlier entries; undefined for an entry that is not reported. The
 * requests of a claim or a cancellation follow from the account's line; without a line it names none. The key of a non-final
 * notice has the hash of its block.
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
      const data = {
        ...where,
        withdrawalIds: [buildEntryId(entry)],
        assets: entry.assets ?? null,
        shares: entry.shares,
      }
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
    case 'paid': {
      const requests = before && matchPayments([...before, entry]).get(entry)
      // It is of another account's requests.
      if (before && !requests) return undefined
      const shares = requests ? sum(requests.map((request) => request.shares)) : null
      const withdrawalIds = (requests ?? []).slice(0, MOST_IDS).map(buildEntryId)
      return { ...told, type: 'withdrawal.completed', data: { ...where, withdrawalIds, assets: entry.assets, shares } }
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
  /** Start of their sort keys among notices of the same moment, if it is not `key`. */
  readonly place?: string
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

/** Finds the requests whose amounts an entry changed, and by how much; undefined without the earlier entries. */
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

/** The key of the same notice before this block was final. */
export function buildLatestKey(key: string, block: Hash): string {
  return `${key}#${block}`
}
