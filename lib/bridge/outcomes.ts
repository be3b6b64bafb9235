import { evmChain } from '../chain/registry.ts'
import { parseMessage } from './events.ts'
import type { Source, TransferKey, TransferStatus } from './transfer.ts'

/** What a status says of how things stand, apart from which transfer it is of. */
type Outcome = Pick<TransferStatus, 'status' | 'statusDescription' | 'reason' | 'terminal' | 'nextPollAfterMs'>

/** What a status says of the transfer itself, apart from how things stand. */
export type TransferFacts = Omit<TransferStatus, keyof Outcome | 'final'>

/** How things can stand. */
export const OUTCOMES = {
  pending: open('pending', 'Transaction submitted, waiting to be mined.', 3_000),
  bridging: open('bridging', 'The bridge is processing the cross-chain transfer.', 3_000),
  bridging_slowly: open(
    'bridging',
    'The bridge is processing the cross-chain transfer slowly; this can take hours.',
    60_000,
  ),
  /** The pool says that it is filled; the fill's event is still searched for, or not there yet. */
  locating: open('bridging', 'The funds have left the bridge. Looking up where they arrived.', 2_000),
  /** The fill is there, and its logs do not show what became of the deposit. */
  unproven: open('bridging', 'The funds have left the bridge. The deposit into the vault is not visible yet.', 30_000),
  deposited: ended('completed', 'Funds delivered to the destination and deposited.'),
  delivered: ended('completed', 'Funds delivered to the destination.'),
  destination_not_followed: {
    ...ended('bridging', 'The transfer goes to a chain that this service does not read.'),
    reason: 'destination_not_followed',
  },
  source_reverted: failed('source_reverted', 'The source transaction reverted; nothing was sent.'),
  no_deposit_in_transaction: failed('no_deposit_in_transaction', 'The source transaction has no bridge deposit.'),
  no_deposit_with_index: failed(
    'no_deposit_in_transaction',
    'The source transaction has no bridge deposit with this index, but others. Count from 0.',
  ),
  source_dropped: failed('source_dropped', 'Another transaction replaced the source transaction. Nothing was sent.'),
  expired: expired('The transfer was not filled in time. The refund on the source chain comes within hours.', 600_000),
  /** The refund is searched for among old blocks. */
  expired_searching: expired('The transfer was not filled in time. Looking up its refund on the source chain.', 10_000),
  /** The account has had so many deposits or refunds that none can be told to be this transfer's. */
  expired_crowded: expired(
    'The transfer was not filled in time. Its refund cannot be identified among many on the source chain.',
    600_000,
  ),
  /** The search is over, and what was paid may have been for this transfer. */
  expired_undecided: failed(
    'expired',
    'The transfer was not filled in time. The bridge may have refunded it: payments on the source chain do not name their transfer.',
  ),
  refunded: failed('refunded', 'The transfer was not filled in time. The bridge refunded it on the source chain.'),
  refund_not_found: failed(
    'refund_not_found',
    'The transfer was not filled in time. No refund appeared on the source chain in two weeks.',
  ),
  destination_action_failed: failed(
    'destination_action_failed',
    'The action on the destination failed. The tokens went to the fallback account of the transfer.',
  ),
} as const satisfies Record<string, Outcome>

function open(status: Outcome['status'], statusDescription: string, nextPollAfterMs: number): Outcome {
  return { status, statusDescription, reason: null, terminal: false, nextPollAfterMs }
}

function ended(status: Outcome['status'], statusDescription: string): Outcome {
  return { status, statusDescription, reason: null, terminal: true, nextPollAfterMs: null }
}

function failed(reason: NonNullable<Outcome['reason']>, statusDescription: string): Outcome {
  return { status: 'failed', statusDescription, reason, terminal: true, nextPollAfterMs: null }
}

function expired(statusDescription: string, nextPollAfterMs: number): Outcome {
  return { status: 'failed', statusDescription, reason: 'expired', terminal: false, nextPollAfterMs }
}

/** What a status says of a transfer before its fill is seen; `source` once its deposit into the bridge is. */
export function describeTransfer({ sourceChainId, transactionHash }: TransferKey, source?: Source): TransferFacts {
  const { deposit, initiated = null } = source ?? {}
  const destination = deposit?.destinationChainId
  return {
    depositId: transactionHash,
    action: deposit ? (parseMessage(deposit)?.deposit ? 'deposit' : 'none') : null,
    srcChain: nameChain(sourceChainId),
    dstChain: destination ? nameChain(destination) : null,
    inputAmount: deposit?.relayData.inputAmount ?? null,
    outputAmount: null,
    timestamps: { initiated, bridged: null, completed: null },
    transactions: { source: transactionHash, fill: null },
  }
}

function nameChain(id: number) {
  return { id, name: evmChain(id)?.name ?? 'unknown' }
}
