import { MAX_BLOCKS_PER_BATCH } from '../activity/events.ts'
import type { BlockHeader } from '../chain/logs.ts'
import { inBatches } from '../core/batches.ts'
import { AppError } from '../core/errors.ts'
import { toResult } from '../core/result.ts'
import { leaveForNextRun, type Run, type VaultRun } from './run.ts'

/**
 * Maximum number of vaults in one call for events. Geth accepts 1,000 addresses per call, and each vault may have a separate share token.
 */
const BATCH_SIZE = 500
/** Maximum number of batches of vaults without backlog that are read in parallel. */
const MAX_BATCHES = 4
/**
 * Divisor of the number of blocks per read, after a read of a single vault has failed for another reason than a
 * timeout.
 */
const SHRINK = 1_000
/** Factor by which the number of blocks per read grows after a successful read. */
const GROW = 10
const MAX_FAILURES = 100
/** Divisor of the number of blocks after a read that took too long. The next read then has at most 10,000 blocks. */
const SLOW_PARTS = 10
const MAX_SLOW = 100_000
/** Number of parts of a failed batch, read in parallel to find the vault at fault. */
const FAILED_PARTS = 8

/** Vaults whose events are read together, and their range of blocks, both ends included. */
export type BatchRange = { readonly batch: readonly VaultRun[]; readonly from: number; readonly to: number }

/** Returns true if a run has time left and has not had too many failures. */
export function canReadMore({ now, until, failures }: Run): boolean {
  return now() < until && failures.length < MAX_FAILURES
}

/** Returns true if a vault has blocks left to read, up to the given block. */
export function hasBlocksLeft({ progress, isRefused }: VaultRun, { number }: BlockHeader): boolean {
  return progress.through < number && !isRefused
}

/**
 * Plans the next reads of events, all in parallel. First, all vaults without backlog. Second, the vaults that lag most,
 * up to the block where the next vault joins them. Third, one vault with many events, separately.
 */
export function planReads(
  { vaultRuns, final, separate }: Pick<Run, 'vaultRuns' | 'final' | 'separate'>,
  open: readonly VaultRun[],
  noisyVault: VaultRun | undefined,
): BatchRange[] {
  const last = Number(final.number)
  const throughOf = ({ progress }: VaultRun) => progress.through
  const front = Math.max(0, ...vaultRuns.map((vaultRun) => Math.min(throughOf(vaultRun), last)))
  const together = open.filter((vaultRun) => !separate.has(vaultRun))
  const current = together.filter((vaultRun) => throughOf(vaultRun) > front - MAX_BLOCKS_PER_BATCH)
  const behind = together.filter((vaultRun) => throughOf(vaultRun) <= front - MAX_BLOCKS_PER_BATCH)
  const reach = Math.min(front, ...behind.map(throughOf)) + MAX_BLOCKS_PER_BATCH
  const next = Math.min(last, ...behind.map(throughOf).filter((through) => through >= reach))
  const inRange = inBatches(current, BATCH_SIZE).slice(0, MAX_BATCHES)
  return [
    ...inRange.map((batch) => ({ batch, end: last })),
    { batch: behind.filter((vaultRun) => throughOf(vaultRun) < reach).slice(0, BATCH_SIZE), end: next },
    { batch: noisyVault ? [noisyVault] : [], end: last },
  ]
    .filter(({ batch }) => batch.length > 0)
    .map(({ batch, end }) => {
      const from = Math.min(...batch.map(throughOf)) + 1
      return { batch, from, to: Math.min(end, from + Math.min(...batch.map(({ span }) => span)) - 1) }
    })
}

/**
 * Reads the next events of these vaults. `take` processes the events and returns the last processed block. After a
 * timeout, the next read has fewer blocks. After another failure, reads smaller groups of vaults, then fewer blocks of
 * the vault at fault. Leaves a vault that still fails for the next run. Does nothing once the run is out of time or has
 * too many failures.
 */
export async function readNextSlice(
  run: Run,
  part: BatchRange,
  take: (part: BatchRange) => Promise<number>,
): Promise<void> {
  const { batch, from, to } = part
  if (!canReadMore(run)) return
  const slice = await toResult(take(part))
  if ('value' in slice) {
    const through = slice.value
    run.done.slices += 1
    for (const vaultRun of batch) {
      // Many events end a read early. The next read then covers only as many blocks as this read did.
      if (!vaultRun.isSlow) vaultRun.span = through < to ? through - from + 1 : vaultRun.span * GROW
    }
    return
  }
  const { error } = slice
  run.failures.push(error)
  // `second_node_silent` only says that a second host gave no result. The cause is that host's own error, for example a
  // timeout.
  const { code } = error.code === 'second_node_silent' && error.cause instanceof AppError ? error.cause : error
  if (code === 'upstream_unavailable' || (batch.length === 1 && to === from)) {
    leaveForNextRun(run, batch, String(error.cause))
  } else if (code === 'upstream_timeout' && to > from) {
    const span = Math.ceil(Math.min(to - from, MAX_SLOW) / SLOW_PARTS)
    for (const vaultRun of batch) Object.assign(vaultRun, { isSlow: true, span })
  } else if (batch.length > 1) {
    // The read failed because of one vault, so the range of blocks was not too long for the other vaults.
    for (const vaultRun of batch) vaultRun.isSlow = false
    const parts = inBatches(batch, Math.ceil(batch.length / FAILED_PARTS))
    await Promise.all(parts.map((some) => readNextSlice(run, { ...part, batch: some }, take)))
  } else {
    for (const vaultRun of batch) vaultRun.span = Math.ceil((to - from) / SHRINK)
  }
}
