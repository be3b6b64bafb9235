import { zeroAddress } from 'viem'
import { decodeLog } from '../../chain/decode.ts'
import { erc20Abi } from '../../chain/erc20.ts'
import type { Log } from '../../chain/logs.ts'
import { vaultAbi } from '../abi.ts'
import type { ShareTransfer } from '../books.ts'
import {
  buildCallCodec,
  type DepositOperation,
  NO_CANCELS,
  type Operations,
  type WithdrawalOperation,
} from '../calldata.ts'
import { namesReceiverFirst } from './deposited.ts'

/** Operation `deposit(assets, receiver)` of ERC-4626, which gives shares immediately. */
export const deposit: DepositOperation = {
  ...buildCallCodec('deposit', 'amount', 'receiver'),
  isAsync: false,
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

/** Operation `withdraw(assets, receiver, owner)` of ERC-4626, which pays exactly these assets. */
export const withdraw: WithdrawalOperation = {
  ...buildCallCodec('withdraw', 'amount', 'receiver', 'payer'),
  takes: 'assets',
  returns: 'shares',
}

/** Operation `redeem(shares, receiver, owner)` of ERC-4626, which takes exactly these shares. */
export const redeem: WithdrawalOperation = {
  ...buildCallCodec('redeem', 'amount', 'receiver', 'payer'),
  takes: 'shares',
  returns: 'assets',
}

/** Operations of vaults that give shares and pay withdrawals immediately. */
export const erc4626Operations: Operations = {
  deposits: [deposit],
  withdrawals: [withdraw, redeem],
  claims: [],
  cancels: NO_CANCELS,
}
