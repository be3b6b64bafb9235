import { hexToBigInt, size } from 'viem'
import { readWithBridge } from '../../../lib/bridge/withdrawal.ts'
import {
  parseSimulation,
  type SimulatedCall,
  simulationRequest,
  summarise,
  UPPER_ESTIMATE,
} from '../../../lib/chain/simulation.ts'
import { AppError } from '../../../lib/errors.ts'
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
import { findVault, type Vault } from '../../../lib/vaults/vault.ts'
import type { contract } from './contract.ts'

/**
 * Builds what withdraws from a vault now: in one round trip where the request says which calls may do it, in two where
 * that takes what the vault tells, as for everything; with one more, and the bridge's quote, where it goes on to another
 * chain. Throws the AppError that says why there is nothing, or `upstream_*`.
 */
export function buildWithdrawal({ getReader, bridge }: Services<'getReader' | 'bridge'>) {
  return async ({ client, body }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const vault = findVault(client.vaults, body.vaultAddress, body.chainId)
    const reader = getReader(vault.chainId)
    const account = body.userAddress
    const amount = amountIn(body)

    // One dry run tries all calls in turn that may be it: those that the vault does not accept now change nothing.
    const candidates = candidatesFor(OPERATIONS[vault.protocol].withdrawals, { vault, account }, amount)
    const attempts = candidates.length > 0 ? [simulationRequest(account, candidates.map(encodeOperation))] : []
    const plan = getProtocol(vault).withdrawal(vault, account, amount)
    const destination = destinationIn(body, vault)
    const { value, outcomes, block, send } = destination
      ? await readWithBridge({ getReader, ...bridge }, { vault, account, destination }, plan, attempts)
      : { ...(await reader.readOne(plan, { extraCalls: attempts })), send: undefined }
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
    const outcome = outcomeOf(withdrawal, intents.at(-1)?.operation.returns, calls?.at(-1))
    const from = { protocol: vault.protocol, chainId: vault.chainId }
    if (!send) {
      const gas = summarise(calls ?? undefined, UPPER_ESTIMATE.withdrawal * BigInt(operations.length))
      return { approval: [], operations, ...gas, ...outcome, ...from, isCrossChain: false }
    }
    const { paid, ...sent } = await send({ intents, calls: calls ?? undefined, amount: body.amount })
    const { assets, claimedAssets } = outcome.withdrawal
    const remainder = (paid ?? assets + claimedAssets) - sent.quote.inputAmount
    return { ...sent, ...outcome, withdrawal: { ...outcome.withdrawal, remainder }, ...from, isCrossChain: true }
  }
}

/** Where the tokens are to go, undefined where they stay on the vault's chain. Throws `unsupported_destination_token`. */
function destinationIn({ dstChainId, dstToken }: Request<typeof contract>['body'], { chainId, asset }: Vault) {
  // The contract has both of them or none.
  if (dstChainId === undefined || dstToken === undefined) return undefined
  if (dstChainId !== chainId) return { chainId: dstChainId, token: dstToken }
  if (dstToken !== asset) throw new AppError('unsupported_destination_token')
  return undefined
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
