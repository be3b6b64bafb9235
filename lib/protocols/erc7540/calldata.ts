import { decodeLog } from '../../chain/decode.ts'
import {
  buildCallCodec,
  type DepositOperation,
  type Operation,
  type Operations,
  type WithdrawalOperation,
} from '../calldata.ts'
import { deposit, redeem, withdraw } from '../erc4626/calldata.ts'
import { erc7540Abi } from './abi.ts'

/** Operation `requestDeposit(assets, controller, owner)` of ERC-7540. */
export const requestDeposit: DepositOperation = {
  ...buildCallCodec('requestDeposit', 'amount', 'receiver', 'payer'),
  isAsync: true,
  parseTakenDeposit(log) {
    const event = decodeLog(erc7540Abi, log)
    return event?.eventName === 'DepositRequest'
      ? { account: event.args.controller, payer: event.args.owner, assets: event.args.assets, shares: null }
      : undefined
  },
}

/** Operation `deposit(assets, receiver, controller)` of ERC-7540. It claims the shares of a settled deposit of these assets. */
export const claimDeposit: WithdrawalOperation = {
  ...buildCallCodec('deposit', 'amount', 'receiver', 'payer'),
  takes: 'assets',
  returns: 'shares',
}

/** Operation `mint(shares, receiver, controller)` of ERC-7540. It claims exactly these shares of settled deposits. */
const mint: WithdrawalOperation = {
  ...buildCallCodec('mint', 'amount', 'receiver', 'payer'),
  takes: 'shares',
  returns: 'assets',
}

/** Operation `cancelDepositRequest(requestId, controller)` or `cancelRedeemRequest(…)` of ERC-7887, which requests a cancellation. */
const cancelOf = (name: 'cancelDepositRequest' | 'cancelRedeemRequest'): Operation =>
  buildCallCodec(name, 'requestId', 'receiver')

/**
 * Operation `claimCancelDepositRequest(requestId, receiver, controller)` or `claimCancelRedeemRequest(…)` of ERC-7887. It pays back the
 * amount of a granted cancellation.
 */
const claimCancelOf = (name: 'claimCancelDepositRequest' | 'claimCancelRedeemRequest'): Operation =>
  buildCallCodec(name, 'requestId', 'receiver', 'payer')

/** Operation `requestRedeem(shares, controller, owner)` of ERC-7540. */
export const requestRedeem: WithdrawalOperation = {
  ...buildCallCodec('requestRedeem', 'amount', 'receiver', 'payer'),
  isAsync: true,
  takes: 'shares',
  mayPullShares: true,
}

/** Operations of ERC-7540 vaults. Some of these vaults give shares or pay immediately, so the list includes the ERC-4626 functions. */
export const erc7540Operations: Operations = {
  deposits: [requestDeposit, deposit],
  withdrawals: [requestRedeem, withdraw, redeem],
  claims: [claimDeposit, mint, redeem, withdraw],
  cancels: {
    deposit: [cancelOf('cancelDepositRequest'), claimCancelOf('claimCancelDepositRequest')],
    withdrawal: [cancelOf('cancelRedeemRequest'), claimCancelOf('claimCancelRedeemRequest')],
  },
}
