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
import { decodeCall, decodeLog } from '../chain/decode.ts'
import { erc20Abi } from '../chain/erc20.ts'
import type { Log } from '../chain/logs.ts'
import { sum } from '../core/bigint.ts'
import { OPERATIONS } from '../protocols/operations.ts'
import { handlerAbi, instructionsParameters, poolAbi, relayDataParameters, termsParameters } from './abi.ts'
import type { Terms } from './quote.ts'
import type { BridgeDeposit, TransferEvent } from './transfer.ts'

/**
 * Fill of a deposit, as its event reports it: a relayer or the pool delivers the tokens on the destination. The fill's
 * terms may differ from the deposit's.
 */
export type Fill = {
  readonly transactionHash: Hash
  readonly blockNumber: bigint
  readonly logIndex: number
  /** Delivered amount, in the output token's smallest unit. */
  readonly outputAmount: bigint
  readonly recipient: Hex
  /** keccak256 of the message that the fill ran; zero if it ran none. */
  readonly messageHash: Hash
  /** True if the depositor signed new terms after the deposit, which Across calls a speed-up. */
  readonly isSpedUp: boolean
}

/** Part of a transfer's event that tells the result of a fill: where the delivered tokens went. */
export type FillResult = Pick<TransferEvent, 'kind' | 'logIndex' | 'amount' | 'account' | 'vaultAddress' | 'shares'>

/** First topics of the pool's events, for searches of logs. */
export const POOL_TOPICS = {
  /** Topic of a fill. The second topic of its log is the origin chain, the third the deposit id. */
  filled: getTopic('FilledRelay'),
  /** Topic of a request for a slow fill, which the pool itself pays. Its log has the same second and third topic as that of a fill. */
  slowFillRequested: getTopic('RequestedSlowFill'),
  /** Topics of deposits. The fourth topic of their logs is the depositor. */
  deposited: [getTopic('FundsDeposited'), getTopic('V3FundsDeposited')],
  refunded: [getTopic('ExecutedRelayerRefundRoot'), getTopic('ClaimedRelayerRefund')],
} as const

/** Value of `fillType` for a slow fill, which the pool paid instead of a relayer. */
const SLOW_FILL = 2

/** Deposit into the bridge, and the log of its event. */
export type LoggedDeposit = { readonly deposit: BridgeDeposit; readonly log: Log }

/** Parses the deposits among the pool's logs, in order: FundsDeposited, and V3FundsDeposited in older logs. */
export function parseDeposits(logs: readonly Log[], pool: Address, originChainId: number): LoggedDeposit[] {
  return parseEvents(poolAbi, logs, pool).flatMap(({ event, log }) => {
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
    // A chain id above MAX_SAFE_INTEGER is stored as 0, because a JavaScript number cannot hold it. The service reads
    // no such chain.
    const isNumber = args.destinationChainId <= BigInt(Number.MAX_SAFE_INTEGER)
    const destinationChainId = isNumber ? Number(args.destinationChainId) : 0
    return [{ deposit: { relayData, destinationChainId, quoteTimestamp: args.quoteTimestamp }, log }]
  })
}

/** Returns the relay hash, by which the destination's pool identifies a deposit: keccak256(abi.encode(relayData, destinationChainId)). */
export function hashRelay({ relayData, destinationChainId }: BridgeDeposit): Hash {
  return keccak256(encodeAbiParameters(relayDataParameters, [relayData, BigInt(destinationChainId)]))
}

/** Returns the terms of a deposit from its event. `parseTerms` returns equal terms for the deposit's calldata. */
export function pickTerms({ relayData, destinationChainId, quoteTimestamp }: BridgeDeposit): Terms {
  const hash = keccak256(
    encodeAbiParameters(termsParameters, [
      { ...relayData, destinationChainId: BigInt(destinationChainId), quoteTimestamp },
    ]),
  )
  return { depositor: toAddress(relayData.depositor), hash, quotedAt: quoteTimestamp }
}

