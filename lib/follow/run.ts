import type { Address } from 'viem'
import { type EventsWithEntries, valueAndDeriveEntries } from '../activity/fold.ts'
import type { OpenRequestsStore } from '../activity/open-requests-store.ts'
import type { RecordingStore, VaultProgress } from '../activity/store.ts'
import type { BlockHeader } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { AppError } from '../core/errors.ts'
import { logger } from '../core/logger.ts'
import { HOUR_MS, HOUR_SECONDS, MINUTE_MS } from '../core/time.ts'
import type { VaultEvent } from '../protocols/books.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import type { Yields } from '../vaults/apy.ts'
import type { BlockPrice, NewPrices } from '../vaults/prices.ts'
import type { RecordedState } from '../vaults/recorded-state.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { Notice } from '../webhooks/event.ts'

/** Services that a run of the scheduled job needs. */
export type RunServices = {
  readonly reader: ChainReader
  readonly records: Pick<RecordingStore, 'getProgress' | 'putProgress' | 'record' | 'listEntries'>
  readonly prices: { readonly record: (added: readonly NewPrices[]) => Promise<void> }
  readonly openRequests: OpenRequestsStore
  readonly states: { readonly record: (states: readonly (readonly [VaultKey, RecordedState])[]) => Promise<void> }
  /** Publishes webhook events to clients. After an error, the same events may be published again. */
  readonly publish: (notices: readonly Notice[]) => Promise<void>
  /** Computes a vault's yields from its recorded prices up to the time `at`, when its price is `sharePrice`. */
  readonly getYield: (vault: VaultKey, sharePrice: bigint, at: Date) => Promise<Yields>
  /** Returns a function that is true for a vault if one of its clients wants events of non-final blocks. */
  readonly getWantsLatest: () => Promise<(vault: Address) => boolean>
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
}

/** Vault and its state in a run of the scheduled job. */
export type VaultRun = {
  readonly vault: VaultOnChain
  /** Vault's recording progress in this run, and the progress as stored (`saved`). */
  progress: VaultProgress
  saved: VaultProgress | undefined
  /** True if another run has written the vault's recording progress, so this run no longer writes or reports it. */
  isTaken: boolean
  isRefused: boolean
  span: number
  /** True if a read took too long. `span`, the number of blocks per read, then no longer grows in this run. */
  isSlow: boolean
}

/** Run of the scheduled job over vaults of a chain: its services and state. */
export type Run = RunServices & {
  /** Epoch milliseconds after which the run starts no further read. */
  readonly until: number
  /** Number of the run, computed from the clock. It decides which vaults take their turn in this run. */
  readonly number: number
  readonly vaultRuns: readonly VaultRun[]
  /** Last final block, up to which the run records events. */
  readonly final: BlockHeader
  /**
   * Vaults whose turn it is; with more than 250 vaults, each run takes only some. The run writes their changed states,
   * and their recording progress even if they had no events.
   */
  readonly inTurn: ReadonlySet<VaultRun>
  /** Vaults with many events. They are read separately from the other vaults, in this order. */
  readonly separate: Set<VaultRun>
  readonly failures: AppError[]
  /** Earliest block time, in seconds since 1970, for which the run still tries to read share prices. */
  pricesSince: bigint
  /** Vaults whose webhook events could not be published. Their recent events are not recorded either, so the next run tries again. */
  readonly unpublished: Set<VaultRun>
  /** True if the webhooks table or the delivery queue is unreachable. The run then publishes no further events. */
  isCutOff: boolean
  /** Number of table requests left to this run for reading the deposits and withdrawals of webhook events. */
  readonly entryQueries: { left: number }
  readonly done: { slices: number; entries: number; prices: number; states: number }
}

/**
 * Age, in seconds, at which a vault's stored recording progress is written again although the vault had no events. For
 * a vault whose turn it is not (`inTurn`), the age is an hour.
 */
const SILENT_SECONDS = 600n
/** Maximum number of vaults whose turn it is in one run. If there are more vaults, each gets its turn in a later run. */
const MAX_IN_TURN = 250

