import { buildLocationKey } from '../activity/ledger-entry.ts'
import { buildRequestName, findOpenRequests, type OpenRequest, type Snapshot } from '../activity/open-requests.ts'
import type { OpenRequestsStore } from '../activity/open-requests-store.ts'
import type { VaultProgress } from '../activity/store.ts'
import { compareLocation, toBlockFields } from '../chain/logs.ts'
import { runConcurrently } from '../core/side-by-side.ts'
import { toSeconds } from '../core/time.ts'
import type { Settlement, VaultEvent } from '../protocols/books.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import { getProtocol } from '../protocols/protocols.ts'
import { RequestKind } from '../protocols/request-kind.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { addWaits, estimateSettlement } from '../vaults/settlement-waits.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { Notice } from '../webhooks/event.ts'
import type { AccountEntries } from './account-entries.ts'
import {
  buildClaimableNotices,
  buildEntryNotices,
  listUnclaimedParts,
  needsEarlierEntries,
  type SettlementFields,
} from './entry-notices.ts'
import { trackOpenRequests } from './follow-requests.ts'
import type { BlockHashes } from './latest-notices.ts'

/**
 * A vault's events in a range of blocks, in order, after its last recorded block. `entries` are the ledger entries
 * derived from these events.
 */
export type SliceOfVault = {
  readonly vault: VaultOnChain
  readonly progress: Pick<VaultProgress, 'through' | 'settledIds' | 'waits' | 'eventsAfter'>
  readonly events: readonly VaultEvent[]
  readonly entries: readonly LedgerEntry[]
  /** Snapshots of the vault's waiting requests that were read at blocks which are now final, earliest first. */
  readonly snapshots?: readonly Snapshot[]
}

type Sources = {
  readonly openRequests: Pick<OpenRequestsStore, 'list' | 'get'>
  readonly accounts: AccountEntries
}

/**
 * Changes that a range of blocks causes. `progress` is the vault's changed recording progress, undefined without a
 * settlement. `changed` and `ended` are waiting requests.
 */
export type SliceChanges = {
  readonly progress: Pick<VaultProgress, 'settledIds' | 'waits'> | undefined
  readonly changed: readonly OpenRequest[]
  readonly ended: readonly OpenRequest[]
}

const OPEN_AT_ONCE = 100
/**
 * Maximum number of requests whose ids a settlement's webhook events contain. Events for further requests have only the
 * account.
 */
const MAX_NAMED = 5_000
/**
 * Maximum number of computation steps per range of blocks, about a second. Finding the requests of a claim or a
 * cancellation takes n² steps for n earlier ledger entries. An attacker can create thousands of entries. Webhook events
 * beyond the limit have no ids.
 */
const MAX_STEPS = 20_000_000

/**
 * Yields the webhook events of a vault in a range of blocks, in order, as several lists. Yields none for blocks up to
 * `eventsAfter`. Returns the changes to the vault's recording progress and requests. `hashes` has the hashes of the
 * blocks if they are not final; it is undefined for final blocks.
 */
