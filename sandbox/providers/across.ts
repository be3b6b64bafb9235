import { randomUUID } from 'node:crypto'
import { type Address, createClient, getAddress, http, isAddress, isHex, parseAbi, parseUnits } from 'viem'
import { getBlock, getCode, readContract } from 'viem/actions'
import * as z from 'zod'
import { findBridgeToken, toBridgedToken } from '../../lib/bridge/tokens.ts'
import { COIN_ADDRESS } from '../../lib/chain/registry.ts'
import { bridgeContracts } from '../bridge.ts'
import type { LocalToken } from '../chains/world.ts'
import type { LocalChain } from '../chains.ts'
import { createFakeService, type FakeRequest, type FakeService, type ProviderReply } from '../fake.ts'
import type { Relayer } from '../relayer.ts'
import { depositStatuses } from './across-status.ts'

/** Local chain and its bridged tokens. Tokens with the same symbol on two chains are the same asset. */
export type BridgedChain = LocalChain & { readonly tokens: readonly LocalToken[] }

type ErrorCode = 'INVALID_PARAM' | 'MISSING_PARAM' | 'AMOUNT_TOO_LOW' | 'AMOUNT_TOO_HIGH' | 'ROUTE_NOT_ENABLED'

class ApiError extends Error {
  readonly code: ErrorCode
  readonly param: string | undefined

  constructor(code: ErrorCode, message: string, param?: string) {
    super(message)
    this.code = code
    this.param = param
  }
}

// Fee for the relayer's capital, in basis points of the deposit's amount.
const CAPITAL_BASIS_POINTS = 4n
// Fee for the bridge's liquidity providers, in basis points of the deposit's amount.
const LP_BASIS_POINTS = 1n
// Gas fees of a fill, without and with a message to execute. They are in whole tokens, as if each token were worth one
// dollar.
const GAS_FEE = '0.05'
const GAS_FEE_WITH_MESSAGE = '0.12'
// Maximum deposits in whole tokens: in general, and for an instant fill.
const MAX_DEPOSIT = '2000000'
const MAX_DEPOSIT_INSTANT = '500000'
// Maximum relayer fee: a quarter of the deposit's amount. This limit makes the minimum deposit about four times the gas fee.
const MAX_RELAYER_FEE_BASIS_POINTS = 2_500n

const FILL_SECONDS = 3
// Age of a quote's timestamp in seconds. The real API takes the time of an older block, so that several quotes share
// one timestamp.
const QUOTE_AGE_SECONDS = 300n
// Ids of origin chains (Ethereum, Polygon) that may reorganise. A reorganisation can move a deposit to a later block. A
// quote for these chains therefore states the end of the relayer's exclusivity as a time, not as a duration.
const ORIGINS_THAT_REORGANISE: readonly number[] = [1, 137]
const DEADLINE_SECONDS = 7200
const WHOLE = 10n ** 18n
/** Maximum characters of a message in a GET request, because a longer message does not fit into a URL. */
const MAX_MESSAGE_IN_QUERY = 25_000

const TOKEN = parseAbi(['function balanceOf(address account) view returns (uint256)'])

const Digits = z
  .string()
  .regex(/^\d{1,78}$/)
  .transform(BigInt)
const ChainNumber = z
  .string()
  .regex(/^[1-9]\d{0,15}$/)
  .transform(Number)
const AnyAddress = z.custom<Address>((text) => typeof text === 'string' && isAddress(text, { strict: false }))
const Flag = z.enum(['true', 'false']).transform((text) => text === 'true')
const Message = z
  .string()
  .refine((text) => isHex(text) && text.length % 2 === 0)
  .optional()

const FeeParams = z.object({
  inputToken: AnyAddress,
  outputToken: AnyAddress,
  originChainId: ChainNumber,
  destinationChainId: ChainNumber,
  amount: Digits.refine((amount) => amount > 0n),
  recipient: AnyAddress.optional(),
  message: Message,
  relayer: AnyAddress.optional(),
  allowUnmatchedDecimals: Flag.optional(),
  skipAmountLimit: Flag.optional(),
})
type FeeParams = z.output<typeof FeeParams>
type Route = { readonly from: LocalToken; readonly to: LocalToken }

