import { encodeFunctionData, zeroAddress } from 'viem'
import { decodeCall, decodeLog } from '../../chain/decode.ts'
import type { DepositOperation, Operation, Operations } from '../calldata.ts'
import { lagoonAbi } from './abi.ts'

/** ERC-7540 `requestDeposit(assets, controller, owner)`: the shares come after a settlement. */
const requestDeposit: DepositOperation = {
  name: 'requestDeposit',
  isAsync: true,
  encode: ({ amount, account, payer = account }) =>
    encodeFunctionData({ abi: lagoonAbi, functionName: 'requestDeposit', args: [amount, account, payer] }),
  decode(data) {
    const call = decodeCall(lagoonAbi, data)
    if (call?.functionName !== 'requestDeposit') return undefined
    const [amount, receiver, payer] = call.args
    return { amount, receiver, payer, hasReferral: call.args.length > 3 }
  },
  taken(log) {
    const event = decodeLog(lagoonAbi, log)
    return event?.eventName === 'DepositRequest'
      ? { account: event.args.controller, payer: event.args.owner }
      : undefined
  },
}

/** `syncDeposit(assets, receiver, referral)`: the shares come at once. */
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
  taken(log) {
    const event = decodeLog(lagoonAbi, log)
    return event?.eventName === 'DepositSync' ? { account: event.args.owner, payer: event.args.sender } : undefined
  },
}

/** ERC-7540 `deposit(assets, receiver, controller)`: claims the shares of settled assets. */
const claim: Operation = {
  encode: ({ amount, account }) =>
    encodeFunctionData({ abi: lagoonAbi, functionName: 'deposit', args: [amount, account, account] }),
  decode(data) {
    const call = decodeCall(lagoonAbi, data)
    if (call?.functionName !== 'deposit' || call.args.length !== 3) return undefined
    const [amount, receiver, payer] = call.args
    return { amount, receiver, payer }
  },
}

/** The operations of Lagoon vaults. */
export const lagoonOperations: Operations = { deposits: [requestDeposit, syncDeposit], claim }
