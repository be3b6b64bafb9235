import type { Address } from 'viem'
import type { Hashes } from '../activity/latest-notices.ts'
import { buildLocationKey, isNothing } from '../activity/ledger-entry.ts'
import {
  buildClaimableNotices,
  buildEntryNotice,
  listStanding,
  needsLine,
  type SettledAt,
} from '../activity/notices.ts'
import { findOpenRequests, nameOf, type OpenRequest, type Snapshot } from '../activity/open-requests.ts'
import type { OpenRequestsStore } from '../activity/open-requests-store.ts'
import { addWaits, estimateSettlement } from '../activity/settlement-waits.ts'
import type { RecordsStore, VaultProgress } from '../activity/store.ts'
import { byLocation, toBlockFields } from '../chain/logs.ts'
import type { Settlement, VaultEvent } from '../protocols/books.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import { getProtocol } from '../protocols/protocols.ts'
import { RequestKind } from '../protocols/request-kind.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { sideBySide } from '../side-by-side.ts'
import { toSeconds } from '../time.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { Notice } from '../webhooks/event.ts'
import { followRequests } from './follow-requests.ts'

/** One vault's part of a slice: what happened in it after its progress, in order. */
export type SliceOfVault = {
  readonly vault: VaultOnChain
  /** That of before the slice. */
  readonly progress: Pick<VaultProgress, 'through' | 'settledIds' | 'waits' | 'eventsAfter'>
  readonly events: readonly VaultEvent[]
  readonly entries: readonly LedgerEntry[]
  /** Snapshots of its requests that the slice makes final, the earliest first. */
  readonly snapshots?: readonly Snapshot[]
}

type Stores = {
  readonly records: Pick<RecordsStore, 'listEntries'>
  readonly openRequests: Pick<OpenRequestsStore, 'list' | 'get'>
}

/** What a slice changes of a vault's progress, where it settled something, and of waiting requests. */
export type Found = {
  readonly progress: Pick<VaultProgress, 'settledIds' | 'waits'> | undefined
  readonly changed: readonly OpenRequest[]
  readonly ended: readonly OpenRequest[]
}

/** How many open requests are looked at together. */
const OPEN_AT_ONCE = 100
/** A settlement's notices name so many requests; of more they tell whose they are alone. */
const MAX_NAMED = 5_000
/** What happened to an account in one vault is looked through for its requests up to so much. */
const MAX_ENTRIES = 1_000
/**
 * To find of which requests a claim or a cancellation is takes as many steps as the square of what happened to its account
 * before. A slice takes so many, about a second: strangers can make thousands in a vault, and the others wait for it. Those
 * beyond are told without ids.
 */
const MAX_STEPS = 20_000_000

/**
 * What clients are to be told of a slice, in order and in parts; nothing of what happened before clients are told of the
 * vault. `hashes` are those of blocks that are not final.
 */
export async function* findNotices(
  { records, openRequests }: Stores,
  slice: SliceOfVault,
  hashes?: Hashes,
): AsyncGenerator<Notice[], Found> {
  const { vault, progress, events } = slice
  const { books } = getProtocol(vault)
  const { eventsAfter = Number.POSITIVE_INFINITY } = progress
  const isNew = (block: number) => block > eventsAfter
  const entriesOf = accountEntries(records, slice)
  const steps = { left: MAX_STEPS }
  const requests =
    hashes || books.settlement
      ? undefined
      : followRequests(openRequests, vault, { through: progress.through, entriesOf, steps })
  let { settledIds = {}, waits = {} } = progress
  let isSettled = false
  let rest = slice.entries.filter(({ blockNumber }) => isNew(blockNumber))
  for (const event of events) {
    const settlement = books.settlement?.(event)
    if (!settlement) continue
    isSettled = true
    const at = toSettledAt(vault, event)
    const { before = [], after = [] } = Object.groupBy(rest, (entry) => (isBefore(entry, event) ? 'before' : 'after'))
    yield await buildEntryNotices(before, { waits, entriesOf, hashes, steps, requests })
    rest = after

    const { kind, lastId, requested, given } = settlement
    // What rounds to nothing cannot be claimed.
    const isWorth = ({ amount }: { readonly amount: bigint }) => requested === 0n || amount * given >= requested
    const settledId = settledIds[kind] ?? -1n
    const seconds: number[] = []
    for await (const page of listSettled(openRequests, slice, settlement)) {
      const settled = page.filter(({ requestId }) => requestId > settledId)
      seconds.push(...settled.map(({ timestamp }) => Number(event.location.timestamp - toSeconds(timestamp))))
      if (!isNew(at.blockNumber)) continue
      const notices: Notice[] = []
      const isNamed = seconds.length <= MAX_NAMED
      await sideBySide(settled, async (request) => {
        const all = isNamed ? await entriesOf(request.account) : undefined
        const entries = all?.filter((entry) => isBefore(entry, event))
        const parts = entries && listStanding(request, entries).filter(isWorth)
        notices.push(...buildClaimableNotices(request, parts, at, hashes?.get(at.blockNumber)))
      })
      yield notices
    }
    if (lastId > settledId) settledIds = { ...settledIds, [kind]: lastId }
    waits = { ...waits, [kind]: addWaits(waits[kind] ?? [], seconds) }
  }
  for (const snapshot of slice.snapshots ?? []) {
    const { before = [], after = [] } = Object.groupBy(rest, ({ blockNumber }) =>
      blockNumber <= snapshot.number ? 'before' : 'after',
    )
    yield await buildEntryNotices(before, { waits, entriesOf, hashes, steps, requests })
    rest = after
    const settled = await requests?.settle(snapshot)
    yield settled?.notices ?? []
    for (const kind of RequestKind.options) {
      const seconds = settled?.waited[kind] ?? []
      isSettled ||= seconds.length > 0
      waits = { ...waits, [kind]: addWaits(waits[kind] ?? [], seconds) }
    }
  }
  yield await buildEntryNotices(rest, { waits, entriesOf, hashes, steps, requests })
  const { changed = [], ended = [] } = requests?.list() ?? {}
  return { progress: isSettled ? { settledIds, waits } : undefined, changed, ended }
}

