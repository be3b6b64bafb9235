import type { Address } from 'viem'
import { buildCall, requireValue } from '../../chain/call.ts'
import { MULTICALL3, multicall3Abi } from '../../chain/multicall.ts'
import { buildReadPlan, type ReadPlan } from '../../chain/reader.ts'
import { min } from '../../core/bigint.ts'
import { LAST_SECOND, toDate } from '../../core/time.ts'
import { cooldownAbi } from './abi.ts'
import type { CooldownVault } from './vault.ts'

/** Assets of an account that wait in the silo, the contract that holds assets during a cooldown. */
export type Cooldown = {
  /** Amount of the waiting assets, in the smallest unit. */
  readonly assets: bigint
  /** Time from which the vault pays the waiting assets. */
  readonly claimableAt: Date
  readonly isOver: boolean
  /** Seconds that a cooldown begun now would take; 0 while the vault pays immediately. */
  readonly duration: number
}

/**
 * Reads an account's assets that wait in the silo during a cooldown. The returned function throws `upstream_bad_answer`
 * if the vault does not report them.
 */
export function readCooldown({ address }: Pick<CooldownVault, 'address'>, account: Address): ReadPlan<() => Cooldown> {
  const calls = {
    duration: buildCall(address, cooldownAbi, 'cooldownDuration', []),
    cooldown: buildCall(address, cooldownAbi, 'cooldowns', [account]),
    now: buildCall(MULTICALL3, multicall3Abi, 'getCurrentBlockTimestamp', []),
  }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => () => {
    const duration = requireValue(answers.duration)
    const [end, assets] = requireValue(answers.cooldown)
    return {
      assets,
      claimableAt: toDate(min(end, LAST_SECOND)),
      isOver: duration === 0 || requireValue(answers.now) >= end,
      duration,
    }
  })
}
