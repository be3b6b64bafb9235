import { approvalsNeeded, encodeApprovals, verifyApprovals } from '../chain/erc20.ts'
import type { Evidence } from '../chain/evidence.ts'
import type { ChainReader } from '../chain/reader.ts'
import { parseSimulation, simulationRequest, summarise, UPPER_ESTIMATE } from '../chain/simulation.ts'
import type { SimulationResult } from '../chain/simulation-result.ts'
import type { Transaction } from '../chain/transaction.ts'
import { encodeOperation, type OperationRequest, verifyOperations } from '../protocols/calldata.ts'
import { depositNamed, OPERATIONS } from '../protocols/operations.ts'
import { getProtocol } from '../protocols/protocols.ts'
import { REVERT_ERRORS } from '../protocols/revert-errors.ts'
import { type Pin, whilePinned } from './pin.ts'
import type { Vault } from './vault.ts'

/** The transactions of a deposit, to be sent in order: approvals first. */
export type PreparedDeposit = {
  approval: Transaction[]
  operations: Transaction[]
  /** Gas units of all transactions together. */
  estimatedGas: bigint
  simulation: SimulationResult
  /** Whether the shares come only after a settlement. */
  isAsync: boolean
  evidence: Evidence[]
}

/** A deposit into a vault of the client's, and what of the vault is pinned. */
type VaultDeposit = OperationRequest & { readonly vault: Vault; readonly pin: Pin | undefined }

/**
 * The transactions that deposit into the vault now, in one round trip: the state that decides between them and the
 * simulation of every candidate go out together. Throws the AppError that says why there are none, `vault_has_changed`
 * before any other, or `upstream_*`.
 */
export async function prepareDeposit(reader: ChainReader, request: VaultDeposit): Promise<PreparedDeposit> {
  const { vault, account, amount } = request
  const { deposits: candidates } = OPERATIONS[vault.protocol]
  const spending = { token: vault.asset, spender: vault.address, amount }
  // One dry run tries all candidates in turn: those that the vault does not accept now revert and change nothing.
  const attempts = candidates.map((operation) => encodeOperation({ operation, request }))
  const variants = (['none', 'exact', 'reset'] as const).map((needed) => encodeApprovals(spending, needed))
  const extraCalls = variants.map((approval) => simulationRequest(account, [...approval, ...attempts]))

  const { plan, codeRequests } = whilePinned(reader, request, getProtocol(vault).depositTerms(vault, account))
  const { value, outcomes, evidence } = await reader.readOne(plan, {
    extraCalls: [...extraCalls, ...codeRequests],
    withHash: true,
  })
  const { allowance, choose } = await value(outcomes.slice(extraCalls.length))
  const operation = depositNamed(vault, choose(amount))
  const [none, exact, reset] = variants.map((approval, index) =>
    parseSimulation(outcomes[index], approval.length + attempts.length, REVERT_ERRORS),
  )

  const needed = approvalsNeeded(amount, allowance, exact?.[0])
  const approval = encodeApprovals(spending, needed)
  const intents = [{ operation, request }]
  const operations = intents.map(encodeOperation)
  verifyApprovals(spending, approval)
  verifyOperations(intents, operations)

  const simulated = { none, exact, reset }[needed]
  const chosen = simulated && [
    ...simulated.slice(0, approval.length),
    simulated[approval.length + candidates.indexOf(operation)],
  ]
  const upperEstimate = UPPER_ESTIMATE.approve * BigInt(approval.length) + UPPER_ESTIMATE.deposit
  return {
    approval,
    operations,
    isAsync: operation.isAsync,
    evidence: [await evidence()],
    ...summarise(
      chosen?.filter((call) => call !== undefined),
      upperEstimate,
    ),
  }
}
