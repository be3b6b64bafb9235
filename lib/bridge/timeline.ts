import type { Hash } from 'viem'
import { evmChain } from '../chain/registry.ts'
import type { Transaction } from '../chain/transaction.ts'
import { min } from '../core/bigint.ts'
import { toDate } from '../core/time.ts'
import { buildRefundClaim } from './calldata.ts'
import { parseMessage, toAddress } from './events.ts'
import { type BridgeToken, findBridgeToken } from './tokens.ts'
import type { Ending, Outcome, Transfer, TransferEvent, TransferKey, TransferStatus } from './transfer.ts'

type Row = Pick<TransferStatus, 'status' | 'statusDescription' | 'reason' | 'terminal' | 'nextPollAfterMs'>

/** Status fields of the API for each outcome of a transfer. */
export const STATUS_BY_OUTCOME: Readonly<Record<Outcome, Row>> = {
  pending: open('pending', 'Transaction submitted, waiting to be mined.', 3_000),
  bridging: open('bridging', 'The bridge is processing the cross-chain transfer.', 3_000),
  bridging_slowly: open(
    'bridging',
    'The bridge is processing the cross-chain transfer slowly; this can take hours.',
    60_000,
  ),
  locating: open('bridging', 'The funds have left the bridge. Looking up where they arrived.', 2_000),
  unproven: open('bridging', 'The funds have left the bridge. The deposit into the vault is not visible yet.', 30_000),
  deposited: ended('completed', 'Funds delivered to the destination and deposited.'),
  deposited_elsewhere: ended(
    'completed',
    'Funds deposited as the depositor decided later: see the vault and the account.',
  ),
  delivered: ended('completed', 'Funds delivered to the destination.'),
  delivered_elsewhere: ended('completed', 'Funds delivered to another recipient, as the depositor decided later.'),
  undelivered: failed(
    'undelivered',
    'The funds arrived without an instruction. They lie at a public contract from which anyone can take them.',
  ),
  destination_action_failed: failed(
    'destination_action_failed',
    'The action on the destination failed. The tokens went to the fallback account of the transfer.',
  ),
  destination_not_followed: {
    ...ended('bridging', 'The transfer goes to a chain that this service does not read.'),
    reason: 'destination_not_followed',
  },
  source_reverted: failed('source_reverted', 'The source transaction reverted.'),
  no_deposit_in_transaction: failed('no_deposit_in_transaction', 'The source transaction has no bridge deposit.'),
  no_deposit_with_index: failed(
    'no_deposit_in_transaction',
    'The source transaction has no bridge deposit with this index, but others. Count from 0.',
  ),
  source_dropped: failed(
    'source_dropped',
    'The transaction was not included and no longer can be. The account made no deposit with its terms.',
  ),
  expired: expired('The transfer was not filled in time. The refund on the source chain comes within hours.', 600_000),
  expired_searching: expired('The transfer was not filled in time. Looking up its refund on the source chain.', 10_000),
  expired_undecided: failed(
    'expired',
    'The transfer was not filled in time. The bridge may have refunded it: payments on the source chain do not name their transfer.',
  ),
  refund_owed: expired(
    'The transfer was not filled in time. The bridge could not pay the refund to the account, which has to claim it.',
    600_000,
  ),
  refunded: failed('refunded', 'The transfer was not filled in time. The bridge refunded it on the source chain.'),
  refund_not_found: failed(
    'refund_not_found',
    'The transfer was not filled in time. No refund appeared on the source chain in two weeks.',
  ),
}

function open(status: Row['status'], statusDescription: string, nextPollAfterMs: number): Row {
  return { status, statusDescription, reason: null, terminal: false, nextPollAfterMs }
}

function ended(status: Row['status'], statusDescription: string): Row {
  return { status, statusDescription, reason: null, terminal: true, nextPollAfterMs: null }
}

function failed(reason: NonNullable<Row['reason']>, statusDescription: string): Row {
  return { status: 'failed', statusDescription, reason, terminal: true, nextPollAfterMs: null }
}

function expired(statusDescription: string, nextPollAfterMs: number): Row {
  return { status: 'failed', statusDescription, reason: 'expired', terminal: false, nextPollAfterMs }
}

/** Returns the vault and the account of the deposit that a transfer's message instructs; undefined if the bridge only delivers tokens. */
export function getTarget({ deposit }: Pick<Transfer, 'deposit'>) {
  const named = parseMessage(deposit)?.deposit
  return named && { chainId: deposit.destinationChainId, address: named.vault, account: named.account }
}

