import type { Address } from 'viem'
import { hasPossibleAmounts } from '../activity/fold.ts'
import { MAX_LATEST_NOTICES } from '../activity/latest-notice.ts'
import { type BlockHeader, readHashes } from '../chain/logs.ts'
import { logger } from '../core/logger.ts'
import type { VaultEvent } from '../protocols/books.ts'
import type { Notice } from '../webhooks/event.ts'
import { type AccountEntries, createAccountEntries } from './account-entries.ts'
import { createEntryReader } from './entries.ts'
import { type BlockHashes, buildRevertedNotice, toLatestNotice } from './latest-notices.ts'
import { publishVaultNotices } from './publish-notices.ts'
import { type BatchRange, canReadMore, hasBlocksLeft, planReads, readNextSlice } from './read-batches.ts'
import { deriveNewEntries, type Run, saveProgress, selectNewEvents, startVaultRun, type VaultRun } from './run.ts'
import { readSlice, SLICE_EVENTS } from './slice.ts'
import { collectBlockHashes, findNotices } from './slice-notices.ts'

/**
 * Maximum number of vaults that a run leaves out because they have too many events. Each costs about one call, so at
 * this number the run reads no more non-final events.
 */
const MAX_LEFT_OUT = 20

/**
 * Publishes events after the last final block to clients that want them. Events that revert others come first. Each
 * event is stored before it is published, so that a later run can revert it. Publishing an event twice changes nothing.
 */
export async function publishLatestEvents(run: Run, head: BlockHeader): Promise<void> {
  const { vaultRuns, final, records, openRequests, reader } = run
  if (head.number <= final.number) return
  // A failure to find the clients that want non-final events must not prevent the recording of final events.
  const wantsLatest = await run.getWantsLatest().catch((error: unknown) => {
    logger.warn('clients of non-final events not read', { chainId: reader.chain.id, reason: String(error) })
  })
  const wanted = vaultRuns.filter(
    ({ vault, progress, isRefused }) => wantsLatest?.(vault.address) && progress.through >= final.number && !isRefused,
  )
  const found: Latest[] = []
  for (const { vaultRun, events } of await readLatest(run, wanted, head)) {
    const posted = deriveNewEntries(vaultRun, selectNewEvents(vaultRun, events))
    if (!hasPossibleAmounts(posted)) continue
    const { vault, progress } = vaultRun
    const part = { vault, progress, events: posted.events, entries: posted.entries }
    const accounts = createAccountEntries(records, part)
    const notices: Notice[] = []
    const hashes = collectBlockHashes(posted.events)
    for await (const some of findNotices({ openRequests, accounts }, part, hashes)) notices.push(...some)
    found.push({ vaultRun, notices: notices.filter((notice) => !notice.final), hashes, accounts })
  }
  const gone = await findGone(run, found)
  const waiting = found.map(({ vaultRun, notices, hashes, accounts }) => {
    const { vault, progress } = vaultRun
    const { latest = [] } = progress
    const reverted = latest.filter(({ key }) => gone.has(key)).map((one) => buildRevertedNotice(vault, one))
    const known = new Set(latest.map(({ key }) => key))
    // A reorganisation can shorten the chain. The version of a payload must not fall, so that new payloads replace published ones.
    const version = Math.max(Number(head.number), ...latest.map((one) => one.version ?? 0))
    const unknown = notices.filter(({ key }) => !known.has(key))
    const added = unknown
      .flatMap((one) => toLatestNotice(one, hashes, version) ?? [])
      .slice(0, MAX_LATEST_NOTICES - latest.length)
    if (added.length > 0) vaultRun.progress = { ...progress, latest: [...latest, ...added] }
    const kept = new Set([...latest, ...added].map(({ key }) => key))
    const due = [...reverted, ...notices.filter(({ key }) => kept.has(key))]
    return { vaultRun, notices: due, accounts, known, version }
  })
  await saveProgress(
    run,
    waiting.map(({ vaultRun }) => vaultRun).filter(({ progress, saved }) => progress.latest !== saved?.latest),
  )
  const withEntries = createEntryReader(run, head.number)
  const published = await publishVaultNotices(
    run,
    await withEntries(waiting.filter(({ notices }) => notices.length > 0)),
  )
  const reverted = published
    .map(({ vaultRun }) => vaultRun)
    .filter(({ progress: { latest = [] } }) => latest.some(({ key }) => gone.has(key)))
  for (const vaultRun of reverted) {
    const { latest = [] } = vaultRun.progress
    vaultRun.progress = { ...vaultRun.progress, latest: latest.filter(({ key }) => !gone.has(key)) }
  }
  await saveProgress(run, reverted)
}

