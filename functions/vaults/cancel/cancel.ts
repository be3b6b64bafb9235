import { readAccountEntries } from '../../../lib/activity/account-vaults.ts'
import { possible } from '../../../lib/chain/call.ts'
import { parseSimulation, simulationRequest, summarise, UPPER_ESTIMATE } from '../../../lib/chain/simulation.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { encodeOperation, verifyOperations } from '../../../lib/protocols/calldata.ts'
import { OPERATIONS, operationNamed } from '../../../lib/protocols/operations.ts'
import { getProtocol } from '../../../lib/protocols/protocols.ts'
import { refusedByVault } from '../../../lib/protocols/refusals.ts'
import { REVERT_ERRORS } from '../../../lib/protocols/revert-errors.ts'
import type { Services } from '../../../lib/services.ts'
import { readyToSend } from '../../../lib/vaults/ready.ts'
import { findVault } from '../../../lib/vaults/vault.ts'
import type { contract } from './contract.ts'

/**
 * Builds what takes a user's pending request back, in one round trip: the calls that may do it are known, so their dry
 * runs go out with the reading that decides. Throws the AppError that says why there is nothing, or `upstream_*`.
 */
export function buildCancellation(dependencies: Services<'getReader' | 'records' | 'now'>) {
  return async ({ client, body }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const vault = findVault(client.vaults, body.vaultAddress, body.chainId)
    const reader = dependencies.getReader(vault.chainId)
    const { userAddress: account, kind } = body
    const { cancelTerms } = getProtocol(vault)
    if (!cancelTerms) throw new AppError('cancel_not_applicable')

    const candidates = OPERATIONS[vault.protocol].cancels[kind]
    const request = { vault, account, amount: 0n }
    const transactions = candidates.map((operation) => encodeOperation({ operation, request }))
    const { value, outcomes, block, evidence } = await reader.readOne(cancelTerms(vault, account, kind), {
      extraCalls: transactions.map((transaction) => simulationRequest(account, [transaction])),
      withHash: true,
    })

    const to = block.number
    const terms = await value(reader, to, () => readAccountEntries(dependencies, { vault, account, to }))

    const operation = operationNamed(candidates, terms.name)
    const intents = [{ operation, request: { ...request, requestId: terms.requestId ?? 0n } }]
    const operations = intents.map(encodeOperation)
    verifyOperations(intents, operations)
    // Which request it is of, where they have ids of their own, is known only now.
    const outcome = terms.requestId
      ? (await reader.simulate(account, [operations]))[0]
      : outcomes[candidates.indexOf(operation)]
    const calls = parseSimulation(outcome, 1, REVERT_ERRORS)
    const call = calls?.[0]
    if (terms.refusal && call?.status !== 'success') throw terms.refusal
    if (call?.status === 'reverted') throw refusedByVault('request_can_no_longer_be_cancelled', call.reason)
    return {
      ...readyToSend(vault, account, vault.chainId, { approval: [], operations }),
      ...summarise(calls ?? undefined, UPPER_ESTIMATE.cancel),
      cancelled: possible(terms.cancelled),
      protocol: vault.protocol,
      chainId: vault.chainId,
      isCrossChain: false,
      isAsync: terms.isAsync,
      evidence: [await evidence()],
    }
  }
}