/**
 * Returns a fake of Across' API under the path /api, with the endpoints `suggested-fees` and `deposit/status`. Quotes are invented, and
 * their ids begin with `made-up`.
 */
export function fakeAcross(options: {
  readonly chains: readonly BridgedChain[]
  readonly relayer: Relayer
}): FakeService {
  const { chains, relayer } = options
  const routes = routesBetween(chains)

  const suggestFees = async ({ query }: FakeRequest) => {
    const params = parse(FeeParams, Object.fromEntries(query))
    const { amount } = params
    const { from, to } = routeOf(params)
    await checkMessage(params, { from, to })

    const fees = feesOf(amount, from, params.message)
    const limits = limitsOf(from, params.message)
    const isAmountTooLow = amount < limits.minDeposit
    if (isAmountTooLow && !params.skipAmountLimit) {
      throw new ApiError('AMOUNT_TOO_LOW', 'Sent amount is too low relative to fees', 'amount')
    }
    if (amount > limits.maxDeposit) throw new ApiError('AMOUNT_TOO_HIGH', 'Amount exceeds max. deposit limit', 'amount')

    const block = await getBlock(clientOf(from.chainId))
    const timestamp = block.timestamp - QUOTE_AGE_SECONDS
    const exclusiveUntil = ORIGINS_THAT_REORGANISE.includes(from.chainId) ? Number(block.timestamp) : 0
    const outputAmount = scale(amount - fees.total, from.decimals, to.decimals)
    const share = (total: bigint) => ({ pct: ((total * WHOLE) / amount).toString(), total: total.toString() })
    return {
      estimatedFillTimeSec: FILL_SECONDS,
      capitalFeePct: share(fees.capital).pct,
      capitalFeeTotal: share(fees.capital).total,
      relayGasFeePct: share(fees.gas).pct,
      relayGasFeeTotal: share(fees.gas).total,
      relayFeePct: share(fees.total).pct,
      relayFeeTotal: share(fees.total).total,
      lpFeePct: '0',
      timestamp: timestamp.toString(),
      isAmountTooLow,
      quoteBlock: block.number.toString(),
      exclusiveRelayer: relayer.address,
      exclusivityDeadline: exclusiveUntil + FILL_SECONDS,
      spokePoolAddress: bridgeContracts(from.chainId).pool,
      destinationSpokePoolAddress: bridgeContracts(to.chainId).pool,
      // Total fee of the depositor. The three fees below are its parts.
      totalRelayFee: share(fees.total),
      relayerCapitalFee: share(fees.capital),
      relayerGasFee: share(fees.gas),
      lpFee: share(fees.lp),
      limits: asText(limits),
      fillDeadline: (timestamp + BigInt(DEADLINE_SECONDS)).toString(),
      outputAmount: outputAmount.toString(),
      inputToken: describe(from),
      outputToken: describe(to),
      id: madeUpId(),
    }
  }

  const routeOf = (params: FeeParams): Route => {
    const route = routes.find(
      ({ from, to }) =>
        from.chainId === params.originChainId &&
        to.chainId === params.destinationChainId &&
        from.address === getAddress(params.inputToken) &&
        to.address === getAddress(params.outputToken),
    )
    if (!route) throw new ApiError('ROUTE_NOT_ENABLED', 'Route is not enabled')
    if (route.from.decimals !== route.to.decimals && !params.allowUnmatchedDecimals) {
      const message = `Input and output tokens have ${route.from.decimals} and ${route.to.decimals} decimals`
      throw new ApiError('INVALID_PARAM', message, 'allowUnmatchedDecimals')
    }
    return route
  }

  const checkMessage = async (params: FeeParams, route: Route) => {
    const { message, recipient, amount, relayer: payer = relayer.address } = params
    if (message === undefined || message === '0x') return
    if (message.length > MAX_MESSAGE_IN_QUERY) {
      throw new ApiError('INVALID_PARAM', 'Message is too long for a GET; use POST', 'message')
    }
    if (!recipient) throw new ApiError('MISSING_PARAM', 'Recipient is required with a message', 'recipient')
    const { from, to } = route
    const client = clientOf(to.chainId)
    const [code, funds] = await Promise.all([
      getCode(client, { address: recipient }),
      readContract(client, { address: to.address, abi: TOKEN, functionName: 'balanceOf', args: [payer] }),
    ])
    if (!code) throw new ApiError('INVALID_PARAM', 'Recipient must be a contract with a message', 'recipient')
    if (funds < scale(amount, from.decimals, to.decimals)) {
      throw new ApiError('INVALID_PARAM', `Relayer Address ${payer} doesn't have enough funds`, 'relayer')
    }
  }

  const clientOf = (chainId: number) => {
    const chain = chains.find((candidate) => candidate.chainId === chainId)
    return createClient({ transport: http(chain?.rpcUrl, { retryCount: 0 }) })
  }

  const statusOf = depositStatuses(options)

  return createFakeService('/api', async (question) => {
    const path = question.parts.join('/')
    if (path === 'suggested-fees') return suggestFees(question).then(ok, refuse)
    if (path === 'deposit/status') return statusOf(question).catch(refuse)
    return { status: 404, body: '' }
  })
}

