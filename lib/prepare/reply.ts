import type { Address } from 'viem'
import type * as z from 'zod'
import { serializeForComparison } from '../chain/agree.ts'
import type { Evidence } from '../chain/evidence.ts'
import type { SimulationResult } from '../chain/simulation-result.ts'
import type { Transaction } from '../chain/transaction.ts'
import { max, min } from '../core/bigint.ts'
import { MINUTE_MS } from '../core/time.ts'
import type { TransactionsReply } from './transactions-reply.ts'

type Prepared<Quote> = {
  readonly approval: readonly Transaction[]
  readonly operations: readonly Transaction[]
  readonly estimatedGas: bigint
  readonly simulation: SimulationResult
  readonly evidence: Evidence[]
  readonly quote?: Quote
}

/**
 * Builds the API response with the transactions in the two forms that wallets accept. `approval` and `operations`
 * contain single transactions, `calls` the parameter of `wallet_sendCalls` (EIP-5792). `chainId` is the chain that the
 * user sends them on.
 */
export function toReply<Quote, Protocol extends string>(
  vault: { readonly protocol: Protocol; readonly chainId: number },
  account: Address,
  { approval, operations, estimatedGas, simulation, evidence, quote }: Prepared<Quote>,
  chainId = vault.chainId,
) {
  const transactions = [...approval, ...operations]
  const withChain = (transaction: Transaction) => ({ chainId, ...transaction })
  return {
    approval: approval.map(withChain),
    operations: operations.map(withChain),
    calls: {
      version: '2.0.0' as const,
      chainId: BigInt(chainId),
      from: account,
      atomicRequired: transactions.length > 1,
      calls: transactions,
    },
    protocol: vault.protocol,
    chainId: vault.chainId,
    isCrossChain: quote !== undefined,
    ...{ estimatedGas, simulation, evidence },
    ...(quote !== undefined && { quote }),
  }
}

type Reply = z.output<typeof TransactionsReply> & {
  readonly withdrawal?: Withdrawal
  readonly deposit?: Deposit
  /** Terms of the vault. A merged response has the terms at the older of two RPC hosts' blocks. */
  readonly terms?: object
}

type Deposit = {
  readonly shares: bigint | null
  readonly assets: bigint
  readonly fee: bigint | null
  readonly isEstimate: boolean
}

type Withdrawal = {
  readonly shares: bigint
  readonly assets: bigint | null
  readonly fee: bigint | null
  readonly haircut: bigint
  readonly claimedAssets: bigint
  readonly remainder?: bigint | undefined
  readonly prolongs?: object | null
  readonly isEstimate: boolean
}

/** Functions that choose, from two RPC hosts' results for an amount, the one that is worse for the user. */
const WORSE_WITHDRAWAL = {
  shares: max,
  assets: min,
  fee: max,
  haircut: max,
  claimedAssets: min,
  remainder: min,
} as const
const WORSE_DEPOSIT = { shares: min, assets: min, fee: max } as const

/** Accepted difference between two RPC hosts' amounts, as the denominator of a fraction: 200 stands for half a percent. */
const PARTS = 200n
/** Maximum ratio between the gas estimates of two RPC hosts' simulations. */
const MAX_GAS_FACTOR = 2n
/** Gas units of a block. No transaction can use more, so a higher estimate is wrong. */
const BLOCK_GAS = 60_000_000n

/**
 * Merges two responses, each built from another RPC host's data; returns undefined if the hosts disagree. Everything
 * that the user signs must be equal. Amounts may differ by half a percent: the one that is worse for the user is
 * returned as an estimate. The larger gas estimate is returned. One host's simulation suffices if the other host cannot
 * simulate.
 */
export function agreeOnReply<T extends Reply>(older: T, newer: T): T | undefined {
  if (serializeForComparison(pickSignedParts(older)) !== serializeForComparison(pickSignedParts(newer)))
    return undefined
  const isUnavailable = ({ simulation }: Reply) => simulation.status === 'unavailable'
  const simulated = isUnavailable(older) ? newer : older
  const isSame = serializeForComparison(older.simulation) === serializeForComparison(newer.simulation)
  if (!isSame && !isUnavailable(older) && !isUnavailable(newer)) return undefined
  const estimatedGas = agreeOnGas(older.estimatedGas, newer.estimatedGas, isSame)
  const withdrawal = agreeOnFigures(older.withdrawal, newer.withdrawal, WORSE_WITHDRAWAL)
  const deposit = agreeOnFigures(older.deposit, newer.deposit, WORSE_DEPOSIT)
  if (estimatedGas === undefined || (older.withdrawal && !withdrawal) || (older.deposit && !deposit)) return undefined
  const evidence = older.evidence.flatMap((block, index) => earlier(block, newer.evidence[index]) ?? [])
  if (evidence.length < older.evidence.length) return undefined
  const figures = { ...(withdrawal && { withdrawal }), ...(deposit && { deposit }) }
  return { ...older, simulation: simulated.simulation, estimatedGas, evidence, ...figures }
}

/** Returns the response without estimates, terms and blocks, so that only what the user signs is compared. */
function pickSignedParts(reply: Reply): object {
  const {
    estimatedGas: _,
    simulation: __,
    evidence: ___,
    withdrawal: ____,
    deposit: _____,
    terms: ______,
    ...signed
  } = reply
  return signed
}

/**
 * Returns the larger gas estimate; undefined above a block's gas. If the simulations are equal, it is undefined
 * also for estimates that differ too much. Otherwise one host could not simulate, and its estimate is a constant.
 */
function agreeOnGas(one: bigint, other: bigint, haveEqualSimulations: boolean): bigint | undefined {
  const [least, most] = [min(one, other), max(one, other)]
  const isTooMuch = most > BLOCK_GAS || (haveEqualSimulations && most > least * MAX_GAS_FACTOR)
  return isTooMuch ? undefined : most
}

function agreeOnFigures<F extends Deposit | Withdrawal>(
  older: F | undefined,
  newer: F | undefined,
  worse: { readonly [Name in keyof F]?: typeof max },
): F | undefined {
  if (!older || !newer) return undefined
  if (serializeForComparison(older) === serializeForComparison(newer)) return older
  const agreed = { ...older, isEstimate: true }
  // The cast holds: `Object.keys` returns only names of the object's own properties.
  for (const name of Object.keys({ ...newer, ...agreed }) as (keyof F)[]) {
    const [one, other, worseOf] = [older[name], newer[name], worse[name]]
    if (name === 'isEstimate' || serializeForComparison(one ?? null) === serializeForComparison(other ?? null)) continue
    if (!worseOf || typeof one !== 'bigint' || typeof other !== 'bigint') return undefined
    if ((max(one, other) - min(one, other)) * PARTS > max(one, other)) return undefined
    Object.assign(agreed, { [name]: worseOf(one, other) })
  }
  return agreed
}

/**
 * Returns the earlier of two RPC hosts' blocks. Returns undefined if they are more than a minute apart, or have one
 * number but different hashes.
 */
function earlier(one: Evidence, other: Evidence | undefined): Evidence | undefined {
  if (!other) return undefined
  if (one.blockNumber === other.blockNumber) return one.blockHash === other.blockHash ? one : undefined
  const [older, newer] = one.blockNumber < other.blockNumber ? [one, other] : [other, one]
  const milliseconds = newer.timestamp.getTime() - older.timestamp.getTime()
  return milliseconds >= 0 && milliseconds <= MINUTE_MS ? older : undefined
}
