import {
  type Abi,
  type Address,
  type ContractEventName,
  decodeAbiParameters,
  encodeAbiParameters,
  encodeEventTopics,
  getAddress,
  type Hash,
  type Hex,
  isAddressEqual,
  keccak256,
  pad,
  slice,
  zeroHash,
} from 'viem'
import { min, sum } from '../bigint.ts'
import { decodeCall, decodeLog } from '../chain/decode.ts'
import { erc20Abi } from '../chain/erc20.ts'
import type { Log } from '../chain/logs.ts'
import { OPERATIONS } from '../protocols/operations.ts'
import { handlerAbi, instructionsParameters, poolAbi, relayDataParameters } from './abi.ts'
import type { BridgeDeposit } from './transfer.ts'

/** A fill of a deposit: its log location, and what it did, which the depositor can have changed since the deposit. */
export type Fill = {
  readonly transactionHash: Hash
  readonly blockNumber: bigint
  readonly logIndex: number
  /** What was delivered, in the output token's smallest unit. */
  readonly outputAmount: bigint
  readonly recipient: Hex
  /** keccak256 of the message that was run, zero for none. */
  readonly messageHash: Hash
}

/**
 * What a fill led to:
 *
 * * `deposited`: the vault that the message names took the deposit for the account; `logIndex` is that of its event.
 * * `delivered`: the tokens arrived, and no deposit was asked for, or none that we can tell.
 * * `destination_action_failed`: the message's calls failed, and `returned` went to whom it names for that case.
 * * `unproven`: the message names a deposit, and the logs show neither the deposit nor its failure.
 */
export type FillOutcome =
  | { readonly result: 'deposited'; readonly logIndex: number }
  | { readonly result: 'delivered' }
  | { readonly result: 'destination_action_failed'; readonly returned: bigint | undefined }
  | { readonly result: 'unproven' }

/** The topics of the pool's events that are searched for. */
export const POOL_TOPICS = {
  /** Its second and third topics are the origin chain and the deposit id. */
  filled: getTopic('FilledRelay'),
  /** Their fourth topic is the depositor. */
  deposited: [getTopic('FundsDeposited'), getTopic('V3FundsDeposited')],
  refunded: [getTopic('ExecutedRelayerRefundRoot'), getTopic('ClaimedRelayerRefund')],
} as const

/** The deposits among a transaction's logs, in order: those of the pool itself, FundsDeposited, and V3FundsDeposited in older logs. */
export function parseDeposits(logs: readonly Log[], pool: Address, originChainId: number): BridgeDeposit[] {
  return parseEvents(poolAbi, logs, pool).flatMap(({ event }) => {
    if (event.eventName !== 'FundsDeposited' && event.eventName !== 'V3FundsDeposited') return []
    const { args } = event
    const relayData = {
      depositor: toWord(args.depositor),
      recipient: toWord(args.recipient),
      exclusiveRelayer: toWord(args.exclusiveRelayer),
      inputToken: toWord(args.inputToken),
      outputToken: toWord(args.outputToken),
      inputAmount: args.inputAmount,
      outputAmount: args.outputAmount,
      originChainId: BigInt(originChainId),
      depositId: BigInt(args.depositId),
      fillDeadline: args.fillDeadline,
      exclusivityDeadline: args.exclusivityDeadline,
      message: args.message,
    }
    // No chain that could be read has such a number.
    const isNumber = args.destinationChainId <= BigInt(Number.MAX_SAFE_INTEGER)
    return [{ relayData, destinationChainId: isNumber ? Number(args.destinationChainId) : 0 }]
  })
}

/** What the destination's pool knows a deposit by: keccak256(abi.encode(relayData, destinationChainId)). */
export function relayHash({ relayData, destinationChainId }: BridgeDeposit): Hash {
  return keccak256(encodeAbiParameters(relayDataParameters, [relayData, BigInt(destinationChainId)]))
}

/** The fill of this very deposit among logs of the destination's pool, undefined where there is none. */
export function findFill(logs: readonly Log[], pool: Address, { relayData }: BridgeDeposit): Fill | undefined {
  const { message, ...fields } = relayData
  for (const { event, log } of parseEvents(poolAbi, logs, pool)) {
    if (event.eventName !== 'FilledRelay') continue
    const { relayExecutionInfo, messageHash, ...args } = event.args
    const isSame =
      messageHash === hashMessage(message) &&
      // The names are those of `fields`, which the type of its entries does not say.
      Object.entries(fields).every(([name, value]) => value === args[name as keyof typeof fields])
    if (!isSame) continue
    const { transactionHash, blockNumber, logIndex } = log
    const { updatedOutputAmount: outputAmount, updatedRecipient: recipient, updatedMessageHash } = relayExecutionInfo
    return { transactionHash, blockNumber, logIndex, outputAmount, recipient, messageHash: updatedMessageHash }
  }
  return undefined
}

