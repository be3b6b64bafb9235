import {
  type Address,
  decodeAbiParameters,
  decodeEventLog,
  decodeFunctionData,
  encodeAbiParameters,
  getAddress,
  type Hash,
  type Hex,
  isAddressEqual,
  keccak256,
  pad,
  parseAbi,
  slice,
  toEventSelector,
  zeroHash,
} from 'viem'
import type { Log } from '../chain/logs.ts'
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

/** A deposit into the bridge and where it goes. */
export type BridgeDeposit = { readonly relayData: RelayData; readonly destinationChainId: number }

/** A fill of a deposit. `outputAmount` is what was delivered. */
export type Fill = {
  readonly transactionHash: Hash
  readonly blockNumber: bigint
  readonly logIndex: number
  readonly outputAmount: bigint
}

/** What a fill led to: a deposit into the vault, or its failure, after which the user holds this amount of tokens. */
export type FillOutcome =
  | { readonly status: 'completed' }
  | { readonly status: 'destination_action_failed'; readonly returned: bigint | undefined }

const vaultEvents = parseAbi([
  'event DepositRequest(address indexed controller, address indexed owner, uint256 indexed requestId, address sender, uint256 assets)',
  'event DepositSync(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
  'event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)',
])

/** The topic of the pool's FilledRelay event, whose second and third topics are the origin chain and the deposit id. */
export const FILLED_RELAY = toEventSelector(
  poolAbi.find((item) => item.type === 'event' && item.name === 'FilledRelay') ?? unreachable(),
)

/** The deposits among a transaction's logs, in order: those of the pool itself, in the form of today and of old. */
export function parseDeposits(logs: readonly Log[], pool: Address, originChainId: number): BridgeDeposit[] {
  return ofContract(logs, pool).flatMap((log) => {
    const event = decode(poolAbi, log)
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
    return [{ relayData, destinationChainId: Number(args.destinationChainId) }]
  })
}

/** What the destination's pool knows a deposit by: keccak256(abi.encode(relayData, destinationChainId)). */
export function relayHash({ relayData, destinationChainId }: BridgeDeposit): Hash {
  return keccak256(encodeAbiParameters(relayDataParameters, [relayData, BigInt(destinationChainId)]))
}

/** The fill of this very deposit among logs of the destination's pool, undefined where there is none. */
export function findFill(logs: readonly Log[], pool: Address, { relayData }: BridgeDeposit): Fill | undefined {
  const fills = ofContract(logs, pool).flatMap((log) => {
    const event = decode(poolAbi, log)
    if (event?.eventName !== 'FilledRelay') return []
    const { relayExecutionInfo, messageHash, ...args } = event.args
    const { message, ...fields } = relayData
    const same =
      messageHash === (message === '0x' ? zeroHash : keccak256(message)) &&
      Object.entries(fields).every(([name, value]) => value === args[name as keyof typeof fields])
    const { updatedOutputAmount } = relayExecutionInfo
    const { transactionHash, blockNumber, logIndex } = log
    return same ? [{ transactionHash, blockNumber, logIndex, outputAmount: updatedOutputAmount }] : []
  })
  return fills[0]
}

/**
 * What the deposit's fill led to, from all logs of its transaction: those between its own FilledRelay and the pool's
 * next one belong to it, and the first of them that decides is the one of our message. Calls that other people make of
 * the handler in the same transaction decide nothing.
 */
export function parseFillOutcome(
  logs: readonly Log[],
  { pool, handler, fill, deposit }: { pool: Address; handler: Address; fill: Fill; deposit: BridgeDeposit },
): FillOutcome {
  const next = ofContract(logs, pool).find(
    ({ logIndex, topics }) => logIndex > fill.logIndex && topics[0] === FILLED_RELAY,
  )
  const own = logs.filter(({ logIndex }) => logIndex > fill.logIndex && logIndex < (next?.logIndex ?? Infinity))
  const message = parseMessage(deposit)
  if (!message) return { status: 'completed' }

  for (const [index, log] of own.entries()) {
    if (isAddressEqual(log.address, handler)) {
      const event = decode(handlerAbi, log)
      if (event?.eventName === 'CallsFailed' && isAddressEqual(event.args.fallbackRecipient, message.user)) {
        return {
          status: 'destination_action_failed',
          returned: returnedAmount(own.slice(index), handler, message.user),
        }
      }
    }
    if (isAddressEqual(log.address, message.target)) {
      const event = decode(vaultEvents, log)
      const beneficiary = event?.eventName === 'DepositRequest' ? event.args.controller : event?.args.owner
      if (beneficiary && isAddressEqual(beneficiary, message.user)) return { status: 'completed' }
    }
  }
  // Calls that deposit nothing and fail nothing, such as those of a vault without code, leave it all to the user.
  const returned = returnedAmount(own, handler, message.user)
  const isAll = returned !== undefined && returned >= fill.outputAmount
  return isAll ? { status: 'destination_action_failed', returned } : { status: 'completed' }
}

/** Whether these logs of a transaction tell of a refund by the pool that covers this deposit. */
export function paysBack(logs: readonly Log[], pool: Address, { relayData }: BridgeDeposit): boolean {
  const { inputToken, depositor, inputAmount } = relayData
  return ofContract(logs, pool).some((log) => {
    const event = decode(poolAbi, log)
    if (event?.eventName !== 'ExecutedRelayerRefundRoot') return false
    const { l2TokenAddress, refundAddresses, refundAmounts } = event.args
    const covers = (account: Address, index: number) =>
      isAddressEqual(account, addressIn(depositor)) && (refundAmounts[index] ?? 0n) >= inputAmount
    return isAddressEqual(l2TokenAddress, addressIn(inputToken)) && refundAddresses.some(covers)
  })
}

/** Whom a deposit's message serves and which contract it ends at; undefined where it is none of ours. */
export function parseMessage({ relayData }: BridgeDeposit): { user: Address; target: Address } | undefined {
  try {
    const [{ calls, fallbackRecipient }] = decodeAbiParameters(instructionsParameters, relayData.message)
    const last = calls.at(-1)
    if (!last) return undefined
    const { args } = decodeFunctionData({ abi: handlerAbi, data: last.callData })
    return { user: fallbackRecipient, target: args[0] }
  } catch {
    return undefined
  }
}

/** The 20-byte address in a 32-byte one. */
export function addressIn(bytes32: Hex): Address {
  return getAddress(slice(bytes32, 12))
}

/** An address or a word as 32 bytes in lower case, in which a word from a log is written too. */
function wordOf(account: Hex): Hex {
  return `0x${pad(account).slice(2).toLowerCase()}`
}

function returnedAmount(logs: readonly Log[], handler: Address, user: Address): bigint | undefined {
  for (const log of ofContract(logs, handler)) {
    const event = decode(handlerAbi, log)
    if (event?.eventName === 'DrainedTokens' && isAddressEqual(event.args.recipient, user)) return event.args.amount
  }
  return undefined
}

function ofContract(logs: readonly Log[], address: Address): Log[] {
  return logs.filter((log) => isAddressEqual(log.address, address))
}

/** The event of this ABI that a log is, undefined where it is none. */
function decode<const abi extends typeof poolAbi | typeof handlerAbi | typeof vaultEvents>(abi: abi, log: Log) {
  try {
    return decodeEventLog({ abi, topics: log.topics as [Hex, ...Hex[]], data: log.data })
  } catch {
    return undefined
  }
}

function unreachable(): never {
  throw new Error('The ABI has no such event.')
}
