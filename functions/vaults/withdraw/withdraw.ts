import { hexToBigInt, size } from 'viem'
import {
  parseSimulation,
  type SimulatedCall,
  simulationRequest,
  summarise,
  UPPER_ESTIMATE,
} from '../../../lib/chain/simulation.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import {
  encodeOperation,
  type Intent,
  type OperationRequest,
  verifyOperations,
  type WithdrawalOperation,
} from '../../../lib/protocols/calldata.ts'
import { OPERATIONS, withdrawalNamed } from '../../../lib/protocols/operations.ts'
import type { Withdrawal, WithdrawalAmount } from '../../../lib/protocols/protocol.ts'
import { getProtocol } from '../../../lib/protocols/protocols.ts'
import { REVERT_ERRORS } from '../../../lib/protocols/revert-errors.ts'
import type { Services } from '../../../lib/services.ts'
import { findVault } from '../../../lib/vaults/vault.ts'
import type { contract } from './contract.ts'

/**
 * Builds what withdraws from a vault now: in one round trip where the request says which calls may do it, in two where
 * that takes what the vault tells, as for everything. Throws the AppError that says why there is nothing, or `upstream_*`.
 */
export function buildWithdrawal({ getReader }: Services<'getReader'>) {
  return async ({ client, body }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const vault = findVault(client.vaults, body.vaultAddress, body.chainId)
    const reader = getReader(vault.chainId)
    const account = body.userAddress
    const amount = amountIn(body)

    // One dry run tries all calls in turn that may be it: those that the vault does not accept now change nothing.
    const candidates = candidatesFor(OPERATIONS[vault.protocol].withdrawals, { vault, account }, amount)
    const attempts = candidates.length > 0 ? [simulationRequest(account, candidates.map(encodeOperation))] : []
    const { value, outcomes, block } = await reader.readOne(getProtocol(vault).withdrawal(vault, account, amount), {
      extraCalls: attempts,
    })
    const withdrawal = await value(reader, block.number)
    const intents = withdrawal.steps.map(({ name, ...step }) => ({
      operation: withdrawalNamed(vault, name),
      request: { vault, account, ...step },
    }))
    const operations = intents.map(encodeOperation)
    verifyOperations(intents, operations)

    const tried = parseSimulation(outcomes[0], candidates.length, REVERT_ERRORS)
    const calls =
      triedAlready(candidates, tried, intents) ??
      parseSimulation((await reader.simulate(account, [operations]))[0], operations.length, REVERT_ERRORS)
    const reverted = calls?.find((call) => call.status === 'reverted')
    if (reverted && withdrawal.refusal) throw withdrawal.refusal(reverted.reason)
    return {
      approval: [],
      operations,
      ...summarise(calls ?? undefined, UPPER_ESTIMATE.withdrawal * BigInt(operations.length)),
      ...outcomeOf(withdrawal, intents.at(-1)?.operation.returns, calls?.at(-1)),
      protocol: vault.protocol,
      chainId: vault.chainId,
      isCrossChain: false,
    }
  }
}

function amountIn({ amount, shares }: Request<typeof contract>['body']): WithdrawalAmount {
  if (amount !== undefined) return { assets: amount }
  return shares === undefined ? 'max' : { shares }
}

/** The operations that take an amount as it is asked for, with no bound on what they pay; none for everything. */
function candidatesFor(
  operations: readonly WithdrawalOperation[],
  whose: Pick<OperationRequest, 'vault' | 'account'>,
  amount: WithdrawalAmount,
): Intent[] {
  if (amount === 'max') return []
  const [takes, value] =
    'assets' in amount ? (['assets', amount.assets] as const) : (['shares', amount.shares] as const)
  return operations
    .filter((operation) => operation.takes === takes)
    .map((operation) => ({ operation, request: { ...whose, amount: value } }))
}

/** What the one operation did among the candidates; undefined where it is none of these, or not the first that worked. */
function triedAlready(
  candidates: readonly Intent[],
  tried: readonly SimulatedCall[] | null,
  [intent, ...more]: readonly Intent[],
): readonly SimulatedCall[] | undefined {
  const index = tried?.findIndex(({ status }) => status === 'success') ?? -1
  const [candidate, call] = [candidates[index], tried?.[index]]
  const isSame = candidate?.operation === intent?.operation && candidate?.request.amount === intent?.request.amount
  return call && isSame && more.length === 0 ? [call] : undefined
}

/** What the withdrawal takes and pays: what its dry run returned, where it pays at once, else what the vault's state says. */
function outcomeOf(withdrawal: Withdrawal, returns: 'assets' | 'shares' | undefined, last: SimulatedCall | undefined) {
  const { value, haircut, claimedAssets } = withdrawal
  const amounts = { shares: withdrawal.shares, assets: withdrawal.assets }
  const told = returns && withdrawal.shares > 0n && last?.status === 'success' && size(last.returnData) === 32
  if (told) amounts[returns] = hexToBigInt(last.returnData)
  const fee = value > amounts.assets ? value - amounts.assets : 0n
  return {
    withdrawal: { ...amounts, fee, haircut, isEstimate: !told, claimedAssets },
    isAsync: returns === undefined,
  }
}
