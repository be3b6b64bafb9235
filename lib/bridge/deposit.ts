import { type Abi, type Address, type Hex, isHex } from 'viem'
import { call, required } from '../chain/call.ts'
import { type ApprovalsNeeded, approvalsNeeded, encodeApprovals, erc20Abi, verifyApprovals } from '../chain/erc20.ts'
import { type ChainReader, joinReadPlans, readPlan } from '../chain/reader.ts'
import { evmChain } from '../chain/registry.ts'
import type { RpcOutcome, RpcRequest } from '../chain/rpc.ts'
import { parseSimulation, summarise, UPPER_ESTIMATE } from '../chain/simulation.ts'
import { AppError, badAnswer } from '../errors.ts'
import type { DepositOperation } from '../protocols/calldata.ts'
import { depositNamed, OPERATIONS } from '../protocols/operations.ts'
import { getProtocol } from '../protocols/protocols.ts'
import { REVERT_ERRORS } from '../protocols/revert-errors.ts'
import { toResult, unwrap } from '../result.ts'
import type { Vault } from '../vaults/vault.ts'
import { poolAbi } from './abi.ts'
import type { Across } from './across.ts'
import {
  type BridgeRequest,
  type BridgeTerms,
  encodeBridgeDeposit,
  type Route,
  verifyBridgeDeposit,
} from './calldata.ts'
import { agreeTerms, quoteExpiry } from './terms.ts'
import { bridgeTokenAt, bridgeTokenBySymbol } from './tokens.ts'

/** A deposit into `vault` by and for `account`, paid with `inputAmount` of `sourceToken` on another chain. */
export type CrossChainDeposit = {
  readonly vault: Vault
  readonly account: Address
  readonly inputAmount: bigint
  readonly sourceChainId: number
  readonly sourceToken: Address
}

type Dependencies = {
  readonly getReader: (chainId: number) => ChainReader
  readonly fetchQuote: Across['fetchQuote']
  readonly integratorId: Hex | undefined
}

/** The errors that a deposit into the pool may revert with. */
const POOL_ERRORS: Abi = [...poolAbi, ...REVERT_ERRORS]
/** A synchronous deposit must find the valuation still standing when it arrives, this many seconds from now. */
const SYNC_MARGIN_SECONDS = 15n * 60n
/** The code of an account that delegates to a contract (EIP-7702) and stays an ordinary one on every chain. */
const DELEGATION = /^0xef0100/i

/**
 * The transactions on the source chain that deposit into a vault on another one, and the bridge's quote, with amounts in
 * smallest units. The quote and both chains' states are fetched side by side; then the transactions are simulated.
 * Throws the AppError that says why there are none, or `upstream_*`.
 */
export async function prepareCrossChainDeposit(
  { getReader, fetchQuote, integratorId }: Dependencies,
  deposit: CrossChainDeposit,
) {
  const { vault, account, inputAmount } = deposit
  const route = findRoute(deposit)
  const request = (operation: DepositOperation): BridgeRequest => ({ vault, account, route, operation, inputAmount })
  const quoteFor = (operation: DepositOperation) => fetchQuote(request(operation))

  // Asked before the vault's state is known; most deposits take the usual operation.
  const [usual] = OPERATIONS[vault.protocol].deposits
  const quoted = toResult(quoteFor(usual))
  // Awaited below, unless what is read meanwhile fails first.
  quoted.catch(() => {})
  const [source, destination] = await Promise.all([
    readSource(getReader(route.sourceChainId), account, route),
    readDestination(getReader(vault.chainId), deposit, route),
  ])
  if (source.paused || destination.paused) throw new AppError('cross_chain_not_available')
  // A smart account that is not deployed on the destination could not use what it gets there.
  if (source.userIsContract && !destination.userHasCode) throw new AppError('cross_chain_not_available')

  const operation = depositNamed(vault, destination.choose(0n))
  const quote = operation === usual ? unwrap(await quoted) : await quoteFor(operation)
  const clocks = { ...source.clocks, destination: destination.time }
  const bridged = request(operation)
  const terms = agreeTerms(bridged, quote, clocks)
  destination.choose(terms.outputAmount)

  return {
    ...(await prepareTransactions(getReader(route.sourceChainId), bridged, terms, source.allowance, integratorId)),
    isAsync: operation.isAsync,
    quote: {
      inputAmount,
      outputAmount: terms.outputAmount,
      feeTotal: inputAmount - scale(terms.outputAmount, route.outputDecimals, route.inputDecimals),
      expectedFillSeconds: quote.expectedFillSeconds,
      expiresAt: new Date(quoteExpiry(terms, clocks) * 1000),
    },
  }
}

