import { decodeLog } from '../../chain/decode.ts'
import {
  buildCallCodec,
  type DepositOperation,
  type Operation,
  type Operations,
  type WithdrawalOperation,
} from '../calldata.ts'
import { redeem, withdraw } from '../erc4626/calldata.ts'
import { claimDeposit, requestDeposit, requestRedeem } from '../erc7540/calldata.ts'
import { lagoonAbi } from './abi.ts'

const withReferral = buildCallCodec('requestDeposit', 'amount', 'receiver', 'payer', 'referral')

/** Operation `requestDeposit(assets, controller, owner)` of ERC-7540. */
const lagoonRequestDeposit: DepositOperation = {
  ...requestDeposit,
  // Lagoon has an overload with a referral, which this service decodes but never encodes.
  decode: (data) => requestDeposit.decode(data) ?? withReferral.decode(data),
}

/** Operation `syncDeposit(assets, receiver, referral)` of Lagoon, which gives shares immediately. */
const syncDeposit: DepositOperation = {
  ...buildCallCodec('syncDeposit', 'amount', 'receiver', 'referral'),
  isAsync: false,
  parseTakenDeposit(log) {
    const event = decodeLog(lagoonAbi, log)
    return event?.eventName === 'DepositSync'
      ? { account: event.args.owner, payer: event.args.sender, assets: event.args.assets, shares: event.args.shares }
      : undefined
  },
}

/** Operation `requestRedeem` of ERC-7540. Lagoon vaults take the shares without an approval. */
const lagoonRequestRedeem: WithdrawalOperation = { ...requestRedeem, mayPullShares: false }

/** Operation `claimSharesAndRequestRedeem(shares)` of Lagoon 0.2 and later. It first claims all unclaimed shares of the sender. */
const claimSharesAndRequestRedeem: WithdrawalOperation = {
  ...buildCallCodec('claimSharesAndRequestRedeem', 'amount'),
  isAsync: true,
  takes: 'shares',
}

/** Operation `syncRedeem(shares, receiver, minimumAssets)` of Lagoon 0.6 and later. It takes the sender's shares and pays immediately. */
export const syncRedeem: WithdrawalOperation = {
  ...buildCallCodec('syncRedeem', 'amount', 'receiver', 'minimum'),
  takes: 'shares',
  returns: 'assets',
}

/** Operation `cancelRequestDeposit()` of Lagoon, which returns the sender's pending assets. */
const cancelRequestDeposit: Operation = buildCallCodec('cancelRequestDeposit')

/** Operation `cancelRequestRedeem(controller)` of Lagoon 0.6 and later, which returns the controller's pending shares. */
const cancelRequestRedeem: Operation = buildCallCodec('cancelRequestRedeem', 'receiver')

/** Operations of Lagoon vaults. `redeem` and `withdraw` claim settled requests; in a closed vault they also pay immediately. */
export const lagoonOperations: Operations = {
  deposits: [lagoonRequestDeposit, syncDeposit],
  withdrawals: [syncRedeem, lagoonRequestRedeem, claimSharesAndRequestRedeem, redeem, withdraw],
  claims: [claimDeposit, redeem, withdraw],
  cancels: { deposit: [cancelRequestDeposit], withdrawal: [cancelRequestRedeem] },
}
