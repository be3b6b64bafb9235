import {
  type Address,
  concat,
  decodeAbiParameters,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  isAddressEqual,
  pad,
} from 'viem'
import { erc20Abi } from '../chain/erc20.ts'
import type { Transaction } from '../chain/transaction.ts'
import { type DepositOperation, encodeOperation, verifyOperations } from '../protocols/calldata.ts'
import type { Vault } from '../vaults/vault.ts'
import { handlerAbi, instructionsParameters, poolAbi } from './abi.ts'

/** One end of a bridge route: a chain, with the bridge's contracts and the transferred token on it. */
export type RouteEnd = {
  readonly chainId: number
  readonly pool: Address
  readonly handler: Address
  readonly token: Address
  readonly decimals: number
  /** True if the token is the wrapped form of the chain's native coin. */
  readonly wrapsCoin?: boolean | undefined
}

/** Both ends of a transfer of one asset. */
export type Route = { readonly source: RouteEnd; readonly destination: RouteEnd }

/** Transfer in which `account` sends assets to itself on another chain. `inputAmount` is in the source token's smallest unit. */
export type BridgeRequest = {
  readonly account: Address
  readonly route: Route
  readonly inputAmount: bigint
  /** True if the account sends the chain's native coin, which the pool wraps; false if it sends the token. */
  readonly isInCoin?: boolean
  /** Vault that the whole delivered amount is deposited into on the destination chain. Without it the account receives the tokens. */
  readonly deposit?: { readonly vault: Vault; readonly operation: DepositOperation }
}

/** Terms of a transfer that the deposit into the bridge contains. Times are in seconds since 1970. */
export type BridgeTerms = {
  readonly outputAmount: bigint
  readonly quoteTimestamp: number
  readonly fillDeadline: number
  /**
   * Relayer that may fill the transfer before all others. `exclusivityParameter` is the end of that period: seconds
   * after the deposit (up to a year), or seconds since 1970. It is 0 if every relayer may fill.
   */
  readonly exclusiveRelayer: Address
  readonly exclusivityParameter: number
}

// Byte offsets of a call's arguments in its calldata. The selector takes 4 bytes, each argument 32.
const FIRST_ARGUMENT = 4n
const SECOND_ARGUMENT = 36n

/** Empty message: the pool on the destination pays the recipient and calls no contract. */
const NO_MESSAGE = '0x'

/** Returns the recipient of the tokens on the destination: the handler for a vault deposit, else the account. */
export function getRecipient({ account, route, deposit }: BridgeRequest): Address {
  return deposit ? route.destination.handler : account
}

/**
 * Encodes the message that deposits the delivered amount into the vault for the user; empty without a vault deposit.
 * The bridge's handler contract replaces the amount in each call by its balance. The deposit is thus exact even if a
 * slow fill delivers another amount. The first call resets the handler's allowance to 0, because some tokens refuse to
 * change an allowance that is not 0. Anyone can leave an allowance at this shared contract. If a call fails, the user
 * gets the tokens.
 */
export function encodeMessage({ account, route, deposit: into }: BridgeRequest): Hex {
  if (!into) return NO_MESSAGE
  const { vault, operation } = into
  const { handler } = route.destination
  const approve = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [vault.address, 0n] })
  // The deposit belongs to the user, but the handler contract pays the tokens.
  const deposit = encodeOperation({ operation, request: { vault, account, amount: 0n, payer: handler } })
  const withBalance = (target: Address, callData: Hex, offset: bigint) => ({
    target: handler,
    callData: encodeFunctionData({
      abi: handlerAbi,
      functionName: 'makeCallWithBalance',
      args: [target, callData, 0n, [{ token: vault.asset, offset }]],
    }),
    value: 0n,
  })
  const calls = [
    { target: vault.asset, callData: approve, value: 0n },
    withBalance(vault.asset, approve, SECOND_ARGUMENT),
    withBalance(vault.address, deposit.data, FIRST_ARGUMENT),
  ]
  return encodeAbiParameters(instructionsParameters, [{ calls, fallbackRecipient: account }])
}

/**
 * Encodes the deposit into the bridge's pool. The user is the depositor, who gets any refund. The recipient is the
 * handler contract for a vault deposit, else the user. A deposit of the native coin sends it as `value`. Appends
 * 0x1dc0de and `integratorId` (two bytes), by which the bridge recognizes the service's transfers.
 */
export function encodeBridgeDeposit(request: BridgeRequest, terms: BridgeTerms, integratorId?: Hex): Transaction {
  const { account, route, inputAmount } = request
  const { source, destination } = route
  const data = encodeFunctionData({
    abi: poolAbi,
    functionName: 'depositV3',
    args: [
      account,
      getRecipient(request),
      source.token,
      destination.token,
      inputAmount,
      terms.outputAmount,
      BigInt(destination.chainId),
      terms.exclusiveRelayer,
      terms.quoteTimestamp,
      terms.fillDeadline,
      terms.exclusivityParameter,
      encodeMessage(request),
    ],
  })
  const value = readCoinValue(request)
  return { to: source.pool, data: integratorId ? concat([data, '0x1dc0de', integratorId]) : data, value }
}