/** Returns the outcome that the transfer's last event proves; undefined if no event shows a fill or a refund. */
export function deriveOutcome({ deposit, events }: Pick<Transfer, 'deposit' | 'events'>): Outcome | undefined {
  const last = events.at(-1)
  const target = getTarget({ deposit })
  switch (last?.kind) {
    case 'vault_deposited': {
      const isNamed = target?.address === last.vaultAddress && target.account === last.account
      return isNamed ? 'deposited' : 'deposited_elsewhere'
    }
    case 'delivered': {
      const { recipient, message } = deposit.relayData
      const isNamed = last.account === toAddress(recipient) || (message !== '0x' && !isSpedUp(events))
      return isNamed || last.account === toAddress(deposit.relayData.depositor) ? 'delivered' : 'delivered_elsewhere'
    }
    case 'undelivered':
      return 'undelivered'
    case 'action_failed':
      return 'destination_action_failed'
    case 'filled':
      return 'unproven'
    case 'refund_owed':
      return 'refund_owed'
    case 'refunded':
      return 'refunded'
    default:
      return undefined
  }
}

function isSpedUp(events: readonly TransferEvent[]): boolean {
  return events.some(({ kind }) => kind === 'sped_up')
}

/**
 * Builds the API status of a transfer with this outcome, from its events. `isFinal` must be true only for an outcome
 * that ends the transfer.
 */
export function describeTransfer(
  transfer: Pick<Transfer, 'deposit' | 'events' | 'quote'>,
  outcome: Outcome,
  isFinal = false,
): TransferStatus {
  const { deposit, events, quote } = transfer
  const { relayData, destinationChainId } = deposit
  const find = (...kinds: readonly TransferEvent['kind'][]) => events.find(({ kind }) => kinds.includes(kind))
  const [deposited] = events
  const filled = find('filled')
  const taken = find('vault_deposited')
  const arrived = find('delivered', 'undelivered', 'action_failed')
  const refund = find('refunded') ?? find('refund_owed')
  const row = STATUS_BY_OUTCOME[outcome]
  const completed = row.status === 'completed' ? filled : undefined
  const target = getTarget(transfer)
  const isDeposit = filled && outcome !== 'unproven' ? taken || find('action_failed') : target
  const source = Number(relayData.originChainId)
  return {
    ...buildEmptyStatus(source, deposited.txHash, outcome, isFinal),
    action: isDeposit ? 'deposit' : 'none',
    dstChain: destinationChainId ? nameChain(destinationChainId) : null,
    inputAmount: relayData.inputAmount,
    outputAmount: find('action_failed') ? (arrived?.amount ?? null) : minKnown(filled?.amount, taken?.amount),
    timestamps: { initiated: deposited.at, bridged: filled?.at ?? null, completed: completed?.at ?? null },
    transactions: { source: deposited.txHash, fill: filled?.txHash ?? null },
    depositor: toAddress(relayData.depositor),
    recipient: arrived ? arrived.account : ((taken ?? target)?.account ?? toAddress(relayData.recipient)),
    vaultAddress:
      filled && !find('action_failed') && outcome !== 'unproven'
        ? (taken?.vaultAddress ?? null)
        : (target?.address ?? null),
    input: withToken(source, toAddress(relayData.inputToken), relayData.inputAmount),
    output: withToken(destinationChainId, toAddress(relayData.outputToken), filled?.amount ?? relayData.outputAmount),
    sharesReceived: taken?.shares ?? null,
    expectedAt:
      quote && row.status === 'bridging' && !filled
        ? new Date(deposited.at.getTime() + quote.expectedFillSeconds * 1000)
        : null,
    deadline: toDate(BigInt(relayData.fillDeadline)),
    refund: refund ? describeRefund(source, refund, relayData.inputAmount) : null,
    events: [...events],
    links: {
      source: linkTo(source, deposited.txHash),
      fill: filled ? linkTo(destinationChainId, filled.txHash) : null,
      refund: refund ? linkTo(source, refund.txHash) : null,
    },
  }
}

/**
 * Returns the smaller of the delivered amount and the amount that the vault took; null if the delivered amount is
 * unknown. The vault can also take more than was delivered, if tokens were left at the handler contract.
 */
function minKnown(delivered: bigint | null | undefined, taken: bigint | null | undefined): bigint | null {
  if (delivered === null || delivered === undefined) return null
  return taken === null || taken === undefined ? delivered : min(delivered, taken)
}