/** Parses a deposit's terms from the calldata of its pool call; undefined for other calldata. */
export function parseTerms(data: Hex): Terms | undefined {
  const call = decodeCall(poolAbi, data)
  if (call?.functionName !== 'depositV3') return undefined
  const [depositor, recipient, inputToken, outputToken, inputAmount, outputAmount, chainId, , ...rest] = call.args
  const [quoteTimestamp, fillDeadline, , message] = rest
  const accounts = { depositor: toWord(depositor), recipient: toWord(recipient) }
  const tokens = { inputToken: toWord(inputToken), outputToken: toWord(outputToken) }
  const terms = { ...accounts, ...tokens, inputAmount, outputAmount, quoteTimestamp, fillDeadline, message }
  const hash = keccak256(encodeAbiParameters(termsParameters, [{ ...terms, destinationChainId: chainId }]))
  return { depositor: getAddress(depositor), hash, quotedAt: quoteTimestamp }
}

/** Finds the fill of a deposit among logs of the destination's pool; undefined if there is none. */
export function findFill(logs: readonly Log[], pool: Address, { relayData }: BridgeDeposit): Fill | undefined {
  const { message, ...fields } = relayData
  for (const { event, log } of parseEvents(poolAbi, logs, pool)) {
    if (event.eventName !== 'FilledRelay') continue
    const { relayExecutionInfo: run, messageHash: promised, ...args } = event.args
    const isSame =
      promised === hashMessage(message) &&
      // The cast holds: Object.entries types the keys of `fields` as string.
      Object.entries(fields).every(([name, value]) => value === args[name as keyof typeof fields])
    if (!isSame) continue
    const { transactionHash, blockNumber, logIndex } = log
    const { updatedOutputAmount: outputAmount, updatedRecipient: recipient, updatedMessageHash: messageHash } = run
    const isOther = recipient !== relayData.recipient || messageHash !== promised
    const isSpedUp = isOther || (run.fillType !== SLOW_FILL && outputAmount !== relayData.outputAmount)
    return { transactionHash, blockNumber, logIndex, outputAmount, recipient, messageHash, isSpedUp }
  }
  return undefined
}

/**
 * Parses the result of a fill (where its tokens went) from all logs of its transaction; undefined if they prove none.
 * The fill's own logs lie between its FilledRelay event and the pool's next one. Third parties can call the handler
 * contract only after the pool ran the fill's message. The first log that shows a result is therefore the fill's own.
 */
export function parseFillResult(
  logs: readonly Log[],
  { pool, handler, fill, deposit }: { pool: Address; handler: Address; fill: Fill; deposit: BridgeDeposit },
): FillResult | undefined {
  const outputToken = toAddress(deposit.relayData.outputToken)
  const recipient = toAddress(fill.recipient)
  const result = (kind: FillResult['kind'], account: Address | null, amount: bigint | null, logIndex = fill.logIndex) =>
    ({ kind, logIndex, amount, account, vaultAddress: null, shares: null }) satisfies FillResult
  if (!isAddressEqual(recipient, handler)) return result('delivered', recipient, fill.outputAmount)

  const next = logs.find(
    ({ address, logIndex, topics }) =>
      isAddressEqual(address, pool) && logIndex > fill.logIndex && topics[0] === POOL_TOPICS.filled,
  )
  const own = logs.filter(({ logIndex }) => logIndex > fill.logIndex && logIndex < (next?.logIndex ?? Infinity))
  const payments = parseEvents(erc20Abi, own, outputToken).flatMap(({ event: { args } }) => args)
  const sent = payments.filter(({ from }) => isAddressEqual(from, handler))
  // The depositor can sign another message after the deposit. The fill then contains only the hash of that message, so
  // the message is unknown.
  const isKnown = fill.messageHash === hashMessage(deposit.relayData.message)
  const message = isKnown ? parseMessage(deposit) : undefined
  const named = message?.deposit
  const isSilent = own.length === payments.length - sent.length
  if (fill.messageHash === zeroHash || (isSilent && !named)) return result('undelivered', null, fill.outputAmount)

  const isOfMessage = (fallback: Address) => !message || isAddressEqual(fallback, message.fallbackRecipient)
  for (const [index, log] of own.entries()) {
    const event = isAddressEqual(log.address, handler) ? decodeLog(handlerAbi, log) : undefined
    if (event?.eventName === 'CallsFailed' && isOfMessage(event.args.fallbackRecipient)) {
      const { fallbackRecipient } = event.args
      const returned = findReturned(own.slice(index), handler, fallbackRecipient, outputToken)
      return result('action_failed', fallbackRecipient, returned ?? null, log.logIndex)
    }
    const taken = named
      ? named.vault === getAddress(log.address) && named.operation.parseTakenDeposit(log, own)
      : parseVaultDeposit(log, own)
    if (!taken || !isAddressEqual(taken.payer, handler)) continue
    const isOwn = named
      ? isAddressEqual(taken.account, named.account)
      : !isKnown && sent.some(({ value }) => value === taken.assets)
    if (!isOwn) continue
    const { account, assets, shares } = taken
    return {
      ...result('vault_deposited', account, assets, log.logIndex),
      vaultAddress: getAddress(log.address),
      shares,
    }
  }
  if (!named) {
    const drained = parseDrained(own, handler, outputToken).at(-1)
    return result('delivered', drained?.recipient ?? sent.at(-1)?.to ?? null, fill.outputAmount)
  }
  // The message's calls can succeed without a deposit: a call of an address without code does nothing. The handler
  // then sends the whole amount to the account.
  const returned = findReturned(own, handler, named.account, outputToken)
  const isAll = returned !== undefined && returned >= fill.outputAmount
  return isAll ? result('action_failed', named.account, returned) : undefined
}

