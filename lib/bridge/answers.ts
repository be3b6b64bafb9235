import type { BridgeDeposit } from './events.ts'
import { namedChain, type TransferKey, type TransferStatus } from './transfer.ts'

/** What a status says of how things stand, apart from which transfer it is of. */
type Outcome = Pick<TransferStatus, 'status' | 'statusDescription' | 'reason' | 'terminal' | 'nextPollAfterMs'>

/** What answers can say. */
export const OUTCOMES = {
  pending: open('pending', 'Transaction submitted, waiting to be mined.', 3_000),
  bridging: open('bridging', 'The bridge is processing the cross-chain transfer.', 3_000),
  bridging_slowly: open(
    'bridging',
    'The bridge is processing the cross-chain transfer the slow way, which can take hours.',
    60_000,
  ),
  /** The pool says that it is filled, and the fill's event is still searched for, or is not there yet. */
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
  source_dropped: failed(
    'source_dropped',
    'The source transaction can no longer be mined: another one took its place. Nothing was sent.',
  ),
  expired: {
    ...failed('expired', 'Nobody filled the transfer in time; it will be refunded on the source chain within hours.'),
    terminal: false,
    nextPollAfterMs: 600_000,
  },
  /** A refund is searched for among the blocks of long ago. */
  expired_searching: {
    ...failed('expired', 'Nobody filled the transfer in time; its refund on the source chain is being looked up.'),
    terminal: false,
    nextPollAfterMs: 10_000,
  },
  /** The account has had so many deposits or refunds that none can be told to be this transfer's. */
  expired_crowded: {
    ...failed(
      'expired',
      'Nobody filled the transfer in time. Which refund on the source chain is its own cannot be told among many.',
    ),
    terminal: false,
    nextPollAfterMs: 600_000,
  },
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

/** What is known of a transfer besides how things stand. */
export type RecordedTransfer = Omit<TransferStatus, keyof Outcome | 'final'>

/** What is known of a transfer of which only the source transaction is. */
export function knownOfSource(key: TransferKey): RecordedTransfer {
  return {
    depositId: key.transactionHash,
    action: null,
    srcChain: namedChain(key.sourceChainId) ?? { id: key.sourceChainId, name: 'unknown' },
    dstChain: null,
    inputAmount: null,
    outputAmount: null,
    timestamps: { initiated: null, bridged: null, completed: null },
    transactions: { source: key.transactionHash, fill: null },
  }
}

/** What is known of a transfer once its deposit is seen. */
export function knownOfDeposit(
  key: TransferKey,
  { deposit, initiated, action }: { deposit: BridgeDeposit; initiated: Date; action: RecordedTransfer['action'] },
): RecordedTransfer {
  return {
    ...knownOfSource(key),
    action,
    dstChain: namedChain(deposit.destinationChainId),
    inputAmount: deposit.relayData.inputAmount,
    timestamps: { initiated, bridged: null, completed: null },
  }
}