/** Builds the state of a vault for a run that starts. */
export function startVaultRun(
  vault: VaultOnChain,
  progress: VaultProgress,
  saved: VaultProgress | undefined,
): VaultRun {
  return { vault, progress, saved, isTaken: false, isRefused: false, span: Number.POSITIVE_INFINITY, isSlow: false }
}

/**
 * Returns the number of the run that starts now: minutes since 1970, plus hours since 1970. The hours give each vault
 * its turn even if a run starts only every other minute.
 */
export function computeRunNumber(now: number): number {
  return Math.floor(now / MINUTE_MS) + Math.floor(now / HOUR_MS)
}

/** Selects the vaults whose turn it is in this run: all if they are few, else a different group in each run. */
export function selectVaultRunsInTurn(vaultRuns: readonly VaultRun[], number: number): ReadonlySet<VaultRun> {
  const turns = Math.max(1, Math.ceil(vaultRuns.length / MAX_IN_TURN))
  return new Set(vaultRuns.filter((_, index) => index % turns === number % turns))
}

/**
 * Values a vault's new events by its last known prices and by the prices `read` in this run. Derives the accounts'
 * ledger entries from these events.
 */
export function deriveNewEntries(
  { vault, progress }: VaultRun,
  events: readonly VaultEvent[],
  read: readonly BlockPrice[] = [],
): EventsWithEntries {
  const { ledger, lastPrices = [] } = progress
  return valueAndDeriveEntries(vault, { ledger, lastPrices: [...lastPrices, ...read] }, events)
}

/** Returns a vault's events after its last recorded block. */
export function selectNewEvents({ progress }: VaultRun, all: readonly VaultEvent[] = []): readonly VaultEvent[] {
  return all.filter(({ location }) => location.blockNumber > BigInt(progress.through))
}

/**
 * Writes the recording progress of these vaults. A vault whose progress another run has written meanwhile is left to
 * that run.
 */
export async function saveProgress(run: Run, vaultRuns: readonly VaultRun[]): Promise<void> {
  const own = vaultRuns.filter(({ isTaken }) => !isTaken)
  if (own.length === 0) return
  const stored = await run.records.putProgress(own.map(({ vault, progress }) => [vault, progress]))
  for (const [index, vaultRun] of own.entries()) {
    const progress = stored[index]
    if (progress) Object.assign(vaultRun, { progress, saved: progress })
    else vaultRun.isTaken = true
  }
  const taken = own.filter(({ isTaken }) => isTaken)
  if (taken.length > 0) leaveForNextRun(run, taken, 'another run has recorded them')
}

/** Lists the vaults whose changed recording progress must be written now. */
export function listUnsavedVaultRuns({ vaultRuns, final, inTurn }: Run): VaultRun[] {
  return vaultRuns.filter((vaultRun) => {
    const { progress, saved, isTaken } = vaultRun
    if (progress === saved || isTaken) return false
    if (progress.paused !== saved?.paused) return true
    if (saved?.timestamp === undefined || progress.timestamp === undefined) return true
    if (progress.state !== saved.state || progress.refreshedAt !== saved.refreshedAt) return true
    // A vault that is recorded up to the final block, and whose turn it is not, is written only once an hour. Any other
    // vault is written after SILENT_SECONDS, so that a later run does not repeat its reads.
    const isSilent = !inTurn.has(vaultRun) && progress.through >= Number(final.number)
    return progress.timestamp - saved.timestamp >= (isSilent ? HOUR_SECONDS : SILENT_SECONDS)
  })
}

/** Leaves the remaining events of these vaults to the next run, and logs the reason. */
export function leaveForNextRun({ reader }: Run, vaultRuns: readonly VaultRun[], reason: string): void {
  for (const vaultRun of vaultRuns) vaultRun.isRefused = true
  logger.warn('events of vaults cannot be read or recorded now', {
    chainId: reader.chain.id,
    vaults: vaultRuns.map(({ vault }) => vault.address),
    through: Math.min(...vaultRuns.map(({ progress }) => progress.through)),
    reason,
  })
}
