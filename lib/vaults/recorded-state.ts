import { createHash } from 'node:crypto'
import type { Evidence } from '../chain/evidence.ts'
import { type StateAsOf, VaultState } from '../protocols/vault-state.ts'

/** Stored state of a vault, with the block at which it was read. */
export type RecordedState = {
  readonly state: VaultState
  readonly asOf: Omit<StateAsOf, 'stale'>
  /** Hash of the block in `asOf`, and the number of RPC hosts that agree on the hash; absent in older items. */
  readonly told?: Pick<Evidence, 'blockHash' | 'nodes'> | undefined
}

/** Returns a hash of a vault's state; different states have different hashes. */
export function stateDigest(state: VaultState): string {
  return createHash('sha256')
    .update(JSON.stringify(VaultState.encode(state)))
    .digest('base64url')
    .slice(0, 22)
}
