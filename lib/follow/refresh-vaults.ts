import { computeLagSeconds } from '../activity/lag.ts'
import { initialProgress } from '../activity/store.ts'
import { readAtHead, readFinalBlock } from '../chain/finality.ts'
import { logger } from '../core/logger.ts'
import { toResult, unwrap } from '../core/result.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { readOverviews } from '../vaults/overview.ts'
import { computeMaxAccountReads } from './entries.ts'
import { publishLatestEvents } from './publish-latest.ts'
import { publishPauses } from './publish-pauses.ts'
import { recordEvents } from './record-events.ts'
import { recordOverviews } from './record-overviews.ts'
import {
  computeRunNumber,
  listUnsavedVaultRuns,
  type Run,
  type RunServices,
  saveProgress,
  selectVaultRunsInTurn,
  startVaultRun,
} from './run.ts'
import { takeSnapshots } from './snapshot-requests.ts'

/**
 * Records the events of a chain's vaults up to the last final block, and the vaults' states. Ends when done or at
 * `until`, in epoch milliseconds. Returns the report. Works in ranges of blocks: writes prices and events, publishes
 * webhook events, then writes the last recorded block. The next run therefore continues where this run ends. Leaves a
 * vault for the next run if the nodes refuse its events or another run has recorded it. Throws `upstream_*` if nothing
 * could be read.
 */
export async function refreshVaults(dependencies: RunServices, vaults: readonly VaultOnChain[], until: number) {
  const { reader, records } = dependencies
  const chainId = reader.chain.id
  const finding = readFinalBlock(reader)
  // With two hosts, states are read at a block that both hosts have, because their latest blocks differ.
  const snapshotRead =
    reader.nodes > 1
      ? finding.then(({ head }) => readAtHead(reader, head, (at) => readOverviews(reader, vaults, at)))
      : readOverviews(reader, vaults)
  const [recorded, { head, final }, overviews] = await Promise.all([
    records.getProgress(vaults),
    finding,
    // A failed read of vault states must not prevent the recording of events.
    snapshotRead.catch((error: unknown) => {
      logger.warn('states not read', { chainId, reason: String(error) })
      return undefined
    }),
  ])
  const vaultRuns = vaults.map((vault, index) => {
    const saved = recorded[index]
    return startVaultRun(vault, saved ?? initialProgress(vault), saved)
  })
  const number = computeRunNumber(dependencies.now())
  // Webhook events cover only blocks after the job's first run with a vault, even if earlier events are read later.
  for (const vaultRun of vaultRuns) {
    vaultRun.progress = { eventsAfter: Number(final.number), ...vaultRun.progress }
  }
  const run: Run = {
    ...dependencies,
    until,
    number,
    vaultRuns,
    final,
    inTurn: selectVaultRunsInTurn(vaultRuns, number),
    separate: new Set(),
    failures: [],
    pricesSince: 0n,
    unpublished: new Set(),
    isCutOff: false,
    entryQueries: { left: computeMaxAccountReads(vaults.length) },
    done: { slices: 0, entries: 0, prices: 0, states: 0 },
  }
  await saveProgress(
    run,
    vaultRuns.filter(({ saved }) => saved?.eventsAfter === undefined),
  )
  await recordEvents(run)
  if (overviews && overviews.block.number > final.number) await recordOverviews(run, overviews)
  // Events in non-final blocks are published before pauses, because pauses were read at the chain's latest block.
  const latest = await toResult(publishLatestEvents(run, head))
  if (overviews) await publishPauses(run, overviews)
  await saveProgress(run, listUnsavedVaultRuns(run))
  unwrap(latest)
  await takeSnapshots(run)

  const [front] = vaultRuns
    .map(({ progress }) => progress)
    .filter(({ timestamp }) => timestamp !== undefined)
    .toSorted((left, right) => right.through - left.through)
  const reached = Math.min(front?.through ?? 0, Number(final.number))
  const { entries, prices, states } = run.done
  return {
    vaults: vaults.length,
    through: front?.through ?? null,
    behind: vaultRuns.filter(({ progress }) => progress.through < reached).length,
    lagSeconds: computeLagSeconds(run.reader.chain, {
      recorded: front?.timestamp ?? head.timestamp,
      head,
      now: run.now(),
    }),
    entries,
    prices,
    states,
    unreportedVaults: run.unpublished.size,
  }
}
