import type { VaultOnChain } from '../../protocols/vault-on-chain.ts'
import { initialProgress, type RecordsStore, type VaultProgress } from '../store.ts'
import type { RunsStore } from './runs-store.ts'
import { groupOf } from './vault-groups.ts'

/** How long the lease lasts, and how long and how often it is asked for while the job has it. */
const LEASE_MS = 90_000
const PATIENCE_MS = 5 * 60_000
const RETRY_MS = 1_000
/** The lease is of the vaults whose addresses begin with the same 8 bits: it holds up few, and a chain has 256 such leases at most. */
const GROUP_BITS = 8

/**
 * A new reading of a vault's past, as a generation of its own, later than all before, with nothing of an unfinished one.
 * The job goes on with it, and puts it in force. `now` in epoch milliseconds.
 */
export function beginRebuild(
  vault: VaultOnChain,
  progress: VaultProgress,
  now: number,
): NonNullable<VaultProgress['rebuild']> {
  return { ...initialProgress(vault), generation: nextGeneration(progress, now) }
}

/**
 * The progress of a vault when its first client is given it, of which no events up to a block are told: nothing is recorded, by a
 * generation later than all before. Where the vault was left with a progress, what that recorded is deleted once this one goes as far
 * as that block.
 * `now` in epoch milliseconds.
 */
export function beginVault(
  vault: Parameters<typeof initialProgress>[0],
  left: VaultProgress | undefined,
  { eventsAfter, now }: { readonly eventsAfter: number; readonly now: number },
): VaultProgress {
  const begun = { ...initialProgress(vault), generation: nextGeneration(left, now), eventsAfter }
  return left ? { ...begun, replacedAt: now } : begun
}

function nextGeneration(progress: VaultProgress | undefined, now: number): number {
  const { generation = 0, rebuild } = progress ?? {}
  return Math.max(now, generation + 1, (rebuild?.generation ?? 0) + 1)
}

type Dependencies = {
  readonly records: Pick<RecordsStore, 'getProgress' | 'putProgress'>
  readonly runs: Pick<RunsStore, 'takeLease' | 'releaseLease'>
  /** Epoch milliseconds. */
  readonly now: () => number
  readonly sleep: (milliseconds: number) => Promise<unknown>
}

/**
 * Has the job read a vault's past again, whatever version of the books it was recorded by; an unfinished reading begins
 * anew. Throws an Error where nothing is recorded of the vault, or the job never leaves the chain.
 */
export async function requestRebuild({ records, runs, now, sleep }: Dependencies, vault: VaultOnChain): Promise<void> {
  const of = { chainId: vault.chainId, group: groupOf(vault.address, GROUP_BITS) }
  const owner = `rebuild ${now()}`
  const giveUpAt = now() + PATIENCE_MS
  // The job writes progress with the lease alone, so that neither overwrites what the other has written.
  while ((await runs.takeLease(of, owner, { now: now(), until: now() + LEASE_MS })) === undefined) {
    if (now() > giveUpAt) throw new Error('The job does not leave the chain. Try again later.')
    await sleep(RETRY_MS)
  }
  try {
    const [progress] = await records.getProgress([vault])
    if (!progress || progress.through < vault.firstBlock)
      throw new Error('Nothing is recorded of the vault yet: the job reads its past.')
    await records.putProgress([[vault, { ...progress, rebuild: beginRebuild(vault, progress, now()) }]])
  } finally {
    await runs.releaseLease(of, owner)
  }
}
