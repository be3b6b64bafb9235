import { encodeFunctionData, zeroAddress } from 'viem'
import { decodeCall, decodeLog } from '../../chain/decode.ts'
import type { DepositOperation, Operation, Operations, WithdrawalOperation } from '../calldata.ts'
import { redeem, withdraw } from '../erc4626/calldata.ts'
import { claimDeposit, requestRedeem as standardRequest } from '../erc7540/calldata.ts'
import { lagoonAbi } from './abi.ts'

/** Operation `requestDeposit(assets, controller, owner)` of ERC-7540. */
const requestDeposit: DepositOperation = {
  name: 'requestDeposit',
  isAsync: true,
  encode: ({ amount, account, payer = account }) =>
    encodeFunctionData({ abi: lagoonAbi, functionName: 'requestDeposit', args: [amount, account, payer] }),
  decode(data) {
    const call = decodeCall(lagoonAbi, data)
    if (call?.functionName !== 'requestDeposit') return undefined
    const [amount, receiver, payer] = call.args
    // An overload has a referral as its fourth argument. This service never uses it.
    return { amount, receiver, payer, hasReferral: call.args.length > 3 }
  },
  parseTakenDeposit(log) {
    const event = decodeLog(lagoonAbi, log)
    return event?.eventName === 'DepositRequest'
      ? { account: event.args.controller, payer: event.args.owner, assets: event.args.assets, shares: null }
      : undefined
  },
}

/** Operation `syncDeposit(assets, receiver, referral)` of Lagoon, which gives shares immediately. */
const syncDeposit: DepositOperation = {
  name: 'syncDeposit',
  isAsync: false,
  encode: ({ amount, account }) =>
    encodeFunctionData({ abi: lagoonAbi, functionName: 'syncDeposit', args: [amount, account, zeroAddress] }),
  decode(data) {
    const call = decodeCall(lagoonAbi, data)
    if (call?.functionName !== 'syncDeposit') return undefined
    const [amount, receiver, referral] = call.args
    return { amount, receiver, hasReferral: referral !== zeroAddress }
  },
  parseTakenDeposit(log) {
    const event = decodeLog(lagoonAbi, log)
    return event?.eventName === 'DepositSync'
      ? { account: event.args.owner, payer: event.args.sender, assets: event.args.assets, shares: event.args.shares }
      : undefined
  },
}

/** Operation `requestRedeem` of ERC-7540. Lagoon vaults take the shares without an approval. */
const requestRedeem: WithdrawalOperation = { ...standardRequest, mayPullShares: false }

/** Operation `claimSharesAndRequestRedeem(shares)` of Lagoon 0.2 and later. It first claims all unclaimed shares of the sender. */
const claimSharesAndRequestRedeem: WithdrawalOperation = {
  name: 'claimSharesAndRequestRedeem',
  isAsync: true,
  takes: 'shares',
  encode: ({ amount }) =>
    encodeFunctionData({ abi: lagoonAbi, functionName: 'claimSharesAndRequestRedeem', args: [amount] }),
  decode(data) {
    const call = decodeCall(lagoonAbi, data)
    return call?.functionName === 'claimSharesAndRequestRedeem' ? { amount: call.args[0] } : undefined
  },
}

/** Operation `syncRedeem(shares, receiver, minimumAssets)` of Lagoon 0.6 and later. It takes the sender's shares and pays immediately. */
export const syncRedeem: WithdrawalOperation = {
  name: 'syncRedeem',
  takes: 'shares',
  returns: 'assets',
  encode: ({ amount, account, minimum = 0n }) =>
    encodeFunctionData({ abi: lagoonAbi, functionName: 'syncRedeem', args: [amount, account, minimum] }),
  decode(data) {
    const call = decodeCall(lagoonAbi, data)
    if (call?.functionName !== 'syncRedeem') return undefined
    const [amount, receiver, minimum] = call.args
    return { amount, receiver, minimum }
  },
}

/** Operation `cancelRequestDeposit()` of Lagoon, which returns the sender's pending assets. */
const cancelRequestDeposit: Operation = {
  name: 'cancelRequestDeposit',
  encode: () => encodeFunctionData({ abi: lagoonAbi, functionName: 'cancelRequestDeposit' }),
  decode: (data) => (decodeCall(lagoonAbi, data)?.functionName === 'cancelRequestDeposit' ? { amount: 0n } : undefined),
}

/** Operation `cancelRequestRedeem(controller)` of Lagoon 0.6 and later, which returns the controller's pending shares. */
const cancelRequestRedeem: Operation = {
  name: 'cancelRequestRedeem',
  encode: ({ account }) => encodeFunctionData({ abi: lagoonAbi, functionName: 'cancelRequestRedeem', args: [account] }),
  decode(data) {
    const call = decodeCall(lagoonAbi, data)
    return call?.functionName === 'cancelRequestRedeem' ? { amount: 0n, receiver: call.args[0] } : undefined
  },
}

/** Operations of Lagoon vaults. `redeem` and `withdraw` claim settled requests; in a closed vault they also pay immediately. */
export const lagoonOperations: Operations = {
  abi: lagoonAbi,
  deposits: [requestDeposit, syncDeposit],
  withdrawals: [syncRedeem, requestRedeem, claimSharesAndRequestRedeem, redeem, withdraw],
  claims: [claimDeposit, redeem, withdraw],
  cancels: { deposit: [cancelRequestDeposit], withdrawal: [cancelRequestRedeem] },
}