/** Builds the API status of a transaction hash for which no bridge deposit is known. */
export function buildEmptyStatus(sourceChainId: number, hash: Hash, outcome: Outcome, isFinal = false): TransferStatus {
  return {
    depositId: hash,
    ...STATUS_BY_OUTCOME[outcome],
    final: isFinal && STATUS_BY_OUTCOME[outcome].terminal,
    action: null,
    srcChain: nameChain(sourceChainId),
    dstChain: null,
    inputAmount: null,
    outputAmount: null,
    timestamps: { initiated: null, bridged: null, completed: null },
    transactions: { source: hash, fill: null },
    depositor: null,
    recipient: null,
    vaultAddress: null,
    input: null,
    output: null,
    sharesReceived: null,
    expectedAt: null,
    deadline: null,
    refund: null,
    replacedBy: null,
    events: [],
    links: { source: linkTo(sourceChainId, hash), fill: null, refund: null },
  }
}

function describeRefund(chainId: number, event: TransferEvent, amount: bigint): TransferStatus['refund'] {
  const { kind, txHash, at, token, account } = event
  const pool = evmChain(chainId)?.bridge?.pool
  if (!token || !account || !pool) return null
  const claim: Transaction | null = kind === 'refund_owed' ? buildRefundClaim(pool, token, account) : null
  return { chainId, token, amount, txHash, at, claim: claim && { chainId, ...claim } }
}

function withToken(chainId: number, token: `0x${string}`, amount: bigint) {
  const known: BridgeToken | undefined = findBridgeToken(chainId, token)
  return { token, symbol: known?.symbol ?? null, decimals: known?.decimals ?? null, amount }
}

function nameChain(id: number) {
  return { id, name: evmChain(id)?.name ?? 'unknown' }
}

function linkTo(chainId: number, hash: Hash): string {
  return `${evmChain(chainId)?.explorerUrl}/tx/${hash}`
}

/**
 * Maximum number of endings (terminal outcomes with their events) that are stored per transfer until clients are
 * notified. Each reorganisation can replace an ending by another.
 */
const MAX_ENDINGS = 5

/**
 * Adds an ending (a terminal outcome with its events) to the stored endings. Does nothing if the ending is stored
 * already or the transfer is final. Outcomes without a fill are not added, because only final blocks prove them.
 */
export function addEnding(
  key: TransferKey,
  { latest, events, final, deposit }: Transfer,
  outcome: Outcome,
): Transfer['latest'] {
  const { endings = [], version = 0 } = latest ?? {}
  const last = endings.at(-1)
  const ending = { outcome, events }
  const isEnding = STATUS_BY_OUTCOME[outcome].terminal && events.some(({ kind }) => kind === 'filled')
  if (final || !isEnding || !nameTransferEventType(STATUS_BY_OUTCOME[outcome])) return latest
  const keyOf = (one: Ending) => buildEndingEventKey(key, { deposit, ...one })
  if (last && keyOf(last) === keyOf(ending)) return latest
  // All endings are kept, because an aborted job may have notified clients of any of them. Above the maximum, clients
  // are notified only of the final ending.
  if (endings.length === MAX_ENDINGS) return latest
  return { endings: [...endings, ending], isPublished: false, version: version + 1 }
}

/** Keeps only the last ending of a transfer, and marks it as published to clients. */
export function markTransferPublished({ endings, version }: NonNullable<Transfer['latest']>): Transfer['latest'] {
  return { endings: endings.slice(-1), isPublished: true, version: version + 1 }
}

/** Returns true if clients may have to be notified of a transfer: the transfer is final, or has an unpublished ending. */
export function isUnreported({ final, latest }: Transfer): boolean {
  return final !== undefined || latest?.isPublished === false
}

/** Builds the key of the webhook event that reports a transfer's final outcome. */
export function buildFinalEventKey({ sourceChainId, relayHash }: TransferKey): string {
  return ['transfer', sourceChainId, relayHash].join('#')
}

/**
 * Builds the key of the webhook event for an ending, from its type and its fill. After a reorganisation, another fill
 * gives another key.
 */
export function buildEndingEventKey(
  key: TransferKey,
  { deposit, outcome, events }: Pick<Transfer, 'deposit'> & Ending,
): string {
  const { timestamps, transactions, outputAmount } = describeTransfer({ deposit, events }, outcome)
  const fill = [timestamps.bridged?.getTime(), transactions.fill, outputAmount]
  return [buildFinalEventKey(key), nameTransferEventType(STATUS_BY_OUTCOME[outcome]), ...fill].join('#')
}

/** Returns the type of the webhook event for a transfer's status; undefined if clients are not notified of that status. */
export function nameTransferEventType({ status, reason }: Pick<TransferStatus, 'status' | 'reason'>) {
  if (status === 'completed') return 'transfer.completed'
  if (status !== 'failed') return undefined
  return reason === 'refunded' ? 'transfer.refunded' : 'transfer.failed'
}
