import type { LedgerEntry } from '../ledger-entry.ts'

/** What a run knows of a vault: all that happened in it up to a block, recorded or read at the head. */
export type KnownVault = {
  /** The last block whose events are recorded, by the reading that is in force, and the last whose events are known. */
  readonly recorded: number
  readonly generation: number | undefined
  readonly through: number
  /** What happened between the two. */
  readonly entries: readonly LedgerEntry[]
}
