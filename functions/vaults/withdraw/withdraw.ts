import { hexToBigInt, size } from 'viem'
import { findDestination } from '../../../lib/bridge/destination.ts'
import { readWithBridge } from '../../../lib/bridge/withdrawal.ts'
import { possible, required } from '../../../lib/chain/call.ts'
import { verifyApprovals } from '../../../lib/chain/erc20.ts'
import { type SimulatedCall, simulationRequest, summarise, UPPER_ESTIMATE } from '../../../lib/chain/simulation.ts'
import type { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import {
  encodeOperation,
  type Intent,
  type OperationRequest,
  verifyOperations,
  type WithdrawalOperation,
} from '../../../lib/protocols/calldata.ts'
import { OPERATIONS, withdrawalNamed } from '../../../lib/protocols/operations.ts'
import type { WithdrawalAmount, WithdrawalTerms } from '../../../lib/protocols/protocol.ts'
import { getProtocol } from '../../../lib/protocols/protocols.ts'
import { refusedByVault } from '../../../lib/protocols/refusals.ts'
import type { Services } from '../../../lib/services.ts'
import { readyToSend } from '../../../lib/vaults/ready.ts'
import { findVault } from '../../../lib/vaults/vault.ts'
import type { contract } from './contract.ts'
import {
  parseVariants,
  type Simulated,
  sharesPulled,
  simulateVariants,
  transactionsOf,
  variantsOf,
} from './variants.ts'

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
    const variants = candidates.length > 0 ? variantsOf(vault, candidates) : []
    const attempts = variants.map((variant) => simulationRequest(account, transactionsOf(variant)))
    const plan = getProtocol(vault).withdrawalTerms(vault, account, amount)
    const destination = findDestination(body, vault)
    const { value, outcomes, block, evidence, send } = destination
      ? await readWithBridge({ getReader, ...bridge(client) }, { vault, account, destination }, plan, attempts)
      : { ...(await reader.readOne(plan, { extraCalls: attempts, withHash: true })), send: undefined }
    const withdrawal = possible(await value(reader, block.number))
    withdrawal.steps.forEach(possible)
    const intents = withdrawal.steps.map(({ name, ...step }) => ({
      operation: withdrawalNamed(vault, name),
      request: { vault, account, ...step },
    }))
    const { proof } = withdrawal
    const tried = proof ? undefined : triedAlready(candidates, parseVariants(variants, outcomes), intents)
    const views = proof ? [proof.call] : []
    const { approval, operations, calls, viewed } =
      tried ?? (await simulateVariants(reader, account, variantsOf(vault, intents, views)))
    verifyOperations(intents, operations)
    for (const spending of sharesPulled(vault, intents)) verifyApprovals(spending, approval)

    const reverted = calls?.find((call) => call.status === 'reverted')
    const refusal = reverted || !calls ? refusalOf(withdrawal, reverted) : undefined
    if (refusal) throw refusal
    if (proof && !isProven(proof, viewed)) throw proof.refusal
    const outcome = outcomeOf(withdrawal, intents.at(-1)?.operation.returns, calls?.at(-1))
    const from = { protocol: vault.protocol, chainId: vault.chainId, evidence: [await evidence()].flat() }
    if (!send) {
      const upperEstimate =
        UPPER_ESTIMATE.approve * BigInt(approval.length) + UPPER_ESTIMATE.withdrawal * BigInt(operations.length)
      const gas = summarise(calls, upperEstimate)
      const ready = readyToSend(vault, account, vault.chainId, { approval, operations })
      return { ...ready, ...gas, ...outcome, ...from, isCrossChain: false }
    }
    const { paid, ...sent } = await send({
      intents,
      calls: calls?.slice(approval.length),
      amount: body.amount,
      field: 'amount',
    })
    const { assets, claimedAssets } = outcome.withdrawal
    const remainder = (paid ?? required(assets) + claimedAssets) - sent.quote.inputAmount
    return {
      ...readyToSend(vault, account, vault.chainId, sent),
      ...outcome,
      withdrawal: possible({ ...outcome.withdrawal, remainder }),
      ...from,
      isCrossChain: true,
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
  tried: readonly Simulated[],
  [intent, ...more]: readonly Intent[],
): Simulated | undefined {
  for (const { approval, calls } of tried) {
    const results = calls?.slice(approval.length) ?? []
    const index = results.findIndex(({ status }) => status === 'success')
    const [candidate, call] = [candidates[index], results[index]]
    if (!candidate || !call || !intent) continue
    const isSame = candidate.operation === intent.operation && candidate.request.amount === intent.request.amount
    const approvalCalls = calls?.slice(0, approval.length) ?? []
    // The candidate had no bound on what it pays.
    const operations = [encodeOperation(intent)]
    if (!isSame || more.length > 0) return undefined
    return { approval, operations, calls: [...approvalCalls, call], viewed: [] }
  }
  return undefined
}

/** Why the vault refuses what its dry run reverted, or what could not be tried. */
function refusalOf(
  { refusal }: WithdrawalTerms,
  reverted: { readonly reason: string } | undefined,
): AppError | undefined {
  return refusal?.(reverted?.reason) ?? (reverted && refusedByVault('withdrawal_refused', reverted.reason))
}

/** Whether the view rose by what it must, within the dry run. */
function isProven({ rise }: NonNullable<WithdrawalTerms['proof']>, viewed: readonly SimulatedCall[] = []): boolean {
  const [before, after] = viewed.map((call) =>
    call.status === 'success' && size(call.returnData) === 32 ? hexToBigInt(call.returnData) : undefined,
  )
  return before !== undefined && after !== undefined && after - before === rise
}

/** What the withdrawal takes and pays: what its dry run returned, where it pays at once, else what the vault's state says. */
function outcomeOf(
  withdrawal: WithdrawalTerms,
  returns: 'assets' | 'shares' | undefined,
  last: SimulatedCall | undefined,
) {
  const { value, haircut, claimedAssets } = withdrawal
  const amounts = { shares: withdrawal.shares, assets: withdrawal.assets }
  // Where earlier requests alone are paid, what the last call returns is theirs.
  const isNothing = withdrawal.shares === 0n && withdrawal.assets === 0n
  const told = returns && !isNothing && last?.status === 'success' && size(last.returnData) === 32
  if (told) amounts[returns] = hexToBigInt(last.returnData)
  return {
    withdrawal: {
      ...amounts,
      shares: required(amounts.shares),
      fee: feeIn(value, amounts.assets),
      haircut,
      isEstimate: !told && !isNothing,
      claimedAssets,
    },
    isAsync: returns === undefined,
  }
}

/** What the vault keeps; null where it does not tell what the shares are worth. */
function feeIn(value: bigint | null, assets: bigint | null): bigint | null {
  if (value === null || assets === null) return null
  return value > assets ? value - assets : 0n
}
