import { buildCallCodec, NO_CANCELS, type Operations, type WithdrawalOperation } from '../calldata.ts'
import { deposit, redeem, withdraw } from '../erc4626/calldata.ts'

/** Operation `cooldownAssets(assets)`. It burns the sender's shares, and their assets wait in the silo until the end of a cooldown. */
const cooldownAssets: WithdrawalOperation = {
  ...buildCallCodec('cooldownAssets', 'amount'),
  isAsync: true,
  takes: 'assets',
  returns: 'shares',
}

/** Operation `cooldownShares(shares)`. It does the same as `cooldownAssets`, for an amount of shares. */
export const cooldownShares: WithdrawalOperation = {
  ...buildCallCodec('cooldownShares', 'amount'),
  isAsync: true,
  takes: 'shares',
  returns: 'assets',
}

/** Operation `unstake(receiver)`. It pays all assets of the sender in the silo, the contract that holds assets during a cooldown. */
export const unstake: WithdrawalOperation = { ...buildCallCodec('unstake', 'receiver'), takes: 'assets' }

/** Operations of cooldown vaults. The ERC-4626 functions withdraw while the cooldown's duration is 0. */
export const cooldownOperations: Operations = {
  deposits: [deposit],
  withdrawals: [cooldownAssets, cooldownShares, withdraw, redeem],
  claims: [unstake],
  cancels: NO_CANCELS,
}
