import { encodeFunctionData } from 'viem'
import { decodeCall, decodeLog } from '../../chain/decode.ts'
import { vaultAbi } from '../abi.ts'
import { type ClaimOperation, type DepositOperation, NO_CANCELS, type Operations } from '../calldata.ts'

/** ERC-4626 `deposit(assets, receiver)`: the shares come at once. */
export const deposit: DepositOperation = {
  name: 'deposit',
  isAsync: false,
  encode: ({ amount, account }) =>
    encodeFunctionData({ abi: vaultAbi, functionName: 'deposit', args: [amount, account] }),
  decode(data) {
    const call = decodeCall(vaultAbi, data)
    return call?.functionName === 'deposit' ? { amount: call.args[0], receiver: call.args[1] } : undefined
  },
  taken(log) {
    const event = decodeLog(vaultAbi, log)
    return event?.eventName === 'Deposit' ? { account: event.args.owner, payer: event.args.sender } : undefined
  },
}

/** ERC-4626 `withdraw(assets, receiver, owner)`: pays exactly these assets, and takes what shares that costs. */
export const withdraw: ClaimOperation = {
  name: 'withdraw',
  takes: 'assets',
  returns: 'shares',
  encode: ({ amount, account }) =>
    encodeFunctionData({ abi: vaultAbi, functionName: 'withdraw', args: [amount, account, account] }),
  decode(data) {
    const call = decodeCall(vaultAbi, data)
    if (call?.functionName !== 'withdraw') return undefined
    const [amount, receiver, payer] = call.args
    return { amount, receiver, payer }
  },
}

/** ERC-4626 `redeem(shares, receiver, owner)`: takes exactly these shares, and pays what they are worth. */
export const redeem: ClaimOperation = {
  name: 'redeem',
  takes: 'shares',
  returns: 'assets',
  encode: ({ amount, account }) =>
    encodeFunctionData({ abi: vaultAbi, functionName: 'redeem', args: [amount, account, account] }),
  decode(data) {
    const call = decodeCall(vaultAbi, data)
    if (call?.functionName !== 'redeem') return undefined
    const [amount, receiver, payer] = call.args
    return { amount, receiver, payer }
  },
}

/** The operations of synchronous vaults. */
export const erc4626Operations: Operations = {
  deposits: [deposit],
  withdrawals: [withdraw, redeem],
  claims: [],
  cancels: NO_CANCELS,
}