/** The hashes of the blocks of these events, as far as they tell them. */
export function hashesOf(events: readonly VaultEvent[]): Hashes {
  return new Map(
    events.flatMap(({ location: { blockNumber, blockHash } }) => (blockHash ? [[Number(blockNumber), blockHash]] : [])),
  )
}

/** Has the requests wait no more that are settled by what is saved, also those that a killed run left. */
export async function closeSettled(
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

/** The open requests that a settlement is of, in pages: those that are recorded, then those of the slice that are not. */
async function* listSettled(
  openRequests: Pick<OpenRequestsStore, 'list'>,
  { vault, entries }: SliceOfVault,
  { kind, lastId }: Settlement,
): AsyncGenerator<readonly OpenRequest[]> {
  const { opened, closed } = findOpenRequests(entries, getProtocol(vault).books)
  const isOfKind = (request: OpenRequest) => request.kind === kind && request.requestId <= lastId
  const own = new Map(opened.filter(isOfKind).map((request) => [nameOf(request), request]))
  const gone = new Set(closed.filter(isOfKind).map(nameOf))
  let after: OpenRequest | undefined
  do {
    const page = await openRequests.list(vault, { kind, lastId, after, most: OPEN_AT_ONCE })
    yield page.filter((request) => !own.has(nameOf(request)) && !gone.has(nameOf(request)))
    after = page.length < OPEN_AT_ONCE ? undefined : page.at(-1)
  } while (after)
  yield [...own.values()]
}

/**
 * Finds what happened to an account in a vault up to the end of a slice, as far as it is of requests; undefined where that
 * is too much.
 */
function accountEntries(
  records: Pick<RecordsStore, 'listEntries'>,
  { vault, progress: { through }, entries }: Pick<SliceOfVault, 'vault' | 'progress' | 'entries'>,
) {
  const ofSlice = Map.groupBy(entries, ({ account }) => account)
  const found = new Map<Address, Promise<readonly LedgerEntry[] | undefined>>()
  const find = async (account: Address) => {
    const [recorded] = await records.listEntries(account, [vault])
    const before = recorded?.filter(({ blockNumber }) => blockNumber <= through)
    const all = before && [...before, ...(ofSlice.get(account) ?? [])]
    const ofRequests = all?.filter((entry) => isOfRequests(entry) && !isNothing(entry))
    return ofRequests && ofRequests.length > MAX_ENTRIES ? undefined : ofRequests
  }
  return (account: Address) => {
    const known = found.get(account) ?? find(account)
    found.set(account, known)
    return known
  }
}

function isOfRequests({ kind }: LedgerEntry): boolean {
  return kind !== 'receive' && kind !== 'send'
}

type EntriesOfSlice = {
  readonly waits: NonNullable<VaultProgress['waits']>
  readonly entriesOf: ReturnType<typeof accountEntries>
  readonly hashes: Hashes | undefined
  /** What is left of `MAX_STEPS`. */
  readonly steps: { left: number }
  /** The waiting requests, where the slice is final and events do not tell of settlements. */
  readonly requests: ReturnType<typeof followRequests> | undefined
}

/** The notices of what happened to accounts, in order. */
async function buildEntryNotices(
  entries: readonly LedgerEntry[],
  { waits, entriesOf, hashes, steps, requests }: EntriesOfSlice,
): Promise<Notice[]> {
  const notices: (readonly Notice[])[] = []
  await sideBySide(entries.entries(), async ([index, entry]) => {
    const all = needsLine(entry) ? await entriesOf(entry.account) : []
    const before = all?.slice(0, Math.max(0, all.indexOf(entry)))
    steps.left -= (before?.length ?? 0) ** 2
    const known = steps.left < 0 ? undefined : before
    const estimate = estimateSettlement(waits[entry.kind === 'deposit' ? 'deposit' : 'withdrawal'])
    const notice = buildEntryNotice(entry, known, estimate, hashes?.get(entry.blockNumber))
    const unreported = (known && (await requests?.findUnreported(entry, known))) ?? []
    notices[index] = [...unreported, ...(notice ? [notice] : [])]
  })
  return notices.flat()
}

/** Where an event stands, as notices have it. */
function toSettledAt({ address }: VaultOnChain, { location }: VaultEvent): SettledAt {
  const { chainId, transactionHash, blockNumber, logIndex, timestamp } = location
  const block = toBlockFields({ number: blockNumber, timestamp })
  const key = buildLocationKey({ chainId, logIndex, ...block })
  return { chainId, vault: address, transactionHash, key, ...block }
}

function isBefore({ blockNumber, logIndex }: LedgerEntry, { location }: VaultEvent): boolean {
  return byLocation({ blockNumber: BigInt(blockNumber), logIndex }, location) < 0
}
