import { encodeFunctionData } from 'viem'
import { decodeCall } from '../../chain/decode.ts'
import { NO_CANCELS, type Operations, type WithdrawalOperation } from '../calldata.ts'
import { deposit, redeem, withdraw } from '../erc4626/calldata.ts'
import { cooldownAbi } from './abi.ts'

/**
 * Operation `cooldownAssets(assets)` or `cooldownShares(shares)`. It burns the sender's shares, and their assets wait in the silo, the
 * contract that holds assets during a cooldown.
 */
const cooldownOf = (name: 'cooldownAssets' | 'cooldownShares') => ({
  name,
  isAsync: true,
  encode: ({ amount }: { readonly amount: bigint }) =>
    encodeFunctionData({ abi: cooldownAbi, functionName: name, args: [amount] }),
  decode(data: `0x${string}`) {
    const call = decodeCall(cooldownAbi, data)
    return call?.functionName === name ? { amount: call.args[0] } : undefined
  },
})
const cooldownAssets: WithdrawalOperation = { ...cooldownOf('cooldownAssets'), takes: 'assets', returns: 'shares' }
export const cooldownShares: WithdrawalOperation = {
  ...cooldownOf('cooldownShares'),
  takes: 'shares',
  returns: 'assets',
}

/** Operation `unstake(receiver)`. It pays all assets of the sender in the silo, the contract that holds assets during a cooldown. */
export const unstake: WithdrawalOperation = {
  name: 'unstake',
  takes: 'assets',
  encode: ({ account }) => encodeFunctionData({ abi: cooldownAbi, functionName: 'unstake', args: [account] }),
  decode(data) {
    const call = decodeCall(cooldownAbi, data)
    return call?.functionName === 'unstake' ? { amount: 0n, receiver: call.args[0] } : undefined
  },
}

/** Operations of cooldown vaults. The ERC-4626 functions withdraw while the cooldown's duration is 0. */
export const cooldownOperations: Operations = {
  abi: cooldownAbi,
  deposits: [deposit],
  withdrawals: [cooldownAssets, cooldownShares, withdraw, redeem],
  claims: [unstake],
  cancels: NO_CANCELS,
}