/** The route of one asset between two chains that we allow; any other could strand the money. */
function findRoute({ vault, sourceChainId, sourceToken }: CrossChainDeposit): Route {
  const source = evmChain(sourceChainId)
  if (!source?.bridge) throw new AppError('unsupported_source_chain')
  const destination = evmChain(vault.chainId)
  const output = bridgeTokenAt(vault.chainId, vault.asset)
  if (!destination?.bridge || !output) throw new AppError('cross_chain_not_available')
  const input = bridgeTokenBySymbol(sourceChainId, output.symbol)
  if (input?.address !== sourceToken) throw new AppError('unsupported_source_token')
  return {
    sourceChainId,
    pool: source.bridge.pool,
    inputToken: input.address,
    inputDecimals: input.decimals,
    destinationPool: destination.bridge.pool,
    handler: destination.bridge.multicallHandler,
    outputDecimals: output.decimals,
  }
}

async function prepareTransactions(
  reader: ChainReader,
  request: BridgeRequest,
  terms: BridgeTerms,
  allowance: bigint,
  integratorId: Hex | undefined,
) {
  const { account, route, inputAmount } = request
  const operations = [encodeBridgeDeposit(request, terms, integratorId)]
  verifyBridgeDeposit(request, terms, operations)

  const spending = { token: route.inputToken, spender: route.pool, amount: inputAmount }
  // Only an allowance that is there but too small leaves open what the token demands: both ways are tried.
  const candidates: readonly ApprovalsNeeded[] =
    allowance > 0n && allowance < inputAmount
      ? ['exact', 'reset']
      : [approvalsNeeded(inputAmount, allowance, undefined)]
  const variants = candidates.map((needed) => [...encodeApprovals(spending, needed), ...operations])
  const outcomes = await reader.simulate(account, variants)
  const simulated = variants.map((variant, index) => parseSimulation(outcomes[index], variant.length, POOL_ERRORS))

  const needed = approvalsNeeded(inputAmount, allowance, simulated[0]?.[0])
  const approval = encodeApprovals(spending, needed)
  verifyApprovals(spending, approval)
  const calls = simulated[candidates.indexOf(needed)]
  const upperEstimate = UPPER_ESTIMATE.approve * BigInt(approval.length) + UPPER_ESTIMATE.bridge
  return { approval, operations, ...summarise(calls ?? undefined, upperEstimate) }
}

/** What the source chain says: how the pool stands, and what the account allows it. */
async function readSource(reader: ChainReader, account: Address, { pool, inputToken }: Route) {
  const calls = {
    time: call(pool, poolAbi, 'getCurrentTime', []),
    quoteTimeBuffer: call(pool, poolAbi, 'depositQuoteTimeBuffer', []),
    fillDeadlineBuffer: call(pool, poolAbi, 'fillDeadlineBuffer', []),
    paused: call(pool, poolAbi, 'pausedDeposits', []),
    allowance: call(inputToken, erc20Abi, 'allowance', [account, pool]),
  }
  const { value, outcomes } = await reader.readOne(
    readPlan({ address: pool, slots: {}, calls }, ({ answers }) => ({
      paused: required(answers.paused),
      allowance: required(answers.allowance),
      clocks: {
        source: Number(required(answers.time)),
        quoteTimeBuffer: required(answers.quoteTimeBuffer),
        fillDeadlineBuffer: required(answers.fillDeadlineBuffer),
      },
    })),
    { extraCalls: [codeRequest(account)] },
  )
  const code = parseCode(outcomes[0])
  return { ...value, userIsContract: code !== '0x' && !DELEGATION.test(code) }
}

/** What the destination says: whether its pool fills, and the operation that the vault takes for an amount, or why none. */
async function readDestination(reader: ChainReader, { vault, account }: CrossChainDeposit, route: Route) {
  const pool = readPlan(
    { address: vault.address, slots: {}, calls: { paused: call(route.destinationPool, poolAbi, 'pausedFills', []) } },
    ({ answers }) => required(answers.paused),
  )
  const terms = getProtocol(vault).depositTerms(vault, account, route.handler)
  const { block, value, outcomes } = await reader.readOne(joinReadPlans(terms, pool), {
    extraCalls: [codeRequest(account)],
  })
  const [{ choose }, paused] = value
  return {
    time: Number(block.timestamp),
    paused,
    userHasCode: parseCode(outcomes[0]) !== '0x',
    choose: (amount: bigint) => choose(amount, block.timestamp + SYNC_MARGIN_SECONDS),
  }
}

function codeRequest(account: Address): RpcRequest {
  return { method: 'eth_getCode', params: [account, 'latest'] }
}

function parseCode(outcome: RpcOutcome | undefined): Hex {
  if (outcome && 'result' in outcome && isHex(outcome.result)) return outcome.result
  throw badAnswer('no code')
}

function scale(amount: bigint, from: number, to: number): bigint {
  return (amount * 10n ** BigInt(to)) / 10n ** BigInt(from)
}
