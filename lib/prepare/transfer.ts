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
import { type Clocks, quoteExpiry } from '../bridge/terms.ts'
import { call, required } from '../chain/call.ts'
import { codeRequest, delegateIn, parseCode } from '../chain/code.ts'
import { approvalsNeeded, encodeApprovals, erc20Abi, verifyApprovals } from '../chain/erc20.ts'
import { MULTICALL3, multicall3Abi } from '../chain/multicall.ts'
import { type ChainReader, joinReadPlans, type ReadPlan, readPlan } from '../chain/reader.ts'
import type { RpcRequest } from '../chain/rpc.ts'
import { type SimulatedCall, summarise, UPPER_ESTIMATE } from '../chain/simulation.ts'
import { AppError } from '../errors.ts'
import { encodeOperation, type Intent, verifyOperations } from '../protocols/calldata.ts'
import { REVERT_ERRORS } from '../protocols/known-errors.ts'
import { firstApproved, makeDryRuns } from './dry-run.ts'

/** The services that prepare a transfer to another chain. */
export type BridgeServices = {
  readonly getReader: (chainId: number) => ChainReader
  readonly fetchQuote: Across['fetchQuote']
  readonly integratorId: Hex | undefined
}

/** The errors that vaults, tokens and the pool may revert with. */
const POOL_ERRORS: Abi = [...poolAbi, ...REVERT_ERRORS]

/** What the source chain says: how the pool stands, and what the account is there and allows the pool. */
export type SourceState = {
  readonly paused: boolean
  /** How much of the token the pool may take from the account. */
  readonly allowance: bigint
  readonly clocks: Omit<Clocks, 'destination'>
  readonly accountIsContract: boolean
}

/** What the destination says: how the pool stands, and whether the account has code there. */
export type DestinationState = {
  readonly paused: boolean
  /** In seconds since 1970. */
  readonly time: number
  readonly accountHasCode: boolean
}

/** An empty read plan. */
export function emptyPlan(address: Address): ReadPlan<undefined> {
  return readPlan({ address, slots: {}, calls: {} }, () => undefined)
}

/** Dry run of a call with more of the coin than its sender has: nodes refuse it without saying which call reverts. */
const WITHOUT_COIN: SimulatedCall = { status: 'reverted', gasUsed: 0n, reason: 'InsufficientBalance' }

/** The plan that reads an account's balance of the chain's coin; `address` is the contract that is read beside it. */
export function coinPlan(address: Address, account: Address): ReadPlan<bigint> {
  const calls = { coin: call(MULTICALL3, multicall3Abi, 'getEthBalance', [account]) }
  return readPlan({ address, slots: {}, calls }, ({ answers }) => required(answers.coin))
}

/** What of the source chain is read, in one request with a plan of the contract at `address`. Throws `upstream_*`. */
export async function readSource<T>(
  reader: ChainReader,
  account: Address,
  { pool, token }: RouteEnd,
  plan: ReadPlan<T>,
  extraCalls: readonly RpcRequest[] = [],
) {
  const calls = {
    time: call(pool, poolAbi, 'getCurrentTime', []),
    quoteTimeBuffer: call(pool, poolAbi, 'depositQuoteTimeBuffer', []),
    fillDeadlineBuffer: call(pool, poolAbi, 'fillDeadlineBuffer', []),
    paused: call(pool, poolAbi, 'pausedDeposits', []),
    allowance: call(token, erc20Abi, 'allowance', [account, pool]),
  }
  const state = readPlan({ address: plan.address, slots: {}, calls }, ({ answers }) => ({
    paused: required(answers.paused),
    allowance: required(answers.allowance),
    clocks: {
      source: Number(required(answers.time)),
      quoteTimeBuffer: required(answers.quoteTimeBuffer),
      fillDeadlineBuffer: required(answers.fillDeadlineBuffer),
    },
  }))
  const read = await reader.readOne(joinReadPlans(plan, state), {
    extraCalls: [...extraCalls, codeRequest(account)],
    withHash: true,
  })
  const [value, pooled] = read.value
  const code = parseCode(read.outcomes.at(-1))
  // An account that delegates stays an ordinary one on every chain.
  const source: SourceState = { ...pooled, accountIsContract: code !== '0x' && !delegateIn(code) }
  return { ...read, value, source, outcomes: read.outcomes.slice(0, -1) }
}

/** What of the destination is read, in one request with a plan of the contract at `address`. Throws `upstream_*`. */
export async function readDestination<T>(reader: ChainReader, account: Address, { pool }: RouteEnd, plan: ReadPlan<T>) {
  const calls = { paused: call(pool, poolAbi, 'pausedFills', []) }
  const state = readPlan({ address: plan.address, slots: {}, calls }, ({ answers }) => required(answers.paused))
  const { block, value, outcomes, evidence } = await reader.readOne(joinReadPlans(plan, state), {
    extraCalls: [codeRequest(account)],
    withHash: true,
  })
  const [ofPlan, paused] = value
  const accountHasCode = parseCode(outcomes[0]) !== '0x'
  const destination: DestinationState = { paused, time: Number(block.timestamp), accountHasCode }
  return { value: ofPlan, destination, block, evidence }
}

/**
 * Throws `cross_chain_not_available` where a pool takes or pays nothing, or where the account is a contract that is not
 * deployed on the destination: it could not use what it gets there.
 */
export function requireOpen(source: SourceState, destination: DestinationState): void {
  const isStranded = source.accountIsContract && !destination.accountHasCode
  if (source.paused || destination.paused || isStranded) throw new AppError('cross_chain_not_available')
}

/** What is sent, on which terms, and what is done before it by the vault on the source chain. */
export type Sending = {
  readonly request: BridgeRequest
  readonly terms: BridgeTerms
  readonly source: SourceState
  /** The account's balance of the chain's coin, if it sends that. */
  readonly coin?: bigint | undefined
  readonly before: readonly Intent[]
}

/**
 * The transactions that send it, in order: approvals for the pool, what is done before, the deposit into the pool; verified
 * and simulated as one list. Throws `upstream_*`.
 */
export async function prepareSending(
  { getReader, integratorId }: Pick<BridgeServices, 'getReader' | 'integratorId'>,
  { request, terms, source: { allowance }, coin, before }: Sending,
) {
  const { account, inputAmount, isInCoin = false } = request
  const { chainId, pool: spender, token } = request.route.source
  const payments = before.map(encodeOperation)
  const deposits = [encodeBridgeDeposit(request, terms, integratorId)]
  verifyOperations(before, payments)
  verifyBridgeDeposit(request, terms, deposits)
  const operations = [...payments, ...deposits]

  const spending = { token, spender, amount: inputAmount }
  const drafts = approvalsNeeded(inputAmount, isInCoin ? inputAmount : allowance).map((needed) => {
    return { approval: encodeApprovals(spending, needed), operations, intents: before }
  })
  const { approval, calls } =
    coin !== undefined && coin < inputAmount
      ? { approval: [], calls: [WITHOUT_COIN] }
      : firstApproved(await makeDryRuns(getReader(chainId), account, drafts, POOL_ERRORS))
  verifyApprovals(spending, approval)
  const upperEstimate =
    UPPER_ESTIMATE.approve * BigInt(approval.length) +
    UPPER_ESTIMATE.withdrawal * BigInt(before.length) +
    UPPER_ESTIMATE.bridge
  return { approval, operations, ...summarise(calls, upperEstimate) }
}

/** The quote in the response, amounts in smallest units. */
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
    expiresAt: new Date(quoteExpiry(times, clocks) * 1000),
  }
}
