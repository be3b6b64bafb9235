import { type Address, hexToBigInt, size } from 'viem'
import type { Destination } from '../bridge/destination.ts'
import { requireUint256 } from '../chain/call.ts'
import { AppError } from '../core/errors.ts'
import { toResult, unwrap } from '../core/result.ts'
import { encodeOperation, type PlannedOperation, type WithdrawalOperation } from '../protocols/calldata.ts'
import { findOperation, OPERATIONS } from '../protocols/operations.ts'
import type { ClaimableAmounts } from '../protocols/protocol.ts'
import { getProtocol } from '../protocols/protocols.ts'
import type { RequestKind } from '../protocols/request-kind.ts'
import { isAsync } from '../protocols/vault-on-chain.ts'
import type { Vault } from '../vaults/vault.ts'
import type { DryRun } from './dry-run.ts'
import { prepareOnwardTransfer } from './onward.ts'
import { prepareTransactions } from './prepare.ts'
import type { BridgeServices } from './transfer.ts'

const PAID_IN = { deposit: 'shares', withdrawal: 'assets' } as const

type Claim = {
  readonly vault: Vault
  readonly account: Address
  readonly kind: RequestKind
  readonly destination: Destination | undefined
}

/**
 * Builds and simulates the transaction that claims all settled requests of one kind, in two RPC round trips. Sending
 * the assets to another chain takes one more round trip and a quote of the bridge. Throws an AppError if the claim is
 * refused, or `upstream_*`.
 */
export async function prepareClaim(services: BridgeServices, { vault, account, kind, destination }: Claim) {
  const reader = services.getReader(vault.chainId)
  const { claimTerms } = getProtocol(vault)
  if (!claimTerms || !isAsync(vault, kind)) throw new AppError('claim_not_applicable')
  const onward = destination && prepareOnwardTransfer(services, { vault, account, destination })
  const paidIn = PAID_IN[kind]
  const { choice, ...prepared } = await prepareTransactions(
    reader,
    account,
    {
      plan: claimTerms(vault, account, kind),
      candidates: [],
      choose: async ({ value: terms, block }) => {
        const intents = terms.calls.map(({ name, amount }) => ({
          operation: findOperation(OPERATIONS[vault.protocol].claims, name),
          request: { vault, account, amount },
        }))
        return {
          terms,
          // This read runs beside the simulation. The result is checked later, so that a rejection is not unhandled.
          reported: onward && toResult(terms.claimable(reader, block.number)),
          drafts: intents.map((intent) => ({ approval: [], operations: [encodeOperation(intent)], intents: [intent] })),
          pick: (dryRuns: readonly DryRun[]) => mostOf(dryRuns, paidIn),
          spending: undefined,
          refuse: ({ results }: DryRun) => (results?.[0]?.status === 'success' ? undefined : terms.refusal),
        }
      },
      upperEstimate: 'claim',
    },
    onward?.read,
  )
  const reported = choice.reported && unwrap(await choice.reported)
  const readClaimable = () => choice.terms.claimable(reader, prepared.block.number)
  const claimable = requireUint256(claimedBy(prepared) ?? reported ?? (await readClaimable()))
  if (claimable[paidIn] === 0n) {
    throw new AppError(kind === 'deposit' ? 'no_claimable_deposit' : 'no_claimable_withdrawal')
  }
  if (!onward) return { ...prepared, claimable }
  const { intents, results, evidence } = prepared
  const payment = { intents, results, reported: reported?.assets, field: 'dstChainId' } as const
  const { paid = claimable.assets, ...sent } = await onward.send(payment)
  return { ...sent, claimable: requireUint256({ ...claimable, remainder: paid - sent.quote.inputAmount }), evidence }
}

function mostOf(dryRuns: readonly DryRun[], paidIn: keyof ClaimableAmounts): DryRun {
  const paid = (dryRun: DryRun) =>
    dryRun.results?.[0]?.status === 'success' ? (claimedBy(dryRun)?.[paidIn] ?? 0n) : -1n
  return dryRuns.reduce((best, dryRun) => (paid(dryRun) > paid(best) ? dryRun : best))
}

/** Returns the assets and shares of a claim. One of them is the requested amount, the other is the return value of the simulated call. */
function claimedBy({ intents: [intent], results }: Pick<DryRun, 'intents' | 'results'>): ClaimableAmounts | undefined {
  const call = results?.[0]
  if (!intent || call?.status !== 'success' || size(call.returnData) !== 32) return undefined
  // The cast holds: only drafts with claim operations are simulated here.
  const { operation, request } = intent as ClaimIntent
  if (!operation.returns) return undefined
  const returned = hexToBigInt(call.returnData)
  return operation.takes === 'assets'
    ? { assets: request.amount, shares: returned }
    : { assets: returned, shares: request.amount }
}

type ClaimIntent = PlannedOperation & { readonly operation: WithdrawalOperation }
