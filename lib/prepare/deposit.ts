import { approvalsNeeded, encodeApprovals } from '../chain/erc20.ts'
import type { ChainReader } from '../chain/reader.ts'
import { type DepositOperation, encodeOperation, type OperationRequest } from '../protocols/calldata.ts'
import { depositNamed, OPERATIONS } from '../protocols/operations.ts'
import { getProtocol } from '../protocols/protocols.ts'
import { type Pin, whilePinned } from '../vaults/pin.ts'
import type { Vault } from '../vaults/vault.ts'
import { firstApproved } from './dry-run.ts'
import { prepare } from './prepare.ts'

/** A deposit into a vault of the client's, and what of the vault is pinned. */
type VaultDeposit = OperationRequest & { readonly vault: Vault; readonly pin: Pin | undefined }

/**
 * The transactions that deposit into the vault now, in one round trip. Throws the AppError that says why there are none,
 * `vault_has_changed` before any other, or `upstream_*`.
 */
export async function prepareDeposit(reader: ChainReader, request: VaultDeposit) {
  const { vault, account, amount } = request
  const spending = { token: vault.asset, spender: vault.address, amount }
  const draftOf = (needed: Parameters<typeof encodeApprovals>[1], operations: readonly DepositOperation[]) => {
    const intents = operations.map((operation) => ({ operation, request: { vault, account, amount } }))
    return { approval: encodeApprovals(spending, needed), operations: intents.map(encodeOperation), intents }
  }
  const terms = getProtocol(vault).depositTerms(vault, account)
  return whilePinned(reader, request, terms, async (plan) => {
    const { choice, ...prepared } = await prepare(reader, account, {
      plan,
      candidates: (['none', 'exact', 'reset'] as const).map((needed) =>
        draftOf(needed, OPERATIONS[vault.protocol].deposits),
      ),
      choose: async ({ terms: { allowance, choose } }) => {
        const operation = depositNamed(vault, choose(amount))
        const drafts = approvalsNeeded(amount, allowance).map((needed) => draftOf(needed, [operation]))
        return { drafts, pick: firstApproved, spending, isAsync: operation.isAsync }
      },
      upperEstimate: 'deposit',
    })
    return { ...prepared, isAsync: choice.isAsync }
  })
}