/**
 * What the deposit's fill led to, from all logs of its transaction. Those between its own FilledRelay and the pool's next
 * one belong to it, and the message that the fill ran comes first among them: the first log that decides is its own,
 * whatever strangers let the handler do in the same transaction.
 */
export function parseFillOutcome(
  logs: readonly Log[],
  { pool, handler, fill, deposit }: { pool: Address; handler: Address; fill: Fill; deposit: BridgeDeposit },
): FillOutcome {
  const { depositor, outputToken } = deposit.relayData
  const isRun = fill.messageHash !== zeroHash && fill.recipient !== depositor
  if (!isRun || !isAddressEqual(toAddress(fill.recipient), handler)) return { result: 'delivered' }

  const next = logs.find(
    ({ address, logIndex, topics }) =>
      isAddressEqual(address, pool) && logIndex > fill.logIndex && topics[0] === POOL_TOPICS.filled,
  )
  const own = logs.filter(({ logIndex }) => logIndex > fill.logIndex && logIndex < (next?.logIndex ?? Infinity))
  // Of a message that the depositor sent later, only its hash is known.
  const isKnown = fill.messageHash === hashMessage(deposit.relayData.message)
  const message = isKnown ? parseMessage(deposit) : undefined
  const named = message?.deposit
  const isOfMessage = (fallback: Address) => !message || isAddressEqual(fallback, message.fallbackRecipient)

  for (const [index, log] of own.entries()) {
    if (isAddressEqual(log.address, handler)) {
      const event = decodeLog(handlerAbi, log)
      if (event?.eventName === 'CallsFailed' && isOfMessage(event.args.fallbackRecipient)) {
        const returned = findReturned(own.slice(index), handler, event.args.fallbackRecipient, outputToken)
        return { result: 'destination_action_failed', returned }
      }
    }
    if (named && isAddressEqual(log.address, named.vault)) {
      const taken = named.operation.taken(log, own)
      const isOwn = taken && isAddressEqual(taken.account, named.account) && isAddressEqual(taken.payer, handler)
      if (isOwn) return { result: 'deposited', logIndex: log.logIndex }
    }
  }
  if (!named) return { result: 'delivered' }
  // Calls that deposit nothing and fail nothing, such as those of a vault without code, leave it all to the account.
  const returned = findReturned(own, handler, named.account, outputToken)
  const isAll = returned !== undefined && returned >= fill.outputAmount
  return isAll ? { result: 'destination_action_failed', returned } : { result: 'unproven' }
}

/**
 * A deposit's message to the handler, ours or another tool's: whom it names for the case that it fails, and the deposit
 * that it makes, if any. Undefined where it is none.
 */
export function parseMessage({ relayData }: BridgeDeposit) {
  try {
    const [{ calls, fallbackRecipient }] = decodeAbiParameters(instructionsParameters, relayData.message)
    return { fallbackRecipient, deposit: calls.flatMap(parseDepositCall).at(-1) }
  } catch {
    return undefined
  }
}

/** Who sends a token to its own address on another chain, with no message, and which; undefined for any other transfer. */
export function parseOwnTransfer(deposit: BridgeDeposit): { account: Address; token: Address } | undefined {
  const { depositor, recipient, message } = deposit.relayData
  const { depositor: account, token } = getPayee(deposit)
  return message === '0x' && recipient === depositor ? { account, token } : undefined
}

/** The deposit that a call of a message makes, directly or with the handler's balance; at most one. */
function parseDepositCall({ target, callData }: { target: Address; callData: Hex }) {
  const [vault, data] = decodeCall(handlerAbi, callData)?.args ?? [target, callData]
  const operations = Object.values(OPERATIONS).flatMap(({ deposits }) => deposits)
  return operations.flatMap((operation) => {
    const terms = operation.decode(data)
    return terms ? [{ vault, account: terms.receiver, operation }] : []
  })
}

/**
 * What the pool paid to the depositor of this deposit in its token, among these logs, in order. Of a leaf that defers
 * some of its payments the token's own Transfer events say which it made: without them it paid nothing.
 */
export function parsePayments(logs: readonly Log[], pool: Address, deposit: BridgeDeposit) {
  const { depositor, token } = getPayee(deposit)
  return parseEvents(poolAbi, logs, pool).flatMap(({ event, log }) => {
    const { blockNumber, blockTimestamp } = log
    if (event.eventName === 'ClaimedRelayerRefund') {
      const { l2TokenAddress, caller, amount } = event.args
      // It is the caller's refund, wherever the caller has it sent.
      const isPaid =
        isAddressEqual(toAddress(l2TokenAddress), token) && isAddressEqual(caller, depositor) && amount > 0n
      return isPaid ? [{ amount, blockNumber, blockTimestamp }] : []
    }
    const due = parseDue(event, deposit)
    const paid = due.isDeferring ? takePaid(due.amounts, parseTransfers(logs, log, pool, deposit)) : due.amounts
    const amount = sum(paid)
    return amount > 0n ? [{ amount, blockNumber, blockTimestamp }] : []
  })
}

