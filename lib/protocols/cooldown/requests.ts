import type { Address } from 'viem'
import { mapReadPlan, type ReadPlan } from '../../chain/reader.ts'
import { AppError } from '../../core/errors.ts'
import type { ClaimTerms, OpenAmounts } from '../protocol.ts'
import type { RequestKind } from '../request-kind.ts'
import { readCooldown } from './cooldown.ts'
import type { CooldownVault } from './vault.ts'

/**
 * Reads the call that claims all of an account's assets after a cooldown. Parsing throws `no_claimable_withdrawal`
 * while the cooldown lasts or if no assets wait, and `upstream_bad_answer`.
 */
export function readCooldownClaimTerms(
  vault: CooldownVault,
  account: Address,
  kind: RequestKind,
): ReadPlan<ClaimTerms> {
  return mapReadPlan(readCooldown(vault, account), (parse): ClaimTerms => {
    if (kind === 'deposit') throw new AppError('claim_not_applicable')
    const { assets, claimableAt, isOver } = parse()
    if (assets > 0n && !isOver) {
      const issue = `pays ${assets} of the asset from ${claimableAt.toISOString()} on: the cooldown is not over`
      throw new AppError('no_claimable_withdrawal', { details: [{ field: 'vaultAddress', issue }] })
    }
    if (assets === 0n) throw new AppError('no_claimable_withdrawal')
    return { calls: [{ name: 'unstake', amount: 0n }], claimable: async () => ({ assets, shares: null }) }
  })
}

/** Reads the assets that a vault owes an account during or after a cooldown; undefined if the vault does not report the amount. */
export function readCooldownOpenRequest(
  vault: CooldownVault,
  { account }: { readonly account: Address },
): ReadPlan<OpenAmounts | undefined> {
  return mapReadPlan(readCooldown(vault, account), (parse) => {
    try {
      const { assets, isOver } = parse()
      return { pending: isOver ? 0n : assets, claimable: isOver ? assets : 0n, cancelled: 0n }
    } catch {
      return undefined
    }
  })
}
