import type { LedgerEntry } from '../protocols/ledger-entry.ts'

/** A vault's events as a run knows them: all up to a block, recorded or read at the head. */
export type KnownVault = {
  /** The last block whose events are recorded, and the last whose events are known. */
  readonly recorded: number
  readonly through: number
  /** The entries between the two. */
  readonly entries: readonly LedgerEntry[]
}
