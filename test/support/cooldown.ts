import { type Address, encodeFunctionData } from 'viem'
import { transact } from '../../sandbox/transactions.ts'
import type { TestVault } from './vaults.ts'
import { YIELD_VAULT_ABI } from './yield-vault-abi.ts'

type Call = ['setCooldownDuration', number] | ['cooldownShares', bigint] | ['unstake', Address]

/**
 * Sends and mines a transaction that only cooldown vaults accept. The transaction goes directly to the chain, not through the
 * service.
 */
export function sendToCooldownVault(
  { chain, address: to }: TestVault,
  from: Address,
  ...[functionName, argument]: Call
) {
  // The cast is needed because viem types each function separately. Every function in `Call` has one argument.
  const data = encodeFunctionData({ abi: YIELD_VAULT_ABI, functionName, args: [argument] } as never)
  return transact(chain, [{ label: functionName, from, to, data }])
}