function readCoinValue({ isInCoin = false, inputAmount }: BridgeRequest): bigint {
  return isInCoin ? inputAmount : 0n
}

/** Builds the transaction by which a depositor claims a refund that the pool could not pay. The pool pays the refund to the depositor. */
export function buildRefundClaim(pool: Address, token: Address, depositor: Address): Transaction {
  const args = [pad(token), pad(depositor)] as const
  return { to: pool, data: encodeFunctionData({ abi: poolAbi, functionName: 'claimRelayerRefund', args }), value: 0n }
}

/**
 * Decodes the call of the pool and its message, and compares every argument with the request and the terms. Throws an
 * Error on any difference, which would be a bug of the service.
 */
export function verifyBridgeDeposit(
  request: BridgeRequest,
  terms: BridgeTerms,
  operations: readonly Transaction[],
): void {
  const [operation, ...more] = operations
  if (!operation || more.length > 0) throw new Error('There is not exactly one operation.')
  const { account, route, inputAmount, deposit } = request
  const { source, destination } = route
  const { functionName, args } = decodeFunctionData({ abi: poolAbi, data: operation.data })
  if (functionName !== 'depositV3') throw new Error('The operation is no deposit into the bridge.')

  const [depositor, recipient, inputToken, outputToken, input, output, chainId, relayer, ...rest] = args
  const [quotedAt, deadline, exclusivity, message] = rest
  const isRight =
    isAddressEqual(operation.to, source.pool) &&
    operation.value === readCoinValue(request) &&
    (operation.value === 0n || source.wrapsCoin) &&
    isAddressEqual(depositor, account) &&
    isAddressEqual(recipient, deposit ? destination.handler : account) &&
    isAddressEqual(inputToken, source.token) &&
    isAddressEqual(outputToken, destination.token) &&
    input === inputAmount &&
    output === terms.outputAmount &&
    chainId === BigInt(destination.chainId) &&
    isAddressEqual(relayer, terms.exclusiveRelayer) &&
    quotedAt === terms.quoteTimestamp &&
    deadline === terms.fillDeadline &&
    exclusivity === terms.exclusivityParameter
  if (!isRight) throw new Error('The deposit into the bridge differs from the request.')
  if (deposit) verifyMessage(request, deposit, message)
  else if (message !== NO_MESSAGE) throw new Error('There is a message to nobody.')
}

function verifyMessage(
  { account, route }: BridgeRequest,
  { vault, operation }: Required<BridgeRequest>['deposit'],
  message: Hex,
): void {
  const { chainId, token, handler } = route.destination
  if (!isAddressEqual(vault.asset, token) || vault.chainId !== chainId) throw new Error('The route ends elsewhere.')
  const [{ calls, fallbackRecipient }] = decodeAbiParameters(instructionsParameters, message)
  const [reset, approve, deposit, ...more] = calls
  if (!reset || !approve || !deposit || more.length > 0) throw new Error('The message has not exactly three calls.')
  const inner = [approve, deposit].map(({ target, callData, value }) => {
    const { functionName, args } = decodeFunctionData({ abi: handlerAbi, data: callData })
    const [innerTarget, innerData, innerValue, [replacement, ...others]] = args
    const isRight =
      functionName === 'makeCallWithBalance' &&
      isAddressEqual(target, handler) &&
      value + innerValue === 0n &&
      others.length === 0 &&
      replacement !== undefined &&
      isAddressEqual(replacement.token, vault.asset)
    if (!isRight) throw new Error('A call of the message is not one with the delivered balance.')
    return { target: innerTarget, data: innerData, offset: replacement.offset }
  })
  const [spending, depositing] = inner
  const isRight =
    isAddressEqual(fallbackRecipient, account) &&
    isAddressEqual(reset.target, vault.asset) &&
    reset.value === 0n &&
    isApprovalOfZero(reset.callData, vault.address) &&
    spending?.target === vault.asset &&
    spending.offset === SECOND_ARGUMENT &&
    isApprovalOfZero(spending.data, vault.address) &&
    depositing?.offset === FIRST_ARGUMENT
  if (!isRight) throw new Error('The message differs from the request.')
  verifyOperations(
    [{ operation, request: { vault, account, amount: 0n, payer: handler } }],
    [{ to: depositing.target, data: depositing.data, value: 0n }],
  )
}

function isApprovalOfZero(data: Hex, spender: Address): boolean {
  const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data })
  return functionName === 'approve' && isAddressEqual(args[0], spender) && args[1] === 0n
}
