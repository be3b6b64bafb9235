import {
  type Address,
  encodeAbiParameters,
  encodeEventTopics,
  getAddress,
  type Hash,
  type Hex,
  keccak256,
  pad,
  zeroAddress,
  zeroHash,
} from 'viem'
import type { BridgeDeposit } from '../../lib/bridge/transfer.ts'
import type { Log } from '../../lib/chain/logs.ts'
import { encodeCall, HANDLER, HANDLER_ABI, MESSAGE_PARAMETERS, POOL_ABI, TOKEN_ABI, VAULT_ABI } from './oracles.ts'

/** Address of the bridge's pool contract on the destination chain, Base. */
export const POOL = getAddress('0x09aea4b2242abC8bb4BB78D537A67a245A7bEC64')
export const TOKEN = getAddress('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913')
/** Address of the bridge's pool contract on the source chain, Arbitrum. On Base this address is an unrelated contract. */
export const SOURCE_POOL = getAddress('0xe35e9842fceaCA96570B734083f4a58e8F7C5f2A')
export const TRANSACTION_HASH = pad('0xabcdef')

const EVENTS = [...POOL_ABI, ...HANDLER_ABI, ...VAULT_ABI, ...TOKEN_ABI].filter((item) => item.type === 'event')

/** Event log without its index in the block, which `numberLogs` assigns. */
export type UnindexedLog = Omit<Log, 'logIndex'>

/** Encodes an event of the bridge, a vault or a token as a log. Throws if no ABI has the event. */
export function buildEventLog(
  address: Address,
  eventName: (typeof EVENTS)[number]['name'],
  args: Record<string, unknown>,
): UnindexedLog {
  const event = EVENTS.find((item) => item.name === eventName)
  if (!event) throw new Error(`There is no event ${eventName}`)
  const data = encodeAbiParameters(
    event.inputs.filter((input) => !('indexed' in input && input.indexed)),
    event.inputs.filter((input) => !('indexed' in input && input.indexed)).map(({ name }) => args[name]) as never,
  )
  const topics = encodeEventTopics({ abi: EVENTS, eventName, args } as never) as [Hash, ...Hash[]]
  // Nodes write addresses in lower case.
  return { address: address.toLowerCase() as Address, topics, data, blockNumber: 7n, transactionHash: TRANSACTION_HASH }
}

/**
 * Assigns consecutive log indices to the logs of one transaction. Earlier transactions of the same block have the log
 * indices below `first`.
 */
export function numberLogs(logs: readonly UnindexedLog[], first = 3): Log[] {
  return logs.map((log, i) => ({ ...log, logIndex: first + i }))
}

/** Builds the `FundsDeposited` log of a bridge deposit. */
export function depositLog(
  { relayData, destinationChainId, quoteTimestamp }: BridgeDeposit,
  pool = POOL,
): UnindexedLog {
  return buildEventLog(pool, 'FundsDeposited', {
    ...relayData,
    destinationChainId: BigInt(destinationChainId),
    quoteTimestamp,
  })
}

/** Ways in which a fill can differ from the deposit that it fills. In the bridge, the depositor agrees to such changes. */
export type FillChange = {
  readonly pool?: Address
  readonly amount?: bigint
  readonly recipient?: Hex
  readonly message?: Hex
  /** True for a slow fill, for which the pool pays instead of a relayer. */
  readonly isSlow?: boolean
}

/** Builds the `FilledRelay` log with which the pool reports the fill of a deposit. */
export function fillLog({ relayData }: BridgeDeposit, change: FillChange = {}): UnindexedLog {
  const { pool = POOL, amount = relayData.outputAmount, recipient = relayData.recipient, isSlow = false } = change
  const hashOf = (message: Hex) => (message === '0x' ? zeroHash : keccak256(message))
  const messageHash = hashOf(relayData.message)
  return buildEventLog(pool, 'FilledRelay', {
    ...relayData,
    repaymentChainId: 1n,
    relayer: pad('0x99'),
    messageHash,
    relayExecutionInfo: {
      updatedRecipient: recipient,
      updatedMessageHash: hashOf(change.message ?? relayData.message),
      updatedOutputAmount: amount,
      fillType: isSlow ? 2 : 0,
    },
  })
}

