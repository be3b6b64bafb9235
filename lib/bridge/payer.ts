import type { Address, Hash } from 'viem'
import { sum } from '../bigint.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import { DAY_MS } from '../time.ts'

/** What an account sends off: in which transaction and block, when, and how much in the token's smallest unit. */
type Sent = {
  readonly transactionHash: Hash
  readonly blockNumber: bigint
  readonly initiated: Date
  readonly inputAmount: bigint
}

/** What a vault paid so long before is not what is sent. */
const PAID_MS = DAY_MS

/**
 * The vault that paid what an account sends off, by all that happened to the account in vaults of the token: the one that paid
 * it in the same transaction, else the last that did before, where within a day it paid as much as is sent. Undefined where
 * there is none.
 */
export function findPayer(
  entries: readonly LedgerEntry[],
  { transactionHash, blockNumber, initiated, inputAmount }: Sent,
): Address | undefined {
  const isBefore = ({ blockNumber: block, timestamp }: LedgerEntry) =>
    BigInt(block) <= blockNumber && initiated.getTime() - timestamp.getTime() <= PAID_MS
  const payments = entries
    .flatMap((entry) => (entry.kind === 'withdraw' && isBefore(entry) ? [entry] : []))
    .toSorted((left, right) => left.blockNumber - right.blockNumber || left.logIndex - right.logIndex)
  const last = payments.findLast((payment) => payment.transactionHash === transactionHash) ?? payments.at(-1)
  if (!last) return undefined
  const paid = sum(payments.map(({ vault, assets }) => (vault === last.vault ? assets : 0n)))
  return paid >= inputAmount ? last.vault : undefined
}