/** The transactions of these logs whose other logs say what a leaf paid to the depositor of this deposit in its token. */
export function deferringTransactions(logs: readonly Log[], pool: Address, deposit: BridgeDeposit): Hash[] {
  const hashes = parseEvents(poolAbi, logs, pool).flatMap(({ event, log }) => {
    const { isDeferring, amounts } = parseDue(event, deposit)
    return isDeferring && amounts.length > 0 ? [log.transactionHash] : []
  })
  return [...new Set(hashes)]
}

/** What a leaf owes to the depositor of this deposit in its token, and whether it defers payments, to anybody. */
function parseDue(event: ReturnType<typeof decodeLog<typeof poolAbi>>, deposit: BridgeDeposit) {
  if (event?.eventName !== 'ExecutedRelayerRefundRoot') return { isDeferring: false, amounts: [] }
  const { depositor, token } = getPayee(deposit)
  const { l2TokenAddress, refundAddresses, refundAmounts, deferredRefunds: isDeferring } = event.args
  if (!isAddressEqual(l2TokenAddress, token)) return { isDeferring, amounts: [] }
  return { isDeferring, amounts: refundAmounts.filter((_, index) => refundAddresses[index] === depositor) }
}

/** What the pool sent to the depositor for a leaf: it pays before it emits the leaf's event, and after the last one's. */
function parseTransfers(logs: readonly Log[], leaf: Log, pool: Address, deposit: BridgeDeposit): bigint[] {
  const { depositor, token } = getPayee(deposit)
  const before = logs.filter(
    ({ transactionHash, logIndex }) => transactionHash === leaf.transactionHash && logIndex < leaf.logIndex,
  )
  const last = before.findLast(({ address, topics }) => isAddressEqual(address, pool) && topics[0] === leaf.topics[0])
  return parseEvents(erc20Abi, before, token).flatMap(({ event: { args }, log }) => {
    const isAfterLast = log.logIndex > (last?.logIndex ?? -1)
    return isAfterLast && isAddressEqual(args.from, pool) && isAddressEqual(args.to, depositor) ? [args.value] : []
  })
}

/** Those of the amounts due that were paid, each by a transfer of its own. */
function takePaid(due: readonly bigint[], transfers: readonly bigint[]): bigint[] {
  const left = [...transfers]
  return due.filter((amount) => {
    const at = left.indexOf(amount)
    if (at >= 0) left.splice(at, 1)
    return at >= 0
  })
}

function getPayee({ relayData }: BridgeDeposit): { depositor: Address; token: Address } {
  return { depositor: toAddress(relayData.depositor), token: toAddress(relayData.inputToken) }
}

/** A deposit that the pool owes back from its deadline on, in seconds since 1970. */
type Debt = { readonly deadline: bigint; readonly amount: bigint }

/**
 * The payment that pays the last of the debts back, undefined where none does. Nothing on the chain says which deposit a
 * payment is for, so it counts for the oldest debt, and what is paid when nothing is owed counts for none. Debts are in
 * the order of their deadlines, payments in the order of their times.
 */
export function findRepayment<P extends { readonly amount: bigint; readonly timestamp: bigint }>(
  debts: readonly Debt[],
  payments: readonly P[],
): P | undefined {
  const owed = debts.map((debt) => ({ ...debt }))
  for (const payment of payments) {
    let left = payment.amount
    for (const debt of owed.filter(({ deadline }) => deadline < payment.timestamp)) {
      const paid = min(left, debt.amount)
      debt.amount -= paid
      left -= paid
    }
    if (owed.at(-1)?.amount === 0n) return payment
  }
  return undefined
}

/** The 20-byte address in a 32-byte one. */
function toAddress(bytes32: Hex): Address {
  return getAddress(slice(bytes32, 12))
}

/** An address or a word as 32 bytes in lower case, in which a word from a log is written too. */
function toWord(account: Hex): Hex {
  return `0x${pad(account).slice(2).toLowerCase()}`
}

/** What the handler sent on of a token to an account, undefined where it sent nothing. */
function findReturned(logs: readonly Log[], handler: Address, to: Address, outputToken: Hex): bigint | undefined {
  for (const { event } of parseEvents(handlerAbi, logs, handler)) {
    if (event.eventName !== 'DrainedTokens') continue
    const { recipient, token, amount } = event.args
    if (isAddressEqual(recipient, to) && isAddressEqual(token, toAddress(outputToken))) return amount
  }
  return undefined
}

function hashMessage(message: Hex): Hash {
  return message === '0x' ? zeroHash : keccak256(message)
}

/** The events of this ABI that the contract emitted, among these logs. */
function parseEvents<const abi extends Abi>(abi: abi, logs: readonly Log[], contract: Address) {
  return logs.flatMap((log) => {
    const event = isAddressEqual(log.address, contract) ? decodeLog(abi, log) : undefined
    return event ? [{ event, log }] : []
  })
}

function getTopic(eventName: ContractEventName<typeof poolAbi>): Hash {
  return encodeEventTopics({ abi: poolAbi, eventName })[0]
}
