import { type Address, encodeFunctionData } from 'viem'
import { transact } from '../../sandbox/transactions.ts'
import type { TestVault } from './vaults.ts'
import { YIELD_VAULT } from './yield-vault-abi.ts'

type Call = ['setCooldownDuration', number] | ['cooldownShares', bigint] | ['unstake', Address]

/** A call of a cooldown vault's own interface, mined without the service. */
export function actOnCooldown({ chain, address: to }: TestVault, from: Address, ...[functionName, argument]: Call) {
  // One of several functions, each with one argument, which viem wants to know one by one.
  const data = encodeFunctionData({ abi: YIELD_VAULT, functionName, args: [argument] } as never)
  return transact(chain, [{ label: functionName, from, to, data }])
}
