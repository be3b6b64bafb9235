import type { Abi, Address, Hex } from 'viem'
import { poolAbi } from '../bridge/abi.ts'
import type { Across, Quote } from '../bridge/across.ts'
import {
  type BridgeRequest,
  type BridgeTerms,
  encodeBridgeDeposit,
  type RouteEnd,
  verifyBridgeDeposit,
} from '../bridge/calldata.ts'
import { type Clocks, computeQuoteExpiry } from '../bridge/terms.ts'
import { buildCall, requireValue } from '../chain/call.ts'
import { codeRequest, findDelegate } from '../chain/code.ts'
import { encodeApprovals, erc20Abi, listApprovalPlans, verifyApprovals } from '../chain/erc20.ts'
import { HexText } from '../chain/hex.ts'
import { parseResult } from '../chain/logs.ts'
import { MULTICALL3, multicall3Abi } from '../chain/multicall.ts'
import { buildReadPlan, type ChainReader, joinReadPlans, type ReadPlan } from '../chain/reader.ts'
import type { RpcRequest } from '../chain/rpc.ts'
import { type SimulatedTransaction, summariseSimulation, UPPER_GAS_ESTIMATES } from '../chain/simulation.ts'
import { AppError } from '../core/errors.ts'
import { encodeOperation, type PlannedOperation, verifyOperations } from '../protocols/calldata.ts'
import { REVERT_ERRORS } from '../protocols/known-errors.ts'
import { makeDryRuns, pickFirstApprovedDryRun } from './dry-run.ts'

/** Services that transfers between chains need: chain readers and the bridge's quotes. */
export type BridgeServices = {
  readonly getReader: (chainId: number) => ChainReader
  readonly fetchQuote: Across['fetchQuote']
  readonly integratorId: Hex | undefined
}

const POOL_ERRORS: Abi = [...poolAbi, ...REVERT_ERRORS]

/** State of the source chain: the bridge's pool contract, the account's code, and the pool's token allowance from the account. */
export type SourceState = {
  readonly paused: boolean
  readonly allowance: bigint
  readonly clocks: Omit<Clocks, 'destination'>
  readonly accountIsContract: boolean
}

/** State of the destination chain: the bridge's pool contract, and whether the account has code there. */
export type DestinationState = {
  readonly paused: boolean
  /** Time of the latest block, in seconds since 1970. */
  readonly time: number
  readonly accountHasCode: boolean
}

/** Returns a read plan without calls, for code that requires a plan. */
export function emptyPlan(address: Address): ReadPlan<undefined> {
  return buildReadPlan({ address, slots: {}, calls: {} }, () => undefined)
}

/**
 * Result that replaces the simulation if the account has too little of the chain's native coin. Nodes reject such a
 * simulation as a whole, without naming the failing call.
 */
const WITHOUT_COIN: SimulatedTransaction = { status: 'reverted', gasUsed: 0n, reason: 'InsufficientBalance' }

/**
 * Returns the plan that reads an account's balance of the chain's native coin. The plan can be joined with another plan
 * of the same `address`.
 */
export function coinPlan(address: Address, account: Address): ReadPlan<bigint> {
  const calls = { coin: buildCall(MULTICALL3, multicall3Abi, 'getEthBalance', [account]) }
  return buildReadPlan({ address, slots: {}, calls }, ({ answers }) => requireValue(answers.coin))
}

/** Reads the source chain's state together with `plan`, in one RPC request. Throws `upstream_*`. */
export async function readSourceState<T>(
  reader: ChainReader,
  account: Address,
  { pool, token }: RouteEnd,
  plan: ReadPlan<T>,
  extraCalls: readonly RpcRequest[] = [],
) {
  const calls = {
    time: buildCall(pool, poolAbi, 'getCurrentTime', []),
    quoteTimeBuffer: buildCall(pool, poolAbi, 'depositQuoteTimeBuffer', []),
    fillDeadlineBuffer: buildCall(pool, poolAbi, 'fillDeadlineBuffer', []),
    paused: buildCall(pool, poolAbi, 'pausedDeposits', []),
    allowance: buildCall(token, erc20Abi, 'allowance', [account, pool]),
  }
  const state = buildReadPlan({ address: plan.address, slots: {}, calls }, ({ answers }) => ({
    paused: requireValue(answers.paused),
    allowance: requireValue(answers.allowance),
    clocks: {
      source: Number(requireValue(answers.time)),
      quoteTimeBuffer: requireValue(answers.quoteTimeBuffer),
      fillDeadlineBuffer: requireValue(answers.fillDeadlineBuffer),
    },
  }))
  const read = await reader.readOne(joinReadPlans(plan, state), {
    extraCalls: [...extraCalls, codeRequest(account)],
    withHash: true,
  })
  const [value, pooled] = read.value
  const code = parseResult(HexText, read.outcomes.at(-1))
  // An account with delegated code (EIP-7702) has a private key that controls the address on every chain. Such an
  // account does not count as a contract.
  const source: SourceState = { ...pooled, accountIsContract: code !== '0x' && !findDelegate(code) }
  return { ...read, value, source, outcomes: read.outcomes.slice(0, -1) }
}

