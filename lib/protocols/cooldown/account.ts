import type { Address } from 'viem'
import { joinReadPlans, mapReadPlan, type ReadPlan } from '../../chain/reader.ts'
import { readErc4626Account } from '../erc4626/account.ts'
import { isFixedRequest, sumBurnedShares } from '../fixed-requests.ts'
import type { AccountSnapshot } from '../protocol.ts'
import { readCooldown } from './cooldown.ts'
import type { CooldownVault } from './vault.ts'

/**
 * Reads an account of a cooldown vault. The vault reports the assets that wait in the silo, the contract that holds
 * assets during a cooldown. The account's ledger entries show the shares that were burned for these assets.
 */
export function readCooldownAccount(vault: CooldownVault, user: Address): ReadPlan<AccountSnapshot> {
  return mapReadPlan(
    joinReadPlans(readErc4626Account(vault, user), readCooldown(vault, user)),
    ([account, parse]): AccountSnapshot => ({
      ...account,
      redemptions: async (reader, at, listEntries) => {
        const { assets, claimableAt, isOver } = parse()
        const shares = sumBurnedShares((await listEntries()).filter(isFixedRequest), assets)
        const isPending = assets > 0n && !isOver
        return {
          ...(await account.redemptions(reader, at, listEntries)),
          pendingRedeemShares: isPending ? shares : 0n,
          claimableRedeemShares: isPending ? 0n : shares,
          claimableRedeemAssets: isPending ? 0n : assets,
          cooldown: {
            pendingAssets: isPending ? assets : 0n,
            claimableAt: isPending ? claimableAt : null,
          },
        }
      },
    }),
  )
}
