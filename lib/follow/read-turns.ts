import { BATCH_DISTANCE_BLOCKS } from '../activity/events.ts'
import { inBatches } from '../batches.ts'
import type { BlockHeader } from '../chain/logs.ts'
import { AppError } from '../errors.ts'
import { toResult } from '../result.ts'
import { type Run, refuse, type VaultRun } from './run.ts'

/** How many vaults' events one call asks for. Geth takes 1,000 addresses, and a share token may have one of its own. */
const PACK = 500
/** How many packs of vaults that have caught up are read side by side. */
const PACKS_AT_ONCE = 4
/** By which factors the range of a vault shrinks when its events cannot be read, and grows again when they can. */
const SHRINK = 1_000
const GROW = 10
/** After so many failures a run asks no more. */
const MAX_FAILURES = 100
/** A range whose events took too long is taken as this long at most, and asked for again in so many parts. */
const SLOW_PARTS = 10
const MAX_SLOW = 100_000
/** Into how many parts vaults are divided, read side by side, to find those at fault. */
const DIVIDED = 8

/** Vaults whose events are read together, and the blocks, both included. */
export type Part = { readonly pack: readonly VaultRun[]; readonly from: number; readonly to: number }

/** Whether a run may ask for more events: not after its time, nor after too many failures. */
export function mayReadOn({ now, until, failures }: Run): boolean {
  return now() < until && failures.length < MAX_FAILURES
}

/** Whether there is more to be read of a vault, up to this block. */
export function isOpen({ progress, isRefused }: VaultRun, { number }: BlockHeader): boolean {
  return progress.through < number && !isRefused
}

/**
 * What is read next, side by side: the vaults that have caught up; of those whose past is still being read the ones that
 * are recorded least far, up to where the next one is, which then joins them; and one of those that are read apart.
 */
export function planTurn(
  { vaultRuns, final, apart }: Pick<Run, 'vaultRuns' | 'final' | 'apart'>,
  open: readonly VaultRun[],
  alone: VaultRun | undefined,
): Part[] {
  const last = Number(final.number)
  const throughOf = ({ progress }: VaultRun) => progress.through
  const front = Math.max(0, ...vaultRuns.map((vaultRun) => Math.min(throughOf(vaultRun), last)))
  const together = open.filter((vaultRun) => !apart.has(vaultRun))
  const current = together.filter((vaultRun) => throughOf(vaultRun) > front - BATCH_DISTANCE_BLOCKS)
  const behind = together.filter((vaultRun) => throughOf(vaultRun) <= front - BATCH_DISTANCE_BLOCKS)
  const reach = Math.min(front, ...behind.map(throughOf)) + BATCH_DISTANCE_BLOCKS
  const next = Math.min(last, ...behind.map(throughOf).filter((through) => through >= reach))
  const packs = inBatches(current, PACK).slice(0, PACKS_AT_ONCE)
  return [
    ...packs.map((pack) => ({ pack, end: last })),
    { pack: behind.filter((vaultRun) => throughOf(vaultRun) < reach).slice(0, PACK), end: next },
    { pack: alone ? [alone] : [], end: last },
  ]
    .filter(({ pack }) => pack.length > 0)
    .map(({ pack, end }) => {
      const from = Math.min(...pack.map(throughOf)) + 1
      return { pack, from, to: Math.min(end, from + Math.min(...pack.map(({ span }) => span)) - 1) }
    })
}

/**
 * Takes a slice of a part, which gives its last block. Where that fails fewer blocks are asked for at the next turn if it
 * took too long, else fewer vaults at once, and fewer blocks of the one at fault; what cannot be read so either is left for
 * the next run. Nothing is begun after the run's time, or after too many failures.
 */
export async function advance(run: Run, part: Part, take: (part: Part) => Promise<number>): Promise<void> {
  const { pack, from, to } = part
  if (!mayReadOn(run)) return
  const slice = await toResult(take(part))
  if ('value' in slice) {
    const through = slice.value
    run.done.slices += 1
    for (const vaultRun of pack) {
      // Where events are dense, the next slice asks for about as many blocks as this one had.
      if (!vaultRun.isSlow) vaultRun.span = through < to ? through - from + 1 : vaultRun.span * GROW
    }
    return
  }
  const { error } = slice
  run.failures.push(error)
  // Of two hosts one may be silent because it was asked for too much.
  const { code } = error.code === 'second_node_silent' && error.cause instanceof AppError ? error.cause : error
  if (code === 'upstream_unavailable' || (pack.length === 1 && to === from)) {
    refuse(run, pack, String(error.cause))
  } else if (code === 'upstream_timeout' && to > from) {
    const span = Math.ceil(Math.min(to - from, MAX_SLOW) / SLOW_PARTS)
    for (const vaultRun of pack) Object.assign(vaultRun, { isSlow: true, span })
  } else if (pack.length > 1) {
    // Not the blocks were too many, but those of one vault among them are.
    for (const vaultRun of pack) vaultRun.isSlow = false
    const parts = inBatches(pack, Math.ceil(pack.length / DIVIDED))
    await Promise.all(parts.map((some) => advance(run, { ...part, pack: some }, take)))
  } else {
    for (const vaultRun of pack) vaultRun.span = Math.ceil((to - from) / SHRINK)
  }
}
