import type { Address } from 'viem'
import { type Posted, postEvents } from '../activity/fold.ts'
import type { OpenRequestsStore } from '../activity/open-requests-store.ts'
import type { RecordingStore, VaultProgress } from '../activity/store.ts'
import type { BlockHeader } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { AppError } from '../errors.ts'
import { logger } from '../logger.ts'
import type { VaultEvent } from '../protocols/books.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { HOUR_MS, HOUR_SECONDS, MINUTE_MS } from '../time.ts'
import type { Yields } from '../vaults/apy.ts'
import type { BlockPrice, NewPrices } from '../vaults/prices.ts'
import type { RecordedState } from '../vaults/recorded-state.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { Notice } from '../webhooks/event.ts'

/** The services of a run. */
export type Dependencies = {
  readonly reader: ChainReader
  readonly records: Pick<RecordingStore, 'getProgress' | 'putProgress' | 'record' | 'listEntries'>
  readonly prices: { readonly record: (added: readonly NewPrices[]) => Promise<void> }
  readonly openRequests: OpenRequestsStore
  readonly states: { readonly record: (states: readonly (readonly [VaultKey, RecordedState])[]) => Promise<void> }
  /** Publishes notices to clients. If it throws, the same notices may be published again. */
  readonly publish: (notices: readonly Notice[]) => Promise<void>
  /** Finds a vault's yields up to a price at a moment. */
  readonly getYield: (vault: VaultKey, sharePrice: bigint, at: Date) => Promise<Yields>
  /** Finds the vaults whose clients want non-final events. */
  readonly getWantsLatest: () => Promise<(vault: Address) => boolean>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** A vault in a run. */
export type VaultRun = {
  readonly vault: VaultOnChain
  /** How far it is recorded, and how far the table has it. */
  progress: VaultProgress
  saved: VaultProgress | undefined
  /** True if another run has written its progress: this run writes and reports nothing more of it. */
  isTaken: boolean
  /** True if its events cannot be read or recorded in this run. */
  isRefused: boolean
  /** Maximum number of blocks in one read. */
  span: number
  /** True if more blocks took too long: `span` no longer grows in this run. */
  isSlow: boolean
}

/** A run over vaults of a chain: what it works with, and what it has done so far. */
export type Run = Dependencies & {
  /** The moment, in epoch milliseconds, after which nothing more is begun. */
  readonly until: number
  /** Number of the run, from the clock; it selects the vaults whose turn it is. */
  readonly number: number
  readonly vaultRuns: readonly VaultRun[]
  /** The last final block: the run records up to it. */
  readonly final: BlockHeader
  /** The vaults of which new states and silent progress are written in this run. */
  readonly inTurn: ReadonlySet<VaultRun>
  /** The vaults that are read by themselves, in the order of their turns. */
  readonly apart: Set<VaultRun>
  readonly failures: AppError[]
  /** Older prices are not read in this run; seconds since 1970. */
  pricesSince: bigint
  /** Vaults with notices that could not be published. Recent events of them are not recorded either. */
  readonly unpublished: Set<VaultRun>
  /** True if the table of webhooks or the queue of deliveries cannot be reached: nothing more is published. */
  isCutOff: boolean
  /** Table requests that the run may still make for the entries of events. */
  readonly entryQueries: { left: number }
  readonly done: { slices: number; entries: number; prices: number; states: number }
}

/** The progress of a silent vault is written once the stored one is this old. */
const SILENT_SECONDS = 600n
/** A run writes new states and silent progress of this many vaults; more vaults take turns. */
const MAX_IN_TURN = 250

/** Starts a vault in a run, before anything is read. */
export function startVaultRun(
  vault: VaultOnChain,
  progress: VaultProgress,
  saved: VaultProgress | undefined,
): VaultRun {
  return { vault, progress, saved, isTaken: false, isRefused: false, span: Number.POSITIVE_INFINITY, isSlow: false }
}

/**
 * The number of the run that begins now: minutes since 1970. It skips one each hour, so that runs every other minute also come to
 * every vault.
 */
export function numberOfRun(now: number): number {
  return Math.floor(now / MINUTE_MS) + Math.floor(now / HOUR_MS)
}

/** The vaults whose states and silent progress this run writes: all if they are few, else each in turn. */
export function vaultRunsInTurn(vaultRuns: readonly VaultRun[], number: number): ReadonlySet<VaultRun> {
  const turns = Math.max(1, Math.ceil(vaultRuns.length / MAX_IN_TURN))
  return new Set(vaultRuns.filter((_, index) => index % turns === number % turns))
}

/** Values and folds a vault's new events, also by these newly read prices. */
export function postNew(
  { vault, progress }: VaultRun,
  events: readonly VaultEvent[],
  read: readonly BlockPrice[] = [],
): Posted {
  const { ledger, lastPrices = [] } = progress
  return postEvents(vault, { ledger, lastPrices: [...lastPrices, ...read] }, events)
}

/** Those of a vault's events that are not recorded yet. */
export function newEvents({ progress }: VaultRun, all: readonly VaultEvent[] = []): readonly VaultEvent[] {
  return all.filter(({ location }) => location.blockNumber > BigInt(progress.through))
}

/** Writes how far these vaults are recorded. Leaves those that another run has written since to that run. */
export async function save(run: Run, vaultRuns: readonly VaultRun[]): Promise<void> {
  const own = vaultRuns.filter(({ isTaken }) => !isTaken)
  if (own.length === 0) return
  const stored = await run.records.putProgress(own.map(({ vault, progress }) => [vault, progress]))
  for (const [index, vaultRun] of own.entries()) {
    const progress = stored[index]
    if (progress) Object.assign(vaultRun, { progress, saved: progress })
    else vaultRun.isTaken = true
  }
  const taken = own.filter(({ isTaken }) => isTaken)
  if (taken.length > 0) refuse(run, taken, 'another run has recorded them')
}

/** The vaults whose progress has changed without an event, and is due to be written. */
export function listUnsaved({ vaultRuns, final, inTurn }: Run): VaultRun[] {
  return vaultRuns.filter((vaultRun) => {
    const { progress, saved, isTaken } = vaultRun
    if (progress === saved || isTaken) return false
    if (progress.paused !== saved?.paused) return true
    if (saved?.timestamp === undefined || progress.timestamp === undefined) return true
    if (progress.state !== saved.state || progress.refreshedAt !== saved.refreshedAt) return true
    // A past takes long to read, so its progress is written sooner.
    const isSilent = !inTurn.has(vaultRun) && progress.through >= Number(final.number)
    return progress.timestamp - saved.timestamp >= (isSilent ? HOUR_SECONDS : SILENT_SECONDS)
  })
}

/** Leaves vaults for the next run. */
export function refuse({ reader }: Run, vaultRuns: readonly VaultRun[], reason: string): void {
  for (const vaultRun of vaultRuns) vaultRun.isRefused = true
  logger.warn('events of vaults cannot be read or recorded now', {
    chainId: reader.chain.id,
    vaults: vaultRuns.map(({ vault }) => vault.address),
    through: Math.min(...vaultRuns.map(({ progress }) => progress.through)),
    reason,
  })
}
