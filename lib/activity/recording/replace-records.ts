import { getProtocol } from '../../protocols/protocols.ts'
import type { VaultOnChain } from '../../protocols/vault-on-chain.ts'
import { HOUR_SECONDS } from '../../time.ts'
import type { OpenRequestsStore } from '../open-requests-store.ts'
import { type RecordsStore, startOfHour, type VaultProgress } from '../store.ts'
import { YIELD_SECONDS } from '../yields.ts'
import { type Run, save } from './run.ts'

/** So many readings a run puts in force at most. */
const MOST_REPLACED = 50

/** Puts the readings in force that go as far as those in force do, in the same run that has read both. */
export async function replaceRecords(run: Run): Promise<void> {
  const { vaultRuns, rebuilds, records, openRequests, unpublished, now, until } = run
  const caughtUp = vaultRuns.filter((vaultRun) => {
    // What clients are still to be told is found by the reading in force alone.
    if (unpublished.has(vaultRun)) return false
    const rebuild = rebuilds.get(vaultRun)
    return rebuild?.progress.timestamp !== undefined && rebuild.progress.through >= vaultRun.progress.through
  })
  for (const vaultRun of caughtUp.slice(0, MOST_REPLACED)) {
    const { vault, progress } = vaultRun
    const reading = rebuilds.get(vaultRun)
    if (!reading) continue
    const isOver = () => now() >= until
    const { generation } = progress
    const { rebuild, isDone } = await takeOverPrices(records, vault, { generation, rebuild: reading.progress }, isOver)
    reading.progress = rebuild
    if (!isDone) continue
    if (progress.hasAsked) {
      await openRequests.takeOver({ ...vault, generation }, { ...vault, generation: rebuild.generation })
    }
    vaultRun.progress = await putInForce(records, vault, progress, rebuild, now())
    rebuilds.delete(vaultRun)
  }
}

/** Deletes what the readings in force have taken the place of, as far as the time reaches. */
export async function deleteOldRecords(run: Run): Promise<void> {
  const { vaultRuns, records, openRequests, now, until } = run
  const isOver = () => now() >= until
  for (const vaultRun of vaultRuns) {
    const { vault, progress } = vaultRun
    if (progress.replacedAt === undefined || isOver()) continue
    // Whose records are old is known once all is read that was there when the vault was added.
    if (progress.through < (progress.eventsAfter ?? 0)) continue
    vaultRun.progress = await deleteReplaced({ records, openRequests }, vault, progress, { now: now(), isOver })
    if (vaultRun.progress.replacedAt === undefined) await save(run, [vaultRun])
  }
}

type Rebuild = NonNullable<VaultProgress['rebuild']>

/** How many prices are taken over between two looks at the clock. */
const PRICES_AT_ONCE = 1_000
/** Longer than any request takes: one that has read the old progress still finds the old records. */
const GRACE_MS = 60_000

/**
 * Takes over the prices of the reading in force that no event tells: those of hours for which the new one has none. They
 * are what the job read of a vault in which nobody traded. Returns the new reading with how far it is, and whether all are
 * taken over; ends early once `isOver`, after one page at the earliest.
 */
async function takeOverPrices(
  records: Pick<RecordsStore, 'listPricesBetween' | 'record'>,
  vault: VaultOnChain,
  { generation, rebuild }: { readonly generation: number | undefined; readonly rebuild: Rebuild },
  isOver: () => boolean,
): Promise<{ rebuild: Rebuild; isDone: boolean }> {
  if (getProtocol(vault).books.pricedBy === 'valuations') return { rebuild, isDone: true }
  const [old, own] = [
    { ...vault, generation },
    { ...vault, generation: rebuild.generation },
  ]
  let { pricesThrough = -1n } = rebuild
  do {
    const page = await records.listPricesBetween(old, {
      from: pricesThrough + 1n,
      to: LAST_SECOND,
      most: PRICES_AT_ONCE,
    })
    const [first, last] = [page[0], page.at(-1)]
    if (!first || !last) return { rebuild: { ...rebuild, pricesThrough }, isDone: true }
    const known = new Set<bigint>()
    for (let from = startOfHour(first.timestamp); from <= last.timestamp; ) {
      const to = startOfHour(last.timestamp) + HOUR_SECONDS - 1n
      const told = await records.listPricesBetween(own, { from, to, most: PRICES_AT_ONCE })
      for (const { timestamp } of told) known.add(startOfHour(timestamp))
      const lastTold = told.length < PRICES_AT_ONCE ? to : (told.at(-1)?.timestamp ?? to)
      from = startOfHour(lastTold) + HOUR_SECONDS
    }
    const missing = page.filter(({ timestamp }) => !known.has(startOfHour(timestamp)))
    await records.record([{ vault: own, entries: [], prices: missing.map((price) => ({ ...price, blockNumber: 0n })) }])
    pricesThrough = last.timestamp
  } while (!isOver())
  return { rebuild: { ...rebuild, pricesThrough }, isDone: false }
}
/** Later than any price, of twelve digits. */
const LAST_SECOND = 999_999_999_999n

/** The progress of a vault with the new reading in force, whose records go as far as the old ones do. */
async function putInForce(
  records: Pick<RecordsStore, 'getPriceAt' | 'getFirstPrice'>,
  vault: VaultOnChain,
  progress: VaultProgress,
  { generation, booksVersion, through, timestamp, ledger, settledIds, waits, hasAsked }: Rebuild,
  now: number,
): Promise<VaultProgress> {
  const own = { ...vault, generation }
  const weekAgo =
    timestamp === undefined
      ? undefined
      : ((await records.getPriceAt(own, timestamp - YIELD_SECONDS)) ?? (await records.getFirstPrice(own)))
  const reading = { generation, booksVersion, through, timestamp, ledger, settledIds, waits, hasAsked }
  return { ...progress, ...reading, weekAgo, replacedAt: now }
}

/**
 * Deletes the records of earlier readings, once no answer is made of them any more. Returns the progress, which says so
 * when all are deleted; ends early once `isOver`.
 */
async function deleteReplaced(
  {
    records,
    openRequests,
  }: { records: Pick<RecordsStore, 'deleteEarlier'>; openRequests: Pick<OpenRequestsStore, 'deleteEarlier'> },
  vault: VaultOnChain,
  { replacedAt, ...progress }: VaultProgress,
  { now, isOver }: { readonly now: number; readonly isOver: () => boolean },
): Promise<VaultProgress> {
  const { generation } = progress
  const kept = { ...progress, replacedAt }
  if (replacedAt === undefined || generation === undefined || now < replacedAt + GRACE_MS) return kept
  const reading = { ...vault, generation }
  const isDeleted =
    (await openRequests.deleteEarlier(reading, isOver)) && (await records.deleteEarlier(reading, isOver))
  return isDeleted ? progress : kept
}
