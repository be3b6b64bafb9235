import { encodeFunctionData, type Hex, zeroAddress } from 'viem'
import { decodeCall, decodeLog } from '../../chain/decode.ts'
import { erc20Abi } from '../../chain/erc20.ts'
import type { Log } from '../../chain/logs.ts'
import { vaultAbi } from '../abi.ts'
import type { ShareTransfer } from '../books.ts'
import {
  type DepositOperation,
  NO_CANCELS,
  type OperationRequest,
  type Operations,
  type WithdrawalOperation,
} from '../calldata.ts'
import { namesReceiverFirst } from './deposited.ts'

/** Operation `deposit(assets, receiver)` of ERC-4626, which gives shares immediately. */
export const deposit: DepositOperation = {
  name: 'deposit',
  isAsync: false,
  encode: ({ amount, account }) =>
    encodeFunctionData({ abi: vaultAbi, functionName: 'deposit', args: [amount, account] }),
  decode(data) {
    const call = decodeCall(vaultAbi, data)
    return call?.functionName === 'deposit' ? { amount: call.args[0], receiver: call.args[1] } : undefined
  },
  parseTakenDeposit(log, logs) {
    const event = decodeLog(vaultAbi, log)
    if (event?.eventName !== 'Deposit') return undefined
    const { sender, owner, assets, shares } = event.args
    const [account, payer] = namesReceiverFirst([event.args], parseMints(logs)) ? [sender, owner] : [owner, sender]
    return { account, payer, assets, shares }
  },
}

/** Returns the mints of all tokens among the logs, because the share token's address is not known here. */
function parseMints(logs: readonly Log[]): ShareTransfer[] {
  return logs.flatMap((log) => {
    const event = decodeLog(erc20Abi, log)
    if (event?.eventName !== 'Transfer' || event.args.from !== zeroAddress) return []
    const { from, to, value: shares } = event.args
    return [{ from, to, shares }]
  })
}

/**
 * Returns the encoder and decoder of calls of the form `name(amount, account, payer)`. `account` receives the shares or
 * assets. `payer` is `account` by default.
 */
export function buildAccountCallCodec(name: string) {
  const inputs = [{ type: 'uint256' }, { type: 'address' }, { type: 'address' }] as const
  const abi = [{ type: 'function', name, inputs, outputs: [], stateMutability: 'nonpayable' }] as const
  return {
    name,
    encode: ({ amount, account, payer = account }: OperationRequest) =>
      encodeFunctionData({ abi, args: [amount, account, payer] }),
    decode(data: Hex) {
      const call = decodeCall(abi, data)
      return call && { amount: call.args[0], receiver: call.args[1], payer: call.args[2] }
    },
  }
}

/** Operation `withdraw(assets, receiver, owner)` of ERC-4626, which pays exactly these assets. */
export const withdraw: WithdrawalOperation = {
  ...buildAccountCallCodec('withdraw'),
  takes: 'assets',
  returns: 'shares',
}

/** Operation `redeem(shares, receiver, owner)` of ERC-4626, which takes exactly these shares. */
export const redeem: WithdrawalOperation = { ...buildAccountCallCodec('redeem'), takes: 'shares', returns: 'assets' }

/** Operations of vaults that give shares and pay withdrawals immediately. */
export const erc4626Operations: Operations = {
  abi: vaultAbi,
  deposits: [deposit],
  withdrawals: [withdraw, redeem],
  claims: [],
  cancels: NO_CANCELS,
}
