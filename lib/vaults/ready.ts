import type { Address } from 'viem'
import { encodeLink } from '../chain/link.ts'
import type { Transaction, WalletCalls } from '../chain/transaction.ts'
import { OPERATIONS } from '../protocols/operations.ts'
import type { Vault } from './vault.ts'

/** Transactions of an account that are prepared, on one chain. */
type Prepared = { readonly approval: readonly Transaction[]; readonly operations: readonly Transaction[] }

/**
 * What is prepared, in every form in which wallets take it: each transaction with its chain, all of them as one list of
 * calls, and the one call of the vault as a link where it is all. `chainId` is of the chain on which they are sent.
 */
export function readyToSend<P extends Prepared>(
  { protocol }: Pick<Vault, 'protocol'>,
  account: Address,
  chainId: number,
  prepared: P,
) {
  const transactions = [...prepared.approval, ...prepared.operations]
  const [only, ...more] = transactions
  const calls: WalletCalls = {
    version: '2.0.0',
    chainId: BigInt(chainId),
    from: account,
    atomicRequired: more.length > 0,
    calls: transactions,
  }
  return {
    ...prepared,
    approval: prepared.approval.map((transaction) => ({ chainId, ...transaction })),
    operations: prepared.operations.map((transaction) => ({ chainId, ...transaction })),
    calls,
    link: only && more.length === 0 ? encodeLink(OPERATIONS[protocol].abi, chainId, only) : null,
  }
}