export async function* findNotices(
  { openRequests, accounts }: Sources,
  slice: SliceOfVault,
  hashes?: BlockHashes,
): AsyncGenerator<Notice[], SliceChanges> {
  const { vault, progress, events } = slice
  const { books } = getProtocol(vault)
  const { eventsAfter = Number.POSITIVE_INFINITY } = progress
  const isNew = (block: number) => block > eventsAfter
  const entriesOf = accounts.ofRequests
  const steps = { left: MAX_STEPS }
  const requests =
    hashes || books.settlement
      ? undefined
      : trackOpenRequests(openRequests, vault, { through: progress.through, entriesOf, steps })
  let { settledIds = {}, waits = {} } = progress
  let isSettled = false
  let rest = slice.entries.filter(({ blockNumber }) => isNew(blockNumber))
  const listEntryNotices = async (entries: readonly LedgerEntry[]): Promise<Notice[]> => {
    const notices = await runConcurrently(entries, async (entry) => {
      const all = needsEarlierEntries(entry) ? await entriesOf(entry.account) : []
      const before = all?.slice(0, Math.max(0, all.indexOf(entry)))
      steps.left -= (before?.length ?? 0) ** 2
      const known = steps.left < 0 ? undefined : before
      const estimate = estimateSettlement(waits[entry.kind === 'deposit' ? 'deposit' : 'withdrawal'])
      const unreported = (known && (await requests?.findUnreported(entry, known))) ?? []
      return [...unreported, ...buildEntryNotices(entry, known, estimate, hashes?.get(entry.blockNumber))]
    })
    return notices.flat()
  }
  for (const event of events) {
    const settlement = books.settlement?.(event)
    if (!settlement) continue
    isSettled = true
    const at = toSettledAt(vault, event)
    const { before = [], after = [] } = Object.groupBy(rest, (entry) => (isBefore(entry, event) ? 'before' : 'after'))
    yield await listEntryNotices(before)
    rest = after

    const { kind, lastId, requested, given } = settlement
    // A claimable amount whose payout rounds to 0 cannot be claimed, so no event is published for it.
    const isWorth = ({ amount }: { readonly amount: bigint }) => requested === 0n || amount * given >= requested
    const settledId = settledIds[kind] ?? -1n
    const seconds: number[] = []
    for await (const page of listSettled(openRequests, slice, settlement)) {
      const settled = page.filter(({ requestId }) => requestId > settledId)
      seconds.push(...settled.map(({ timestamp }) => Number(event.location.timestamp - toSeconds(timestamp))))
      if (!isNew(at.blockNumber)) continue
      const isNamed = seconds.length <= MAX_NAMED
      const notices = await runConcurrently(settled, async (request) => {
        const all = isNamed ? await entriesOf(request.account) : undefined
        const entries = all?.filter((entry) => isBefore(entry, event))
        const parts = entries && listUnclaimedParts(request, entries).filter(isWorth)
        return buildClaimableNotices(request, parts, at, hashes?.get(at.blockNumber))
      })
      yield notices.flat()
    }
    if (lastId > settledId) settledIds = { ...settledIds, [kind]: lastId }
    waits = { ...waits, [kind]: addWaits(waits[kind] ?? [], seconds) }
  }
  for (const snapshot of slice.snapshots ?? []) {
    const { before = [], after = [] } = Object.groupBy(rest, ({ blockNumber }) =>
      blockNumber <= snapshot.number ? 'before' : 'after',
    )
    yield await listEntryNotices(before)
    rest = after
    const settled = await requests?.settle(snapshot)
    yield settled?.notices ?? []
    for (const kind of RequestKind.options) {
      const seconds = settled?.waited[kind] ?? []
      isSettled ||= seconds.length > 0
      waits = { ...waits, [kind]: addWaits(waits[kind] ?? [], seconds) }
    }
  }
  yield await listEntryNotices(rest)
  const { changed = [], ended = [] } = requests?.list() ?? {}
  return { progress: isSettled ? { settledIds, waits } : undefined, changed, ended }
}

/** Returns the block hashes of these events, by block number. */
export function collectBlockHashes(events: readonly VaultEvent[]): BlockHashes {
  return new Map(
    events.flatMap(({ location: { blockNumber, blockHash } }) => (blockHash ? [[Number(blockNumber), blockHash]] : [])),
  )
}

/**
 * Deletes the waiting requests whose ids the saved recording progress counts as settled. Also finds settled requests
 * that an earlier run did not delete because it was stopped.
 */
export async function closeSettledRequests(
  openRequests: Pick<OpenRequestsStore, 'list' | 'close'>,
  vault: VaultKey,
  settledIds: VaultProgress['settledIds'] = {},
): Promise<void> {
  for (const kind of RequestKind.options) {
    const lastId = settledIds[kind]
    if (lastId === undefined) continue
    for (let isDone = false; !isDone; ) {
      const page = await openRequests.list(vault, { kind, lastId, most: OPEN_AT_ONCE })
      await openRequests.close(vault, page)
      isDone = page.length < OPEN_AT_ONCE
    }
  }
}

async function* listSettled(
  openRequests: Pick<OpenRequestsStore, 'list'>,
  { vault, entries }: SliceOfVault,
  { kind, lastId }: Settlement,
): AsyncGenerator<readonly OpenRequest[]> {
  const { opened, closed } = findOpenRequests(entries, getProtocol(vault).books)
  const isOfKind = (request: OpenRequest) => request.kind === kind && request.requestId <= lastId
  const own = new Map(opened.filter(isOfKind).map((request) => [buildRequestName(request), request]))
  const gone = new Set(closed.filter(isOfKind).map(buildRequestName))
  let after: OpenRequest | undefined
  do {
    const page = await openRequests.list(vault, { kind, lastId, after, most: OPEN_AT_ONCE })
    yield page.filter((request) => !own.has(buildRequestName(request)) && !gone.has(buildRequestName(request)))
    after = page.length < OPEN_AT_ONCE ? undefined : page.at(-1)
  } while (after)
  yield [...own.values()]
}

function toSettledAt({ address }: VaultOnChain, { location }: VaultEvent): SettlementFields {
  const { chainId, transactionHash, blockNumber, logIndex, timestamp } = location
  const block = toBlockFields({ number: blockNumber, timestamp })
  const key = buildLocationKey({ chainId, logIndex, ...block })
  return { chainId, vault: address, transactionHash, key, ...block }
}

function isBefore({ blockNumber, logIndex }: LedgerEntry, { location }: VaultEvent): boolean {
  return compareLocation({ blockNumber: BigInt(blockNumber), logIndex }, location) < 0
}
