import type { LedgerEntry } from '../protocols/ledger-entry.ts'

/** What a run knows of a vault: all that happened in it up to a block, recorded or read at the head. */
export type KnownVault = {
  /** The last block whose events are recorded, and the last whose events are known. */
  readonly recorded: number
  readonly through: number
  /** What happened between the two. */
  readonly entries: readonly LedgerEntry[]
}
