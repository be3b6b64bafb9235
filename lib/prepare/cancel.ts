import type { Address } from 'viem'
import { requireUint256 } from '../chain/call.ts'
import type { ChainReader } from '../chain/reader.ts'
import { AppError } from '../core/errors.ts'
import { encodeOperation, type PlannedOperation } from '../protocols/calldata.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import { findOperation, OPERATIONS } from '../protocols/operations.ts'
import { getProtocol } from '../protocols/protocols.ts'
import { buildVaultRefusal } from '../protocols/refusals.ts'
import type { RequestKind } from '../protocols/request-kind.ts'
import { isAsync } from '../protocols/vault-on-chain.ts'
import type { Vault } from '../vaults/vault.ts'
import { type DryRun, pickFirstWorking } from './dry-run.ts'
import { prepareTransactions } from './prepare.ts'

type Cancellation = {
  readonly vault: Vault
  readonly account: Address
  readonly kind: RequestKind
  readonly listEntries: (to: bigint) => Promise<readonly LedgerEntry[]>
}

/**
 * Builds and simulates the transaction that cancels a pending request. This takes one RPC round trip, or more if the
 * vault gives each request its own id. Throws an AppError if the cancellation is refused, or `upstream_*`.
 */
export async function prepareCancellation(reader: ChainReader, { vault, account, kind, listEntries }: Cancellation) {
  const { cancelTerms } = getProtocol(vault)
  if (!cancelTerms || !isAsync(vault, kind)) throw new AppError('cancel_not_applicable')
  const operations = OPERATIONS[vault.protocol].cancels[kind]
  const request = { vault, account, amount: 0n }
  const draftOf = (intent: PlannedOperation) => ({
    approval: [],
    operations: [encodeOperation(intent)],
    intents: [intent],
  })
  const { choice, ...prepared } = await prepareTransactions(reader, account, {
    plan: cancelTerms(vault, account, kind),
    candidates: operations.map((operation) => draftOf({ operation, request })),
    choose: async ({ value: finish, block }) => {
      const terms = await finish(reader, block.number, () => listEntries(block.number))
      // The call needs the id of the request, which only the terms read above contain.
      const operation = findOperation(operations, terms.name)
      return {
        terms,
        drafts: [draftOf({ operation, request: { ...request, requestId: terms.requestId ?? 0n } })],
        pick: pickFirstWorking,
        spending: undefined,
        refuse: ({ results }: DryRun, reverted: { readonly reason: string } | undefined) => {
          if (terms.refusal && results?.[0]?.status !== 'success') return terms.refusal
          return reverted && buildVaultRefusal('request_can_no_longer_be_cancelled', reverted.reason)
        },
      }
    },
    upperEstimate: 'cancel',
  })
  const { terms } = choice
  return { ...prepared, cancelled: requireUint256(terms.cancelled), isAsync: terms.isAsync }
}
