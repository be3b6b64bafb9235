import type { Address } from 'viem'
import { joinReadPlans, mapReadPlan, type ReadPlan } from '../../chain/reader.ts'
import { readErc4626WithdrawalTerms } from '../erc4626/withdrawal.ts'
import type { FollowUpRead, WithdrawalAmount, WithdrawalTerms } from '../protocol.ts'
import { readCooldown } from './cooldown.ts'
import type { CooldownVault } from './vault.ts'

/** Operations that begin a cooldown, by the ERC-4626 operations that they replace. */
const COOLDOWNS: Readonly<Record<string, string>> = { withdraw: 'cooldownAssets', redeem: 'cooldownShares' }

/** Reads the terms of a withdrawal: those of ERC-4626, but with a call that begins a cooldown unless the cooldown is 0 seconds. */
export function readCooldownWithdrawalTerms(
  vault: CooldownVault,
  account: Address,
  amount: WithdrawalAmount,
): ReadPlan<FollowUpRead<WithdrawalTerms>> {
  return mapReadPlan(
    joinReadPlans(readErc4626WithdrawalTerms(vault, account, amount), readCooldown(vault, account)),
    ([finish, parse]): FollowUpRead<WithdrawalTerms> =>
      async (reader, at) => {
        const { duration, assets, claimableAt } = parse()
        const terms = await finish(reader, at)
        if (duration === 0) return terms
        const [{ name, amount }] = terms.steps
        return {
          ...terms,
          steps: [{ name: COOLDOWNS[name] ?? name, amount }],
          prolongs: assets > 0n ? { assets, claimableAt } : null,
        }
      },
  )
}