/** Vault function that accepts a deposit. */
export type DepositFunction = 'requestDeposit' | 'syncDeposit' | 'deposit'

type Order = {
  readonly user: Address
  readonly vault: Address
  readonly id: bigint
  readonly amount: bigint
  readonly entry?: DepositFunction
}

/** Encodes the vault call with which the bridge's handler contract deposits its token balance for `user`. */
export function encodeVaultDeposit(entry: DepositFunction, user: Address): Hex {
  const args = { requestDeposit: [0n, user, HANDLER], syncDeposit: [0n, user, zeroAddress], deposit: [0n, user] }
  return encodeCall(entry, args[entry])
}

/** Builds the bridge deposit whose message calls the vault's deposit function on the destination chain. */
export function buildVaultBridgeDeposit({ user, vault, id, amount, entry = 'requestDeposit' }: Order): BridgeDeposit {
  const withBalance = (target: Address, callData: Hex) => ({
    target: HANDLER,
    callData: encodeCall('makeCallWithBalance', [target, callData, 0n, [{ token: TOKEN, offset: 4n }]]),
    value: 0n,
  })
  const calls = [
    { target: TOKEN, callData: '0x1234' as const, value: 0n },
    withBalance(TOKEN, '0x5678'),
    withBalance(vault, encodeVaultDeposit(entry, user)),
  ]
  return buildMessageDeposit({
    user,
    id,
    amount,
    message: encodeAbiParameters(MESSAGE_PARAMETERS, [{ calls, fallbackRecipient: user }]),
  })
}

/** Builds a bridge deposit with this message. The bridge fee is 5 of the token's smallest units. */
export function buildMessageDeposit({
  user,
  id,
  amount,
  message,
}: Omit<Order, 'vault'> & { readonly message: Hex }): BridgeDeposit {
  return {
    relayData: {
      depositor: pad(user).toLowerCase() as Hex,
      recipient: pad(HANDLER).toLowerCase() as Hex,
      exclusiveRelayer: zeroHash,
      inputToken: pad(TOKEN).toLowerCase() as Hex,
      outputToken: pad(TOKEN).toLowerCase() as Hex,
      inputAmount: amount + 5n,
      outputAmount: amount,
      originChainId: 42161n,
      depositId: id,
      fillDeadline: 2_000_000_000,
      exclusivityDeadline: 0,
      message,
    },
    destinationChainId: 8453,
    quoteTimestamp: 1,
  }
}

/** Builds the `CallsFailed` log: the handler contract could not execute the message's calls. */
export const buildCallsFailedLog = (user: Address, handler = HANDLER) =>
  buildEventLog(handler, 'CallsFailed', { calls: [], fallbackRecipient: user })
/** Builds the `DrainedTokens` log: the handler contract sends its remaining tokens to `user`. */
export const buildDrainedLog = (user: Address, amount: bigint, handler = HANDLER) =>
  buildEventLog(handler, 'DrainedTokens', { recipient: user, token: TOKEN, amount })
/** Builds the log of a requested (asynchronous) vault deposit. */
export const buildDepositRequestLog = (user: Address, vault: Address, assets: bigint) =>
  buildEventLog(vault, 'DepositRequest', { controller: user, owner: HANDLER, requestId: 3n, sender: HANDLER, assets })
/** Returns a builder for logs of vault deposits that issue shares at once. Each log has as many shares as assets. */
export const createDepositLogBuilder =
  (eventName: 'Deposit' | 'DepositSync') => (user: Address, vault: Address, assets: bigint) =>
    buildEventLog(vault, eventName, { sender: HANDLER, owner: user, assets, shares: assets })
