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
    'The bridge is processing the cross-chain transfer the slow way, which can take hours.',
    60_000,
  ),
  /** The pool says that it is filled; the fill's event is still searched for, or not there yet. */
  locating: open('bridging', 'The funds have left the bridge; where they arrived is being looked up.', 2_000),
  /** The fill is there, and its logs do not show what became of the deposit. */
  unproven: open('bridging', 'The funds have left the bridge; the deposit into the vault cannot be seen yet.', 30_000),
  deposited: ended('completed', 'Funds delivered to the destination and deposited.'),
  delivered: ended('completed', 'Funds delivered to the destination.'),
  destination_not_followed: {
    ...ended('bridging', 'The transfer goes to a chain that is not followed here.'),
    reason: 'destination_not_followed',
  },
  source_reverted: failed('source_reverted', 'The source transaction reverted; nothing was sent.'),
  no_deposit_in_transaction: failed(
    'no_deposit_in_transaction',
    'The source transaction holds no deposit into the bridge.',
  ),
  no_deposit_with_index: failed(
    'no_deposit_in_transaction',
    'The source transaction holds no deposit into the bridge with this index, but others, counted from 0.',
  ),
  source_dropped: failed(
    'source_dropped',
    'The source transaction can no longer be mined: another one took its place. Nothing was sent.',
  ),
  expired: expired(
    'Nobody filled the transfer in time; it will be refunded on the source chain within hours.',
    600_000,
  ),
  /** The refund is searched for among old blocks. */
  expired_searching: expired(
    'Nobody filled the transfer in time; its refund on the source chain is being looked up.',
    10_000,
  ),
  /** The account has had so many deposits or refunds that none can be told to be this transfer's. */
  expired_crowded: expired(
    'Nobody filled the transfer in time. Which refund on the source chain is its own cannot be told among many.',
    600_000,
  ),
  /** The search is over, and what was paid may have been for this transfer. */
  expired_undecided: failed(
    'expired',
    'Nobody filled the transfer in time. The bridge may have refunded it on the source chain: payments there do not tell which transfer they are for.',
  ),
  refunded: failed('refunded', 'Nobody filled the transfer in time; it was refunded on the source chain.'),
  refund_not_found: failed(
    'refund_not_found',
    'Nobody filled the transfer in time, and no refund was found on the source chain in two weeks.',
  ),
  destination_action_failed: failed(
    'destination_action_failed',
    'The action on the destination did not succeed; the tokens were sent to the account that the transfer names for this case.',
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
