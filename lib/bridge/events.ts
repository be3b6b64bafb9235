import {
  type Address,
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
  toEventSelector,
  zeroHash,
} from 'viem'
import { decodeCall, decodeLog } from '../chain/decode.ts'
import { erc20Abi } from '../chain/erc20.ts'
import type { Log, LogFilter } from '../chain/logs.ts'
import type { DepositOperation } from '../protocols/calldata.ts'
import { OPERATIONS } from '../protocols/operations.ts'
import { handlerAbi, instructionsParameters, poolAbi, relayDataParameters } from './abi.ts'

/** A deposit into the bridge as the pool's event tells it: what identifies its fill. Addresses are 32 bytes, amounts in smallest units. */
type RelayData = {
  readonly depositor: Hex
  readonly recipient: Hex
  readonly exclusiveRelayer: Hex
  readonly inputToken: Hex
  readonly outputToken: Hex
  readonly inputAmount: bigint
  readonly outputAmount: bigint
  readonly originChainId: bigint
  readonly depositId: bigint
  /** Seconds since 1970, by the destination's clock. */
  readonly fillDeadline: number
  readonly exclusivityDeadline: number
  readonly message: Hex
}

/** A deposit into the bridge and where it goes; `destinationChainId` is 0 where it is too large for a number. */
export type BridgeDeposit = { readonly relayData: RelayData; readonly destinationChainId: number }

/** A fill of a deposit: where its event stands, and what it did, which a depositor can have changed since the deposit. */
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
 * * `deposited`: the vault that the message names took the deposit for the user; `logIndex` is where its event stands.
 * * `delivered`: the tokens arrived, and no deposit was asked for, or none that we can tell.
 * * `action_failed`: the message's calls failed, and `returned` went to whom it names for that case.
 * * `unproven`: the message names a deposit, and the logs show neither the deposit nor its failure.
 */
export type FillOutcome =
  | { readonly result: 'deposited'; readonly logIndex: number }
  | { readonly result: 'delivered' }
  | { readonly result: 'action_failed'; readonly returned: bigint | undefined }
  | { readonly result: 'unproven' }

/** A deposit into a vault as a message names it. */
type NamedDeposit = {
  readonly vault: Address
  readonly user: Address
  readonly operation: DepositOperation
}

/** The topics of the pool's events that are searched for. */
export const POOL_TOPICS = {
  /** Its second and third topics are the origin chain and the deposit id. */
  filled: selectorOf('FilledRelay'),
  /** Their fourth topic is the depositor. */
  deposited: [selectorOf('FundsDeposited'), selectorOf('V3FundsDeposited')],
  refunded: [selectorOf('ExecutedRelayerRefundRoot'), selectorOf('ClaimedRelayerRefund')],
} as const