type Latest = {
  readonly vaultRun: VaultRun
  readonly notices: readonly Notice[]
  readonly hashes: BlockHashes
  readonly accounts: AccountEntries
}

/**
 * Finds the keys of published events whose blocks the chain no longer has. Published events that are also in `found`
 * still exist, so their blocks are not read. If the node does not know an event's block, the event counts as gone only
 * if its transaction is now in another block.
 */
async function findGone({ reader }: Run, found: readonly Latest[]): Promise<ReadonlySet<string>> {
  const missing = found.flatMap(({ vaultRun, notices }) => {
    const keys = new Set(notices.map(({ key }) => key))
    const transactions = new Set(notices.flatMap(({ data }) => ('transactionHash' in data ? data.transactionHash : [])))
    return (vaultRun.progress.latest ?? [])
      .filter(({ key }) => !keys.has(key))
      .map((one) => ({ ...one, isElsewhere: one.transactionHash ? transactions.has(one.transactionHash) : false }))
  })
  const hashes = await readHashes(
    reader,
    missing.map(({ blockNumber }) => BigInt(blockNumber)),
  )
  const isGone = ({ blockNumber, blockHash, isElsewhere }: (typeof missing)[number]) => {
    const now = hashes.get(BigInt(blockNumber))
    return now === undefined ? isElsewhere : now !== blockHash
  }
  return new Set(missing.filter(isGone).map(({ key }) => key))
}

type ReadLatest = { readonly vaultRun: VaultRun; readonly events: readonly VaultEvent[] }

/**
 * Reads these vaults' events after the last final block, in ranges that the nodes accept, until the run ends. If it has
 * SLICE_EVENTS events and has not reached the latest block, it drops the vault with the most events. It then continues
 * with the other vaults.
 */
async function readLatest(run: Run, wanted: readonly VaultRun[], head: BlockHeader): Promise<ReadLatest[]> {
  let events: VaultEvent[] = []
  const leftOut = new Set<Address>()
  // The following reads go beyond the recorded blocks, so each vault gets a separate copy of its recording progress.
  const ahead = wanted.map((vaultRun) => {
    const progress = { ...vaultRun.progress, through: Number(run.final.number) }
    return { vaultRun, latestRun: startVaultRun(vaultRun.vault, progress, undefined) }
  })
  const latestRuns = ahead.map(({ latestRun }) => latestRun)
  const isLeft = ({ vault }: VaultRun) => leftOut.has(vault.address)
  while (canReadMore(run) && leftOut.size < MAX_LEFT_OUT) {
    const ranges = planReads(
      { vaultRuns: latestRuns, final: head, separate: new Set() },
      latestRuns.filter((latestRun) => hasBlocksLeft(latestRun, head) && !isLeft(latestRun)),
      undefined,
    )
    if (ranges.length === 0) break
    if (events.length >= SLICE_EVENTS) {
      const noisiest = findNoisiest(events)
      leftOut.add(noisiest)
      events = events.filter(({ vault }) => vault !== noisiest)
      continue
    }
    const takeSlice = async ({ batch, from, to }: BatchRange) => {
      const vaults = batch.map(({ vault }) => vault)
      const slice = await readSlice(run, { ...run, vaults, from: BigInt(from), to: BigInt(to), final: head })
      const through = Number(slice.through)
      for (const latestRun of batch) {
        const isNew = ({ vault, location: { blockNumber } }: VaultEvent) =>
          vault === latestRun.vault.address && blockNumber > latestRun.progress.through
        events.push(...slice.events.filter(isNew))
        latestRun.progress = { ...latestRun.progress, through: Math.max(through, latestRun.progress.through) }
      }
      return through
    }
    await Promise.all(ranges.map((part) => readNextSlice(run, part, takeSlice)))
  }
  if (leftOut.size > 0) {
    const { chain } = run.reader
    logger.warn('vaults with too many non-final events not reported', {
      chainId: chain.id,
      vaults: [...leftOut],
    })
  }
  const found = Map.groupBy(events, ({ vault }) => vault)
  return ahead
    .filter(({ vaultRun }) => !isLeft(vaultRun))
    .map(({ vaultRun }) => ({
      vaultRun,
      events: found.get(vaultRun.vault.address) ?? [],
    }))
}

function findNoisiest(events: readonly VaultEvent[]): Address {
  const counts = [...Map.groupBy(events, ({ vault }) => vault)].map(([vault, { length }]) => ({ vault, length }))
  return counts.reduce((most, one) => (one.length > most.length ? one : most)).vault
}
