import type { Address } from 'viem'
import { type TokenSpending, verifyApprovals } from '../chain/erc20.ts'
import type { Evidence } from '../chain/evidence.ts'
import type { BlockHeader } from '../chain/logs.ts'
import type { ChainReader, ReadPlan } from '../chain/reader.ts'
import type { RpcOutcome, RpcRequest } from '../chain/rpc.ts'
import { type SimulatedTransaction, summariseSimulation, UPPER_GAS_ESTIMATES } from '../chain/simulation.ts'
import type { SimulationResult } from '../chain/simulation-result.ts'
import type { AppError } from '../core/errors.ts'
import { verifyOperations } from '../protocols/calldata.ts'
import { type Draft, type DryRun, dryRunRequest, findDryRun, makeDryRuns, parseDryRun } from './dry-run.ts'

/** Input of `prepareTransactions` that differs between deposits, withdrawals, claims and cancellations. */
export type PreparationPlan<Value, Chosen extends DraftChoice> = {
  /** Plan that reads the vault's state, on which the choice of transactions depends. */
  readonly plan: ReadPlan<Value>
  /** Drafts of transactions that are simulated in the same RPC request that reads the vault. The operations of a draft run in sequence. */
  readonly candidates: readonly Draft[]
  /** Chooses the final drafts from the state that was read. Throws an AppError if the vault's state forbids the operation. */
  readonly choose: (read: { readonly value: Value; readonly block: BlockHeader }) => Promise<Chosen>
  /** Name of the constant gas estimate that applies if no node can simulate. */
  readonly upperEstimate: keyof typeof UPPER_GAS_ESTIMATES
}

/** Chosen drafts of transactions, which are simulated. `pick` selects one of them by the results. */
export type DraftChoice = {
  readonly drafts: readonly Draft[]
  readonly pick: (dryRuns: readonly DryRun[]) => DryRun
  /** Token spending that the drafts' approvals allow; undefined if the drafts have no approvals. */
  readonly spending: TokenSpending | undefined
  /** Returns the error that refuses the picked draft; undefined if the user may get its transactions. */
  readonly refuse?: (
    picked: DryRun,
    reverted: Extract<SimulatedTransaction, { status: 'reverted' }> | undefined,
  ) => AppError | undefined
}

/** Transactions for the user to sign, in order, approvals first. */
export type PreparedTransactions<Chosen> = Pick<DryRun, 'approval' | 'operations' | 'intents' | 'results'> & {
  readonly choice: Chosen
  /** Gas units of all transactions together. */
  readonly estimatedGas: bigint
  readonly simulation: SimulationResult
  readonly block: BlockHeader
  readonly evidence: Evidence[]
}

type Read<Value> = {
  readonly value: Value
  readonly outcomes: readonly RpcOutcome[]
  readonly block: BlockHeader
  readonly evidence: () => Promise<Evidence | Evidence[]>
}

/**
 * Builds transactions: reads the vault, chooses drafts, simulates and verifies them. Takes one RPC round trip if the
 * chosen draft is among the candidates, else two. `read` may read other chains at the same time. Throws an AppError if
 * the operation is refused, or `upstream_*`.
 */
export async function prepareTransactions<Value, Chosen extends DraftChoice>(
  reader: ChainReader,
  account: Address,
  preparation: PreparationPlan<Value, Chosen>,
  read: (plan: ReadPlan<NoInfer<Value>>, extraCalls: readonly RpcRequest[]) => Promise<Read<NoInfer<Value>>> = (
    plan,
    extraCalls,
  ) => reader.readOne(plan, { extraCalls, withHash: true }),
): Promise<PreparedTransactions<Chosen>> {
  const { candidates } = preparation
  const attempts = candidates.map((draft) => dryRunRequest(account, draft))
  const { value, outcomes, block, evidence } = await read(preparation.plan, attempts)
  const choice = await preparation.choose({ value, block })

  const tried = candidates.map((draft, index) => parseDryRun(draft, outcomes[index]))
  const known = choice.drafts.flatMap((draft) => findDryRun(tried, draft) ?? [])
  const isKnown = known.length === choice.drafts.length
  const picked = choice.pick(isKnown ? known : await makeDryRuns(reader, account, choice.drafts))
  const { approval, operations, intents, results } = picked

  verifyOperations(intents, operations)
  if (choice.spending) verifyApprovals(choice.spending, approval)
  else if (approval.length > 0) throw new Error('There is an approval of nothing.')
  const refusal = choice.refuse?.(
    picked,
    results?.find((result) => result.status === 'reverted'),
  )
  if (refusal) throw refusal
  const upperEstimate =
    UPPER_GAS_ESTIMATES.approve * BigInt(approval.length) +
    UPPER_GAS_ESTIMATES[preparation.upperEstimate] * BigInt(operations.length)
  return {
    ...{ approval, operations, intents, results, choice, block },
    evidence: [await evidence()].flat(),
    ...summariseSimulation(results, upperEstimate),
  }
}