function parseVaultDeposit(log: Log, logs: readonly Log[]) {
  const operations = Object.values(OPERATIONS).flatMap(({ deposits }) => deposits)
  return operations.flatMap((operation) => operation.parseTakenDeposit(log, logs) ?? [])[0]
}

/**
 * Parses a deposit's message to the handler contract, whether the service or another tool built it. Returns its
 * fallback account and its last vault deposit, if any; undefined for other messages.
 */
export function parseMessage({ relayData }: BridgeDeposit) {
  try {
    const [{ calls, fallbackRecipient }] = decodeAbiParameters(instructionsParameters, relayData.message)
    return { fallbackRecipient, deposit: calls.flatMap(parseDepositCall).at(-1) }
  } catch {
    return undefined
  }
}

function parseDepositCall({ target, callData }: { target: Address; callData: Hex }) {
  const [vault, data] = decodeCall(handlerAbi, callData)?.args ?? [target, callData]
  const operations = Object.values(OPERATIONS).flatMap(({ deposits }) => deposits)
  return operations.flatMap((operation) => {
    const terms = operation.decode(data)
    return terms ? [{ vault, account: terms.receiver, operation }] : []
  })
}

/**
 * Payment of the bridge's pool to a depositor, from its event. `isOwed` is true if the pool could not pay, so that the
 * depositor has to claim the amount.
 */
export type PoolPayment = { readonly log: Log; readonly amount: bigint; readonly isOwed: boolean }

/**
 * Parses the payments to this deposit's depositor in its token from all logs of a transaction. One event can report
 * several payments, some of which the pool made and some of which the depositor must claim. The token's Transfer events
 * then show the payments that were made.
 */
export function parsePayments(logs: readonly Log[], pool: Address, deposit: BridgeDeposit): PoolPayment[] {
  const { depositor, token } = findRefundRecipient(deposit)
  return parseEvents(poolAbi, logs, pool).flatMap(({ event, log }) => {
    if (event.eventName === 'ClaimedRelayerRefund') {
      const { l2TokenAddress, caller, amount } = event.args
      // The pool pays the account that sends the claim, even if the tokens go to another address.
      const isPaid = isAddressEqual(toAddress(l2TokenAddress), token) && isAddressEqual(caller, depositor)
      return isPaid ? [{ log, amount, isOwed: false }] : []
    }
    if (event.eventName !== 'ExecutedRelayerRefundRoot') return []
    const { l2TokenAddress, refundAddresses, refundAmounts, deferredRefunds } = event.args
    if (!isAddressEqual(l2TokenAddress, token)) return []
    const due = refundAmounts.filter((_, index) => refundAddresses[index] === depositor)
    const paid = deferredRefunds ? selectPaid(due, parseTransfers(logs, log, pool, deposit)) : due
    const amounts = { paid: sum(paid), owed: sum(due) - sum(paid) }
    return [
      { log, amount: amounts.paid, isOwed: false },
      { log, amount: amounts.owed, isOwed: true },
    ].filter(({ amount }) => amount > 0n)
  })
}

