import type { Abi } from 'viem'
import { approvalsNeeded, encodeApprovals, erc20Abi, verifyApprovals } from '../chain/erc20.ts'
import { type ChainReader, mapReadPlan } from '../chain/reader.ts'
import { parseSimulation, simulationRequest, summarise, UPPER_ESTIMATE } from '../chain/simulation.ts'
import type { SimulationResult } from '../chain/simulation-result.ts'
import type { Transaction } from '../chain/transaction.ts'
import { erc4626Abi, lagoonAbi } from '../protocols/abi.ts'
import { protocolOf } from '../protocols/protocols.ts'
import { type DepositRequest, encodeDeposit, verifyDeposit } from './calldata.ts'
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
}

/** The errors that a deposit or a claim may revert with. */
export const DEPOSIT_ERRORS: Abi = [...lagoonAbi, ...erc4626Abi, ...erc20Abi].filter((item) => item.type === 'error')

/** A deposit into a vault of the client's. */
type VaultDeposit = DepositRequest & { readonly vault: Vault }

/**
 * The transactions that deposit into the vault now, in one round trip: the state that decides between them and the
 * simulation of every candidate go out together. Throws the AppError that says why there are none, or `upstream_*`.
 */
export async function prepareDeposit(reader: ChainReader, request: VaultDeposit): Promise<PreparedDeposit> {
  const { vault, user, amount } = request
  const { operations: candidates, terms } = protocolOf(vault).deposits
  const spending = { token: vault.asset, spender: vault.address, amount }
  // One dry run tries all candidates in turn: those that the vault does not accept now revert and change nothing.
  const attempts = candidates.map((operation) => encodeDeposit(operation, request))
  const variants = (['none', 'exact', 'reset'] as const).map((needed) => encodeApprovals(spending, needed))
  const along = variants.map((approval) => simulationRequest(user, [...approval, ...attempts]))

  const { value, outcomes } = await reader.readOne(
    mapReadPlan(terms(vault, user), ({ allowance, choose }) => ({ allowance, operation: choose(amount) })),
    { extraCalls: along },
  )
  const { allowance, operation } = value
  const [none, exact, reset] = variants.map((approval, index) =>
    parseSimulation(outcomes[index], approval.length + attempts.length, DEPOSIT_ERRORS),
  )

  const needed = approvalsNeeded(amount, allowance, exact?.[0])
  const approval = encodeApprovals(spending, needed)
  const operations = [encodeDeposit(operation, request)]
  verifyApprovals(spending, approval)
  verifyDeposit(operation, request, operations)

  const simulated = { none, exact, reset }[needed]
  const chosen = simulated && [
    ...simulated.slice(0, approval.length),
    simulated[approval.length + candidates.indexOf(operation)],
  ]
  const upperEstimate = UPPER_ESTIMATE.approve * BigInt(approval.length) + UPPER_ESTIMATE.deposit
  return {
    approval,
    operations,
    isAsync: operation === 'requestDeposit',
    ...summarise(
      chosen?.filter((call) => call !== undefined),
      upperEstimate,
    ),
  }
}
