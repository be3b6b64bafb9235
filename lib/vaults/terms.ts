import { buildTerms, type ContractTerms, type VaultTerms } from '../protocols/terms.ts'
import { buildUnreadTerms, isAsync } from '../protocols/vault-on-chain.ts'
import { estimateSettlement, type WaitsByKind } from './settlement-waits.ts'
import type { Vault } from './vault.ts'

/** Builds a vault's terms for API responses. `waits` are the recorded waiting times of requests until the vault's past settlements. */
export function buildResponseTerms(
  vault: Vault,
  read: ContractTerms | undefined,
  waits: WaitsByKind | undefined,
): VaultTerms {
  const last = waits?.[isAsync(vault, 'deposit') ? 'deposit' : 'withdrawal'] ?? []
  const wait = estimateSettlement(last)
  return buildTerms(read ?? buildUnreadTerms(vault), {
    roundTrip: vault.roundTrip,
    settlement: wait && { medianSeconds: wait.p50, p90Seconds: wait.p90, samples: last.length },
  })
}
