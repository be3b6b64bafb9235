import { hexToBigInt, size } from 'viem'
import { findDestination } from '../../../lib/bridge/destination.ts'
import { readWithBridge } from '../../../lib/bridge/withdrawal.ts'
import { possible } from '../../../lib/chain/call.ts'
import { parseSimulation, type SimulatedCall, summarise, UPPER_ESTIMATE } from '../../../lib/chain/simulation.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { type ClaimOperation, encodeOperation, type Intent, verifyOperations } from '../../../lib/protocols/calldata.ts'
import { OPERATIONS, operationNamed } from '../../../lib/protocols/operations.ts'
import type { Claimable } from '../../../lib/protocols/protocol.ts'
import { getProtocol } from '../../../lib/protocols/protocols.ts'
import { REVERT_ERRORS } from '../../../lib/protocols/revert-errors.ts'
import type { Services } from '../../../lib/services.ts'
import { readyToSend } from '../../../lib/vaults/ready.ts'
import { findVault } from '../../../lib/vaults/vault.ts'
import type { contract } from './contract.ts'

/** What a user gets of a claim of this kind. */
const GIVEN = { deposit: 'shares', withdrawal: 'assets' } as const

/**
 * Builds the claim of everything that the user can claim of this kind, in two round trips; with one more, and the bridge's
 * quote, where what it pays goes on to another chain. Throws the AppError that says why there is none, or `upstream_*`.
 */
export function buildClaim({ getReader, bridge }: Services<'getReader' | 'bridge'>) {
  return async ({ client, body }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const vault = findVault(client.vaults, body.vaultAddress, body.chainId)
    const reader = getReader(vault.chainId)
    const { userAddress: account, kind } = body
    const { claimTerms } = getProtocol(vault)
    if (!claimTerms) throw new AppError('claim_not_applicable')
    const plan = claimTerms(vault, account, kind)
    const destination = findDestination(body, vault)
    const {
      value: terms,
      block,
      evidence,
      send,
    } = destination
      ? await readWithBridge({ getReader, ...bridge(client) }, { vault, account, destination }, plan)
      : { ...(await reader.readOne(plan, { withHash: true })), send: undefined }

    const intents = terms.calls.map(({ name, amount }) => ({
      operation: operationNamed(OPERATIONS[vault.protocol].claims, name),
      request: { vault, account, amount },
    }))
    const outcomes = await reader.simulate(
      account,
      intents.map((intent) => [encodeOperation(intent)]),
    )
    const attempts = intents.map((intent, index) => {
      const call = parseSimulation(outcomes[index], 1, REVERT_ERRORS)?.[0]
      return { intent, call, claimed: claimedBy(intent, call) }
    })
    const { intent, call, claimed } = chooseBest(attempts, GIVEN[kind])
    if (terms.refusal && call?.status !== 'success') throw terms.refusal
    const claimable = possible(claimed ?? (await terms.claimable(reader, block.number)))
    if (claimable[GIVEN[kind]] === 0n) {
      throw new AppError(kind === 'deposit' ? 'no_claimable_deposit' : 'no_claimable_withdrawal')
    }
    const calls = call && [call]
    const from = {
      protocol: vault.protocol,
      chainId: vault.chainId,
      isAsync: true,
      evidence: [await evidence()].flat(),
    } as const
    if (send) {
      const { paid = claimable.assets, ...sent } = await send({ intents: [intent], calls, field: 'dstChainId' })
      const remainder = paid - sent.quote.inputAmount
      const ready = readyToSend(vault, account, vault.chainId, sent)
      return { ...ready, claimable: possible({ ...claimable, remainder }), ...from, isCrossChain: true }
    }
    const operations = [encodeOperation(intent)]
    verifyOperations([intent], operations)
    return {
      ...readyToSend(vault, account, vault.chainId, { approval: [], operations }),
      ...summarise(calls, UPPER_ESTIMATE.claim),
      claimable,
      ...from,
      isCrossChain: false,
    }
  }
}

/** One way of claiming, what its dry run did, and what it claimed where that is told. */
type Attempt = {
  readonly intent: ClaimIntent
  readonly call: SimulatedCall | undefined
  readonly claimed: Claimable | undefined
}
type ClaimIntent = Intent & { readonly operation: ClaimOperation }

/** What the call takes, and what its dry run returned; undefined where a node leaves that out. */
function claimedBy({ operation, request }: ClaimIntent, call: SimulatedCall | undefined): Claimable | undefined {
  if (call?.status !== 'success' || size(call.returnData) !== 32) return undefined
  const returned = hexToBigInt(call.returnData)
  return operation.takes === 'assets'
    ? { assets: request.amount, shares: returned }
    : { assets: returned, shares: request.amount }
}

/** The attempt that gives most; the first of those that give the same. */
function chooseBest(attempts: readonly Attempt[], given: keyof Claimable): Attempt {
  const gift = ({ call, claimed }: Attempt) => (call?.status === 'success' ? (claimed?.[given] ?? 0n) : -1n)
  return attempts.reduce((best, attempt) => (gift(attempt) > gift(best) ? attempt : best))
}
