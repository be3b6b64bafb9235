import { createHash } from 'node:crypto'
import type { Evidence } from '../chain/evidence.ts'
import { type StateAsOf, VaultState } from '../protocols/vault-state.ts'

/** State of a vault with its block. */
export type RecordedState = {
  readonly state: VaultState
  readonly asOf: Omit<StateAsOf, 'stale'>
  /** Hash of that block, and the number of hosts that agree on it. */
  readonly told?: Pick<Evidence, 'blockHash' | 'nodes'> | undefined
}

/** Returns a digest that differs between states. */
export function stateDigest(state: VaultState): string {
  return createHash('sha256')
    .update(JSON.stringify(VaultState.encode(state)))
    .digest('base64url')
    .slice(0, 22)
}