/** The deposits among a transaction's logs, in order: those of the pool itself, in the form of today and of old. */
export function parseDeposits(logs: readonly Log[], pool: Address, originChainId: number): BridgeDeposit[] {
  return ofContract(logs, pool).flatMap((log) => {
    const event = decodeLog(poolAbi, log)
    if (event?.eventName !== 'FundsDeposited' && event?.eventName !== 'V3FundsDeposited') return []
    const { args } = event
    const relayData = {
      depositor: wordOf(args.depositor),
      recipient: wordOf(args.recipient),
      exclusiveRelayer: wordOf(args.exclusiveRelayer),
      inputToken: wordOf(args.inputToken),
      outputToken: wordOf(args.outputToken),
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
  const fills = ofContract(logs, pool).flatMap((log) => {
    const event = decodeLog(poolAbi, log)
    if (event?.eventName !== 'FilledRelay') return []
    const { relayExecutionInfo, messageHash, ...args } = event.args
    const { message, ...fields } = relayData
    const same =
      messageHash === hashOf(message) &&
      Object.entries(fields).every(([name, value]) => value === args[name as keyof typeof fields])
    const { transactionHash, blockNumber, logIndex } = log
    const { updatedOutputAmount: outputAmount, updatedRecipient, updatedMessageHash } = relayExecutionInfo
    const done = { outputAmount, recipient: updatedRecipient, messageHash: updatedMessageHash }
    return same ? [{ transactionHash, blockNumber, logIndex, ...done }] : []
  })
  return fills[0]
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
  if (!isRun || !isAddressEqual(addressIn(fill.recipient), handler)) return { result: 'delivered' }

  const next = ofContract(logs, pool).find(
    ({ logIndex, topics }) => logIndex > fill.logIndex && topics[0] === POOL_TOPICS.filled,
  )
  const own = logs.filter(({ logIndex }) => logIndex > fill.logIndex && logIndex < (next?.logIndex ?? Infinity))
  // Of a message that the depositor sent later, only its hash is known.
  const isKnown = fill.messageHash === hashOf(deposit.relayData.message)
  const message = isKnown ? parseMessage(deposit) : undefined
  const named = message?.deposit
  const isOfMessage = (fallback: Address) => !message || isAddressEqual(fallback, message.fallbackRecipient)

  for (const [index, log] of own.entries()) {
    if (isAddressEqual(log.address, handler)) {
      const event = decodeLog(handlerAbi, log)
      if (event?.eventName === 'CallsFailed' && isOfMessage(event.args.fallbackRecipient)) {
        const to = event.args.fallbackRecipient
        return { result: 'action_failed', returned: returnedAmount(own.slice(index), { handler, to, outputToken }) }
      }
    }
    if (named && isAddressEqual(log.address, named.vault)) {
      const taken = named.operation.taken(log)
      if (taken && isAddressEqual(taken.user, named.user) && isAddressEqual(taken.payer, handler)) {
        return { result: 'deposited', logIndex: log.logIndex }
      }
    }
  }
  if (!named) return { result: 'delivered' }
  // Calls that deposit nothing and fail nothing, such as those of a vault without code, leave it all to the user.
  const returned = returnedAmount(own, { handler, to: named.user, outputToken })
  const isAll = returned !== undefined && returned >= fill.outputAmount
  return isAll ? { result: 'action_failed', returned } : { result: 'unproven' }
}

/** Whom a message to the handler names for the case that it fails, and the deposit that it makes, undefined for none. */
type Message = { readonly fallbackRecipient: Address; readonly deposit: NamedDeposit | undefined }

/** A deposit's message to the handler, ours or another tool's; undefined where it is none. */
export function parseMessage({ relayData }: BridgeDeposit): Message | undefined {
  try {
    const [{ calls, fallbackRecipient }] = decodeAbiParameters(instructionsParameters, relayData.message)
    const deposits = calls.flatMap(({ target, callData }) => namedDeposit(target, callData))
    return { fallbackRecipient, deposit: deposits.at(-1) }
  } catch {
    return undefined
  }
}

/** The deposit that a call of a message makes, directly or with the handler's balance. */
function namedDeposit(target: Address, callData: Hex): NamedDeposit[] {
  const [vault, data] = decodeCall(handlerAbi, callData)?.args ?? [target, callData]
  const operations = Object.values(OPERATIONS).flatMap(({ deposits }) => deposits)
  return operations.flatMap((operation) => {
    const terms = operation.decode(data)
    return terms ? [{ vault, user: terms.receiver, operation }] : []
  })
}

/** What a pool paid back to one account. */
export type Payment = {
  readonly amount: bigint
  readonly blockNumber: bigint
  readonly blockTimestamp: bigint | undefined
}

/**
 * What the pool paid to the depositor of this deposit in its token, among these logs, in order. Of a leaf that defers
 * some of its payments the token's own Transfer events say which it made: without them it paid nothing.
 */
export function parsePayments(logs: readonly Log[], pool: Address, deposit: BridgeDeposit): Payment[] {
  const { depositor, token } = payeeOf(deposit)
  return ofContract(logs, pool).flatMap((log) => {
    const event = decodeLog(poolAbi, log)
    const { blockNumber, blockTimestamp } = log
    if (event?.eventName === 'ClaimedRelayerRefund') {
      const { l2TokenAddress, caller, amount } = event.args
      // It is the caller's refund, wherever the caller has it sent.
      const isPaid =
        isAddressEqual(addressIn(l2TokenAddress), token) && isAddressEqual(caller, depositor) && amount > 0n
      return isPaid ? [{ amount, blockNumber, blockTimestamp }] : []
    }
    const due = dueIn(event, deposit)
    const paid = due.isDeferring
      ? madeAmong(due.amounts, transfersOfLeaf(logs, log, { pool, depositor, token }))
      : due.amounts
    const amount = paid.reduce((sum, part) => sum + part, 0n)
    return amount > 0n ? [{ amount, blockNumber, blockTimestamp }] : []
  })
}

/** The transactions of these logs whose other logs say what a leaf paid to the depositor of this deposit in its token. */
export function deferringTransactions(logs: readonly Log[], pool: Address, deposit: BridgeDeposit): Hash[] {
  const deferring = ofContract(logs, pool).filter((log) => {
    const { isDeferring, amounts } = dueIn(decodeLog(poolAbi, log), deposit)
    return isDeferring && amounts.length > 0
  })
  return [...new Set(deferring.map(({ transactionHash }) => transactionHash))]
}

/** The token's Transfer events of what the pool sends to the depositor of this deposit. */
export function refundTransfers(pool: Address, deposit: BridgeDeposit): LogFilter {
  const { depositor, token } = payeeOf(deposit)
  const topics = encodeEventTopics({ abi: erc20Abi, eventName: 'Transfer', args: { from: pool, to: depositor } })
  return { address: token, topics: topics as Hex[] }
}

type PoolEvent = ReturnType<typeof decodeLog<typeof poolAbi>>

/** What a leaf owes to the depositor of this deposit in its token, and whether it defers payments, of anybody's. */
function dueIn(event: PoolEvent, deposit: BridgeDeposit): { isDeferring: boolean; amounts: readonly bigint[] } {
  if (event?.eventName !== 'ExecutedRelayerRefundRoot') return { isDeferring: false, amounts: [] }
  const { depositor, token } = payeeOf(deposit)
  const { l2TokenAddress, refundAddresses, refundAmounts, deferredRefunds: isDeferring } = event.args
  if (!isAddressEqual(l2TokenAddress, token)) return { isDeferring, amounts: [] }
  return { isDeferring, amounts: refundAmounts.filter((_, index) => refundAddresses[index] === depositor) }
}

/** What the pool sent to the depositor for a leaf: it pays before it emits the leaf's event, and after the last one's. */
function transfersOfLeaf(
  logs: readonly Log[],
  leaf: Log,
  { pool, depositor, token }: { pool: Address; depositor: Address; token: Address },
): bigint[] {
  const before = logs.filter(
    ({ transactionHash, logIndex }) => transactionHash === leaf.transactionHash && logIndex < leaf.logIndex,
  )
  const last = ofContract(before, pool).findLast(({ topics }) => topics[0] === leaf.topics[0])
  return ofContract(before, token).flatMap((log) => {
    const event = log.logIndex > (last?.logIndex ?? -1) ? decodeLog(erc20Abi, log) : undefined
    const isPayment = event && isAddressEqual(event.args.from, pool) && isAddressEqual(event.args.to, depositor)
    return isPayment ? [event.args.value] : []
  })
}

/** Those of the amounts due that were paid, each by a transfer of its own. */
function madeAmong(due: readonly bigint[], transfers: readonly bigint[]): bigint[] {
  const left = [...transfers]
  return due.filter((amount) => {
    const at = left.indexOf(amount)
    if (at >= 0) left.splice(at, 1)
    return at >= 0
  })
}

function payeeOf({ relayData }: BridgeDeposit): { depositor: Address; token: Address } {
  return { depositor: addressIn(relayData.depositor), token: addressIn(relayData.inputToken) }
}

/** A deposit that the pool owes back from its deadline on, in seconds since 1970. */
export type Debt = { readonly deadline: bigint; readonly amount: bigint }

/**
 * The payment that pays the last of the debts back, undefined where none does. Nothing on the chain says which deposit a
 * payment is for, so it counts for the oldest debt, and what is paid when nothing is owed counts for none. Debts are in
 * the order of their deadlines, payments in the order of their times.
 */
export function settlingPayment<P extends { readonly amount: bigint; readonly timestamp: bigint }>(
  debts: readonly Debt[],
  payments: readonly P[],
): P | undefined {
  const owed = debts.map(({ amount }) => amount)
  for (const payment of payments) {
    let left = payment.amount
    for (const [index, { deadline }] of debts.entries()) {
      if (deadline >= payment.timestamp) break
      const paid = left < (owed[index] ?? 0n) ? left : (owed[index] ?? 0n)
      owed[index] = (owed[index] ?? 0n) - paid
      left -= paid
    }
    if (owed.length > 0 && owed.at(-1) === 0n) return payment
  }
  return undefined
}

/** The 20-byte address in a 32-byte one. */
export function addressIn(bytes32: Hex): Address {
  return getAddress(slice(bytes32, 12))
}

/** An address or a word as 32 bytes in lower case, in which a word from a log is written too. */
function wordOf(account: Hex): Hex {
  return `0x${pad(account).slice(2).toLowerCase()}`
}

/** What the handler sent on of a token to an account, undefined where it sent nothing. */
function returnedAmount(
  logs: readonly Log[],
  { handler, to, outputToken }: { handler: Address; to: Address; outputToken: Hex },
): bigint | undefined {
  for (const log of ofContract(logs, handler)) {
    const event = decodeLog(handlerAbi, log)
    if (event?.eventName !== 'DrainedTokens') continue
    const { recipient, token, amount } = event.args
    if (isAddressEqual(recipient, to) && isAddressEqual(token, addressIn(outputToken))) return amount
  }
  return undefined
}

function hashOf(message: Hex): Hash {
  return message === '0x' ? zeroHash : keccak256(message)
}

function ofContract(logs: readonly Log[], address: Address): Log[] {
  return logs.filter((log) => isAddressEqual(log.address, address))
}

function selectorOf(eventName: string): Hash {
  const event = poolAbi.find((item) => item.type === 'event' && item.name === eventName)
  if (event?.type !== 'event') throw new Error(`The ABI has no event ${eventName}.`)
  return toEventSelector(event)
}
