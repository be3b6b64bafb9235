import { type Address, pad } from 'viem'
import type { Transfer } from '../../lib/bridge/transfer.ts'
import { ARBITRUM, BASE } from './oracles.ts'

/** Creates the record of a bridge transfer from Arbitrum without a vault deposit. `id` is the bridge's deposit id. */
export function someTransfer(
  account: Address,
  { id = 1, to = BASE, fillDeadline = 2_000_000_000, at = new Date(0) } = {},
): Transfer {
  const word = pad(account)
  const accounts = { depositor: word, recipient: word, exclusiveRelayer: word, inputToken: word, outputToken: word }
  const amounts = { inputAmount: 1n, outputAmount: 1n, originChainId: BigInt(ARBITRUM), depositId: BigInt(id) }
  const relayData = { ...accounts, ...amounts, fillDeadline, exclusivityDeadline: 0, message: '0x' as const }
  const place = { chainId: ARBITRUM, txHash: pad('0x01'), logIndex: 0, at }
  const what = { amount: 1n, token: account, account, vaultAddress: null, shares: null }
  return {
    deposit: { relayData, destinationChainId: to, quoteTimestamp: 1 },
    events: [{ kind: 'deposited', ...place, ...what }],
    ...{ blockNumber: 1n, isFinal: true },
  }
}