/** Reads the destination chain's state together with `plan`, in one RPC request. Throws `upstream_*`. */
export async function readDestinationState<T>(
  reader: ChainReader,
  account: Address,
  { pool }: RouteEnd,
  plan: ReadPlan<T>,
) {
  const calls = { paused: buildCall(pool, poolAbi, 'pausedFills', []) }
  const state = buildReadPlan({ address: plan.address, slots: {}, calls }, ({ answers }) =>
    requireValue(answers.paused),
  )
  const { block, value, outcomes, evidence } = await reader.readOne(joinReadPlans(plan, state), {
    extraCalls: [codeRequest(account)],
    withHash: true,
  })
  const [ofPlan, paused] = value
  const accountHasCode = parseResult(HexText, outcomes[0]) !== '0x'
  const destination: DestinationState = { paused, time: Number(block.timestamp), accountHasCode }
  return { value: ofPlan, destination, block, evidence }
}

/**
 * Throws `cross_chain_not_available` if the bridge's pool is paused on either chain. Also throws it if the account is a
 * contract without code on the destination chain, where it could not use the funds.
 */
export function requireBridgeAvailable(source: SourceState, destination: DestinationState): void {
  const isStranded = source.accountIsContract && !destination.accountHasCode
  if (source.paused || destination.paused || isStranded) throw new AppError('cross_chain_not_available')
}

/** Bridge transfer to prepare, and the vault operations that the account sends before it on the source chain. */
export type BridgeTransferPlan = {
  readonly request: BridgeRequest
  readonly terms: BridgeTerms
  readonly source: SourceState
  /** The account's balance of the chain's native coin; set only if the account sends that coin. */
  readonly coin?: bigint | undefined
  readonly before: readonly PlannedOperation[]
}

/**
 * Builds the transactions of a transfer in order: approvals for the bridge's pool, vault operations, deposit into the
 * pool. Verifies the transactions and simulates them in sequence. Throws `upstream_*`.
 */
export async function prepareBridgeTransfer(
  { getReader, integratorId }: Pick<BridgeServices, 'getReader' | 'integratorId'>,
  { request, terms, source: { allowance }, coin, before }: BridgeTransferPlan,
) {
  const { account, inputAmount, isInCoin = false } = request
  const { chainId, pool: spender, token } = request.route.source
  const payments = before.map(encodeOperation)
  const deposits = [encodeBridgeDeposit(request, terms, integratorId)]
  verifyOperations(before, payments)
  verifyBridgeDeposit(request, terms, deposits)
  const operations = [...payments, ...deposits]

  const spending = { token, spender, amount: inputAmount }
  const drafts = listApprovalPlans(inputAmount, isInCoin ? inputAmount : allowance).map((needed) => {
    return { approval: encodeApprovals(spending, needed), operations, intents: before }
  })
  const { approval, results } =
    coin !== undefined && coin < inputAmount
      ? { approval: [], results: [WITHOUT_COIN] }
      : pickFirstApprovedDryRun(await makeDryRuns(getReader(chainId), account, drafts, POOL_ERRORS))
  verifyApprovals(spending, approval)
  const upperEstimate =
    UPPER_GAS_ESTIMATES.approve * BigInt(approval.length) +
    UPPER_GAS_ESTIMATES.withdrawal * BigInt(before.length) +
    UPPER_GAS_ESTIMATES.bridge
  return { approval, operations, ...summariseSimulation(results, upperEstimate) }
}

/** Returns the bridge's quote in the form of the API response; amounts are in the tokens' smallest units. */
export function describeQuote(
  { route: { source, destination }, inputAmount }: BridgeRequest,
  { outputAmount, ...times }: BridgeTerms,
  { expectedFillSeconds }: Quote,
  clocks: Clocks,
) {
  return {
    inputAmount,
    outputAmount,
    feeTotal: inputAmount - (outputAmount * 10n ** BigInt(source.decimals)) / 10n ** BigInt(destination.decimals),
    expectedFillSeconds,
    expiresAt: new Date(computeQuoteExpiry(times, clocks) * 1000),
  }
}