function wrappedCoinOn({ chainId }: BridgedChain): LocalToken[] {
  const token = findBridgeToken(chainId, toBridgedToken(chainId, COIN_ADDRESS))
  return token ? [{ chainId, name: 'Wrapped Ether', ...token }] : []
}

function routesBetween(chains: readonly BridgedChain[]): Route[] {
  const tokens = chains.flatMap((chain) => [...chain.tokens, ...wrappedCoinOn(chain)])
  return tokens.flatMap((from) =>
    tokens.filter((to) => to.symbol === from.symbol && to.chainId !== from.chainId).map((to) => ({ from, to })),
  )
}

function parse<T>(schema: z.ZodType<T>, params: Record<string, unknown>): T {
  const result = schema.safeParse(params)
  if (result.success) return result.data
  const param = String(result.error.issues[0]?.path[0])
  throw params[param] === undefined
    ? new ApiError('MISSING_PARAM', `Missing parameter ${param}`, param)
    : new ApiError('INVALID_PARAM', `Invalid parameter ${param}`, param)
}

function feesOf(amount: bigint, token: LocalToken, message: string | undefined) {
  const capital = (amount * CAPITAL_BASIS_POINTS) / 10_000n
  const lp = (amount * LP_BASIS_POINTS) / 10_000n
  const gas = gasFee(token, message)
  return { capital, lp, gas, total: capital + lp + gas }
}

function gasFee({ decimals }: LocalToken, message: string | undefined): bigint {
  return parseUnits(message === undefined || message === '0x' ? GAS_FEE : GAS_FEE_WITH_MESSAGE, decimals)
}

function limitsOf(token: LocalToken, message: string | undefined) {
  const minDeposit = (gasFee(token, message) * 10_000n) / (MAX_RELAYER_FEE_BASIS_POINTS - CAPITAL_BASIS_POINTS)
  const maxDeposit = parseUnits(MAX_DEPOSIT, token.decimals)
  const instant = parseUnits(MAX_DEPOSIT_INSTANT, token.decimals)
  return {
    minDeposit,
    maxDeposit,
    maxDepositInstant: instant,
    maxDepositShortDelay: maxDeposit,
    recommendedDepositInstant: instant,
  }
}

/** Converts an amount between numbers of decimals, rounded down. */
function scale(amount: bigint, from: number, to: number): bigint {
  return to >= from ? amount * 10n ** BigInt(to - from) : amount / 10n ** BigInt(from - to)
}

function describe({ address, symbol, decimals, chainId }: LocalToken) {
  return { address, symbol, decimals, chainId }
}

function asText<K extends string>(amounts: Record<K, bigint>) {
  return Object.fromEntries(Object.entries<bigint>(amounts).map(([name, amount]) => [name, amount.toString()]))
}

function ok(body: unknown): ProviderReply {
  return { status: 200, body }
}

function refuse(error: unknown): ProviderReply {
  const body = (code: string, status: number, message: string, param?: string): ProviderReply => ({
    status,
    body: { type: 'AcrossApiError', code, status, message, ...(param && { param }), id: madeUpId() },
  })
  if (error instanceof ApiError) return body(error.code, 400, error.message, error.param)
  return body('UPSTREAM_RPC_ERROR', 502, 'A local chain does not answer')
}

function madeUpId(): string {
  return `made-up-${randomUUID()}`
}
