import { type Address, hexToBigInt, size } from 'viem'
import type { Destination } from '../bridge/destination.ts'
import { requireUint256, requireValue } from '../chain/call.ts'
import { encodeApprovals, type TokenSpending } from '../chain/erc20.ts'
import type { AggregateCall } from '../chain/multicall.ts'
import type { SimulatedTransaction } from '../chain/simulation.ts'
import { encodeOperation, type Operation, type PlannedOperation } from '../protocols/calldata.ts'
import { findWithdrawalOperation, OPERATIONS } from '../protocols/operations.ts'
import type { WithdrawalAmount, WithdrawalTerms } from '../protocols/protocol.ts'
import { getProtocol } from '../protocols/protocols.ts'
import { buildVaultRefusal } from '../protocols/refusals.ts'
import type { Vault } from '../vaults/vault.ts'
import { type Draft, type DryRun, pickFirstWorking } from './dry-run.ts'
import { prepareOnwardTransfer } from './onward.ts'
import { prepareTransactions } from './prepare.ts'
import type { BridgeServices } from './transfer.ts'

type Withdrawal = {
  readonly vault: Vault
  readonly account: Address
  readonly amount: WithdrawalAmount
  readonly destination: Destination | undefined
}

/**
 * Builds and simulates the transactions of a withdrawal. This takes one RPC round trip if a vault function accepts the
 * requested amount, else two. Sending the assets to another chain takes one more round trip and a quote of the bridge.
 * Throws an AppError if the withdrawal is refused, or `upstream_*`.
 */
export async function prepareWithdrawal(services: BridgeServices, { vault, account, amount, destination }: Withdrawal) {
  const reader = services.getReader(vault.chainId)
  const onward = destination && prepareOnwardTransfer(services, { vault, account, destination })
  const candidates = candidatesFor(vault, account, amount)
  const { choice, ...prepared } = await prepareTransactions(
    reader,
    account,
    {
      plan: getProtocol(vault).withdrawalTerms(vault, account, amount),
      candidates: candidates.length > 0 ? draftsOf(vault, candidates) : [],
      choose: async ({ value: complete, block }) =>
        choose(vault, account, requireUint256(await complete(reader, block.number))),
      upperEstimate: 'withdrawal',
    },
    onward?.read,
  )
  const { intents, approval, results, evidence } = prepared
  const outcome = outcomeOf(choice.terms, intents.at(-1)?.operation, results?.at(-1))
  if (!onward) return { ...prepared, ...outcome }
  const { terms } = choice
  const reported = terms.assets === null ? undefined : terms.assets + terms.claimedAssets
  const payment = { intents, results: results?.slice(approval.length), reported, field: 'amount' } as const
  const sum = amount !== 'max' && 'assets' in amount ? { amount: amount.assets } : {}
  const { paid, ...sent } = await onward.send({ ...payment, ...sum })
  const { assets, claimedAssets } = outcome.withdrawal
  const remainder = (paid ?? requireValue(assets) + claimedAssets) - sent.quote.inputAmount
  return { ...sent, ...outcome, withdrawal: requireUint256({ ...outcome.withdrawal, remainder }), evidence }
}

function choose(vault: Vault, account: Address, terms: WithdrawalTerms) {
  terms.steps.forEach(requireUint256)
  const intents = terms.steps.map(({ name, ...step }) => ({
    operation: findWithdrawalOperation(vault, name),
    request: { vault, account, ...step },
  }))
  const { proof } = terms
  return {
    terms,
    drafts: draftsOf(vault, intents, proof && [proof.call]),
    pick: pickFirstWorking,
    spending: sharesPulled(vault, intents)[0],
    refuse: ({ results, viewed }: DryRun, reverted: { readonly reason: string } | undefined) => {
      const refusal = results && !reverted ? undefined : terms.refusal?.(reverted?.reason)
      if (refusal) return refusal
      if (reverted) return buildVaultRefusal('withdrawal_refused', reverted.reason)
      return proof && !isProven(proof, viewed) ? proof.refusal : undefined
    },
  }
}

/** Returns one draft of the transactions. If the vault may need an approval of the account's shares, adds a draft with the approval. */
function draftsOf(vault: Vault, intents: readonly PlannedOperation[], views?: readonly AggregateCall[]): Draft[] {
  const operations = intents.map(encodeOperation)
  const approvals = sharesPulled(vault, intents).map((spending) => encodeApprovals(spending, 'exact'))
  const extra = views && { views: views.map(({ to, data }) => ({ to, data, value: 0n })) }
  return [[], ...approvals].map((approval) => ({ approval, operations, intents, ...extra }))
}

/** Returns the token spending that the account must approve if the vault pulls the account's shares; at most one entry. */
function sharesPulled({ address, shareToken }: Vault, intents: readonly PlannedOperation[]): TokenSpending[] {
  return intents
    .filter(({ operation }) => 'mayPullShares' in operation && operation.mayPullShares)
    .map(({ request }) => ({ token: shareToken, spender: address, amount: request.amount }))
    .slice(0, 1)
}

/**
 * Returns the withdrawal functions that accept an amount in the requested unit. Returns none for `max`, whose amount
 * must be read from the chain first.
 */
function candidatesFor(vault: Vault, account: Address, amount: WithdrawalAmount): PlannedOperation[] {
  if (amount === 'max') return []
  const [takes, value] =
    'assets' in amount ? (['assets', amount.assets] as const) : (['shares', amount.shares] as const)
  return OPERATIONS[vault.protocol].withdrawals
    .filter((operation) => operation.takes === takes)
    .map((operation) => ({ operation, request: { vault, account, amount: value } }))
}

function isProven(
  { rise }: NonNullable<WithdrawalTerms['proof']>,
  viewed: readonly SimulatedTransaction[] = [],
): boolean {
  const [before, after] = viewed.map((call) =>
    call.status === 'success' && size(call.returnData) === 32 ? hexToBigInt(call.returnData) : undefined,
  )
  return before !== undefined && after !== undefined && after - before === rise
}

function outcomeOf(terms: WithdrawalTerms, operation: Operation | undefined, last: SimulatedTransaction | undefined) {
  const { value, haircut, claimedAssets, prolongs = null } = terms
  const { returns, isAsync = false } = operation ?? {}
  const amounts = { shares: terms.shares, assets: terms.assets }
  // Zero shares and zero assets mean that the last call pays only earlier requests. Its return value is then not the
  // amount of this withdrawal.
  const isNothing = terms.shares === 0n && terms.assets === 0n
  const isSimulated = returns && !isNothing && last?.status === 'success' && size(last.returnData) === 32
  if (isSimulated) amounts[returns] = hexToBigInt(last.returnData)
  return {
    withdrawal: {
      ...amounts,
      shares: requireValue(amounts.shares),
      fee: feeIn(value, amounts.assets),
      haircut,
      isEstimate: !isSimulated && !isNothing,
      claimedAssets,
      prolongs,
    },
    isAsync,
  }
}

function feeIn(value: bigint | null, assets: bigint | null): bigint | null {
  if (value === null || assets === null) return null
  return value > assets ? value - assets : 0n
}
