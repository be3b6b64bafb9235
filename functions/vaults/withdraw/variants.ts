import type { Address } from 'viem'
import { encodeApprovals, type Spending } from '../../../lib/chain/erc20.ts'
import type { AggregateCall } from '../../../lib/chain/multicall.ts'
import type { ChainReader } from '../../../lib/chain/reader.ts'
import type { RpcOutcome } from '../../../lib/chain/rpc.ts'
import { parseSimulation, type SimulatedCall } from '../../../lib/chain/simulation.ts'
import type { Transaction } from '../../../lib/chain/transaction.ts'
import { encodeOperation, type Intent } from '../../../lib/protocols/calldata.ts'
import { REVERT_ERRORS } from '../../../lib/protocols/revert-errors.ts'
import type { Vault } from '../../../lib/vaults/vault.ts'

/** Transactions in order, approvals before operations, and the views that are asked for before and after them. */
type Variant = {
  readonly approval: Transaction[]
  readonly operations: Transaction[]
  readonly views: readonly Transaction[]
}
/** The same with what each transaction did and what each view returned, or undefined where the node cannot simulate. */
export type Simulated = Pick<Variant, 'approval' | 'operations'> & {
  readonly calls: readonly SimulatedCall[] | undefined
  readonly viewed: readonly SimulatedCall[] | undefined
}

/** The operations as they are, and after an approval of the shares where there are vaults that take them by that. */
export function variantsOf(vault: Vault, intents: readonly Intent[], views: readonly AggregateCall[] = []): Variant[] {
  const operations = intents.map(encodeOperation)
  const approvals = sharesPulled(vault, intents).map((spending) => encodeApprovals(spending, 'exact'))
  const asked = views.map(({ to, data }) => ({ to, data, value: 0n }))
  return [[], ...approvals].map((approval) => ({ approval, operations, views: asked }))
}

/** All that a variant's dry run calls, in order. */
export function transactionsOf({ approval, operations, views }: Variant): Transaction[] {
  return [...views, ...approval, ...operations, ...views]
}

/** The shares for which operations may need an approval: of one operation at most. */
export function sharesPulled({ address, shareToken }: Vault, intents: readonly Intent[]): Spending[] {
  return intents
    .filter(({ operation }) => 'mayPullShares' in operation && operation.mayPullShares)
    .map(({ request }) => ({ token: shareToken, spender: address, amount: request.amount }))
    .slice(0, 1)
}

/** What each variant did, by the outcomes of their dry runs. */
export function parseVariants(variants: readonly Variant[], outcomes: readonly RpcOutcome[]): Simulated[] {
  return variants.map((variant, index) => {
    const { approval, operations, views } = variant
    const calls = parseSimulation(outcomes[index], transactionsOf(variant).length, REVERT_ERRORS)
    const sent = calls?.splice(views.length, approval.length + operations.length)
    return { approval, operations, calls: sent, viewed: calls ?? undefined }
  })
}

/** The first variant that works; the last one where none does, or none can be tried: with its approval a vault takes either. */
export async function simulateVariants(
  reader: ChainReader,
  account: Address,
  variants: readonly Variant[],
): Promise<Simulated> {
  const outcomes = await reader.simulate(account, variants.map(transactionsOf))
  const simulated = parseVariants(variants, outcomes)
  const works = ({ calls }: Simulated) => calls?.every(({ status }) => status === 'success') ?? false
  const chosen = simulated.find(works) ?? simulated.at(-1)
  if (!chosen) throw new Error('There is nothing to simulate.')
  return chosen
}
