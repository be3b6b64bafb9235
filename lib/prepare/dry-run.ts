import type { Abi, Address } from 'viem'
import type { ChainReader } from '../chain/reader.ts'
import type { RpcOutcome, RpcRequest } from '../chain/rpc.ts'
import { parseSimulation, type SimulatedTransaction, simulationRequest } from '../chain/simulation.ts'
import type { Transaction } from '../chain/transaction.ts'
import type { PlannedOperation } from '../protocols/calldata.ts'
import { REVERT_ERRORS } from '../protocols/known-errors.ts'

/**
 * Draft of the transactions that a user will sign. `operations` are the encoded `intents`, in the same order. `views` are view functions that the simulation calls before and
 * after the transactions.
 */
export type Draft = {
  readonly approval: Transaction[]
  readonly operations: Transaction[]
  readonly intents: readonly PlannedOperation[]
  readonly views?: readonly Transaction[]
}

/** Draft with the results of its simulation. `results` and `viewed` are undefined if the node cannot simulate. */
export type DryRun = Draft & {
  readonly results: readonly SimulatedTransaction[] | undefined
  readonly viewed: readonly SimulatedTransaction[] | undefined
}

/** Builds the RPC request that simulates a draft. */
export function dryRunRequest(account: Address, { approval, operations, views = [] }: Draft): RpcRequest {
  return simulationRequest(account, [...views, ...approval, ...operations, ...views])
}

/** Parses the response to `dryRunRequest`. `abi` contains the Solidity errors that explain reverts. */
export function parseDryRun(draft: Draft, outcome: RpcOutcome | undefined, abi: Abi = REVERT_ERRORS): DryRun {
  const { approval, operations, views = [] } = draft
  const sent = approval.length + operations.length
  const all = parseSimulation(outcome, sent + 2 * views.length, abi) ?? undefined
  const results = all?.slice(views.length, views.length + sent)
  return { ...draft, results, viewed: all && [...all.slice(0, views.length), ...all.slice(views.length + sent)] }
}

/** Simulates drafts of transactions in one HTTP request. Throws `upstream_*`. */
export async function makeDryRuns(
  reader: ChainReader,
  account: Address,
  drafts: readonly Draft[],
  abi?: Abi,
): Promise<DryRun[]> {
  const outcomes = await reader.request(drafts.map((draft) => dryRunRequest(account, draft)))
  return drafts.map((draft, index) => parseDryRun(draft, outcomes[index], abi))
}

/**
 * Finds the result of a draft with one operation in an earlier simulation of several operations. The draft then need
 * not be simulated again. In that simulation, all operations before the draft's must have reverted, so that they
 * changed nothing. Returns undefined if no simulation fits.
 */
export function findDryRun(candidates: readonly DryRun[], { intents, ...draft }: Draft): DryRun | undefined {
  const [intent, ...more] = intents
  if (!intent || more.length > 0 || draft.views) return undefined
  for (const { approval, intents: tried, results } of candidates) {
    if (approval.length !== draft.approval.length || approval.some(({ data }, i) => data !== draft.approval[i]?.data)) {
      continue
    }
    const index = tried.findIndex((candidate) => isSame(candidate, intent))
    const before = results?.slice(approval.length, approval.length + index) ?? []
    if (index < 0 || before.some(({ status }) => status === 'success')) continue
    // The node cannot simulate, so another request would not help.
    if (!results) return { ...draft, intents, results, viewed: undefined }
    const call = results[approval.length + index]
    return call && { ...draft, intents, results: [...results.slice(0, approval.length), call], viewed: [] }
  }
  return undefined
}

/** Returns true if two operations are the same call. The minimum that the call must pay may differ. */
function isSame(one: PlannedOperation, other: PlannedOperation): boolean {
  return (
    one.operation === other.operation &&
    one.request.amount === other.request.amount &&
    (one.request.requestId ?? 0n) === (other.request.requestId ?? 0n)
  )
}

/** Returns the first simulation in which all transactions succeed, or else the last simulation. */
export function pickFirstWorking(dryRuns: readonly DryRun[]): DryRun {
  return firstOf(dryRuns, ({ results }) => results)
}

/** Returns the first simulation in which all approvals succeed, or else the last simulation. */
export function pickFirstApprovedDryRun(dryRuns: readonly DryRun[]): DryRun {
  return firstOf(dryRuns, ({ approval, results }) => results?.slice(0, approval.length))
}

function firstOf(
  dryRuns: readonly DryRun[],
  resultsOf: (one: DryRun) => readonly SimulatedTransaction[] | undefined,
): DryRun {
  const works = (one: DryRun) => resultsOf(one)?.every(({ status }) => status === 'success') ?? false
  const picked = dryRuns.find(works) ?? dryRuns.at(-1)
  if (!picked) throw new Error('There is nothing to try.')
  return picked
}
