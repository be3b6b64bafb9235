import { encodeFunctionData } from 'viem'
import { decodeCall, decodeLog } from '../../chain/decode.ts'
import { vaultAbi } from '../abi.ts'
import type { DepositOperation, Operations } from '../calldata.ts'

/** ERC-4626 `deposit(assets, receiver)`: the shares come at once. */
const deposit: DepositOperation = {
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

/** The operations of synchronous vaults. */
export const erc4626Operations: Operations = { deposits: [deposit] }
