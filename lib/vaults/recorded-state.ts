import { createHash } from 'node:crypto'
import type { Evidence } from '../chain/evidence.ts'
import { type StateAsOf, VaultState } from '../protocols/vault-state.ts'

/** A vault's state and the block that it is of. */
export type RecordedState = {
  readonly state: VaultState
  readonly asOf: Omit<StateAsOf, 'stale'>
  /** The hash of that block and how many hosts told it, where that is known. */
  readonly told?: Pick<Evidence, 'blockHash' | 'nodes'> | undefined
}

/** A text that differs where states do. */
export function stateDigest(state: VaultState): string {
  return createHash('sha256')
    .update(JSON.stringify(VaultState.encode(state)))
    .digest('base64url')
    .slice(0, 22)
}