/**
 * Finds the transactions in the pool's logs that may pay this deposit's depositor in the deposit's token. `amount` is
 * the total of a transaction's payments, made or owed. Skips logs before the time `since`, in seconds since 1970.
 */
export function findPossiblePayments(logs: readonly Log[], pool: Address, deposit: BridgeDeposit, since: bigint) {
  const recent = logs.filter(({ blockTimestamp }) => blockTimestamp === undefined || blockTimestamp >= since)
  // Only the pool's logs are known here, not the token's Transfer logs. `parsePayments` may therefore report a payment
  // as owed although the pool has made it. The sum of made and owed payments is correct anyway.
  const byTransaction = Map.groupBy(parsePayments(recent, pool, deposit), ({ log }) => log.transactionHash)
  return [...byTransaction].map(([txHash, payments]) => {
    const [{ log }] = payments as [PoolPayment, ...PoolPayment[]]
    return { txHash, blockNumber: log.blockNumber, amount: sum(payments.map(({ amount }) => amount)) }
  })
}

/**
 * Returns the amounts that the pool transferred to the depositor for one refund event, whose log is `leaf`. The
 * Transfer logs of these payments lie between the pool's previous refund event and `leaf`.
 */
function parseTransfers(logs: readonly Log[], leaf: Log, pool: Address, deposit: BridgeDeposit): bigint[] {
  const { depositor, token } = findRefundRecipient(deposit)
  const before = logs.filter(({ logIndex }) => logIndex < leaf.logIndex)
  const last = before.findLast(({ address, topics }) => isAddressEqual(address, pool) && topics[0] === leaf.topics[0])
  return parseEvents(erc20Abi, before, token).flatMap(({ event: { args }, log }) => {
    const isAfterLast = log.logIndex > (last?.logIndex ?? -1)
    return isAfterLast && isAddressEqual(args.from, pool) && isAddressEqual(args.to, depositor) ? [args.value] : []
  })
}

function selectPaid(due: readonly bigint[], transfers: readonly bigint[]): bigint[] {
  const left = [...transfers]
  return due.filter((amount) => {
    const at = left.indexOf(amount)
    if (at >= 0) left.splice(at, 1)
    return at >= 0
  })
}

/** Returns the account and the token in which a deposit would be refunded. */
export function findRefundRecipient({ relayData }: BridgeDeposit): { depositor: Address; token: Address } {
  return { depositor: toAddress(relayData.depositor), token: toAddress(relayData.inputToken) }
}

/** Returns the address in the last 20 bytes of a 32-byte word. */
export function toAddress(bytes32: Hex): Address {
  return getAddress(slice(bytes32, 12))
}

/** Pads an address or a word to 32 bytes in lower case, the form in which logs contain it. */
export function toWord(account: Hex): Hex {
  return `0x${pad(account).slice(2).toLowerCase()}`
}

function findReturned(logs: readonly Log[], handler: Address, to: Address, token: Address): bigint | undefined {
  return parseDrained(logs, handler, token).find(({ recipient }) => isAddressEqual(recipient, to))?.amount
}

function parseDrained(logs: readonly Log[], handler: Address, token: Address) {
  return parseEvents(handlerAbi, logs, handler).flatMap(({ event }) =>
    event.eventName === 'DrainedTokens' && isAddressEqual(event.args.token, token) ? [event.args] : [],
  )
}

function hashMessage(message: Hex): Hash {
  return message === '0x' ? zeroHash : keccak256(message)
}

/** Decodes the logs that this contract emitted. Leaves out logs whose events are not in the ABI. */
export function parseEvents<const abi extends Abi>(abi: abi, logs: readonly Log[], contract: Address) {
  return logs.flatMap((log) => {
    const event = isAddressEqual(log.address, contract) ? decodeLog(abi, log) : undefined
    return event ? [{ event, log }] : []
  })
}

function getTopic(eventName: ContractEventName<typeof poolAbi>): Hash {
  return encodeEventTopics({ abi: poolAbi, eventName })[0]
}
