import { MOST_LATEST, rememberNotice } from '../../../lib/activity/latest-notices.ts'
import { isPossible } from '../../../lib/activity/ledger.ts'
import { readSlice } from '../../../lib/activity/slice.ts'
import type { BlockHeader } from '../../../lib/chain/logs.ts'
import { AppError } from '../../../lib/errors.ts'
import { logger } from '../../../lib/logger.ts'
import type { Notice } from '../../../lib/webhooks/event.ts'
import { publishOf } from './publish-notices.ts'
import { postNew, type Run, save, type VaultRun } from './run.ts'
import { findNotices, hashesOf } from './slice-notices.ts'

/** How many vaults' events one call asks for. Geth takes 1,000 addresses, and a share token may have one of its own. */
const PACK = 500

/**
 * Tells clients that want it what happened after the last final block, up to the head. What is told is remembered before, so
 * that it can be taken back; told again, nobody is told twice.
 */
export async function publishLatest(run: Run, head: BlockHeader): Promise<void> {
  const { vaultRuns, final, records, openRequests, reader } = run
  if (head.number <= final.number) return
  const giveUp = (error: unknown) =>
    logger.warn('what is not final cannot be told', { chainId: reader.chain.id, reason: String(error) })
  // Whatever fails there: what is final is recorded all the same.
  const wantsLatest = await run.getWantsLatest().catch(giveUp)
  if (!wantsLatest) return
  try {
    const wanted = vaultRuns.filter(
      ({ vault, progress, isRefused }) =>
        wantsLatest(vault.address) &&
        progress.eventsAfter !== undefined &&
        progress.through >= final.number &&
        !isRefused,
    )
    for (
      let pack = wanted.slice(0, PACK), next = PACK;
      pack.length > 0;
      pack = wanted.slice(next, next + PACK), next += PACK
    ) {
      const vaults = pack.map(({ vault }) => vault)
      const slice = await readSlice(run, { ...run, vaults, from: final.number + 1n, to: head.number, final: head })
      const events = Map.groupBy(slice.events, ({ vault }) => vault)
      const waiting: { readonly vaultRun: VaultRun; readonly notices: readonly Notice[] }[] = []
      for (const vaultRun of pack) {
        const posted = postNew(vaultRun, events.get(vaultRun.vault.address) ?? [])
        if (posted.events.length === 0 || !isPossible(posted)) continue
        const { vault, progress } = vaultRun
        const part = { vault, progress, events: posted.events, entries: posted.entries }
        const notices: Notice[] = []
        const options = { isPublished: true, hashes: hashesOf(posted.events) }
        for await (const some of findNotices({ records, openRequests }, part, options)) notices.push(...some)
        const { latest = [] } = progress
        const known = new Set(latest.map(({ key }) => key))
        const unknown = notices.filter(({ key }) => !known.has(key)).flatMap((notice) => rememberNotice(notice) ?? [])
        const added = unknown.slice(0, MOST_LATEST - latest.length)
        for (const { key } of added) known.add(key)
        if (added.length > 0) vaultRun.progress = { ...progress, latest: [...latest, ...added] }
        waiting.push({ vaultRun, notices: notices.filter(({ key, final }) => !final && known.has(key)) })
      }
      await save(
        run,
        waiting.map(({ vaultRun }) => vaultRun).filter(({ progress, saved }) => progress.latest !== saved?.latest),
      )
      await publishOf(
        run,
        waiting.filter(({ notices }) => notices.length > 0),
      )
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    giveUp(error)
  }
}
