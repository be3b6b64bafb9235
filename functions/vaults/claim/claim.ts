import { hexToBigInt, size } from 'viem'
import { parseSimulation, type SimulatedCall, summarise, UPPER_ESTIMATE } from '../../../lib/chain/simulation.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { encodeOperation, verifyOperations } from '../../../lib/protocols/calldata.ts'
import { OPERATIONS } from '../../../lib/protocols/operations.ts'
import { getProtocol } from '../../../lib/protocols/protocols.ts'
import { REVERT_ERRORS } from '../../../lib/protocols/revert-errors.ts'
import type { Services } from '../../../lib/services.ts'
import { findVault } from '../../../lib/vaults/vault.ts'
import type { contract } from './contract.ts'

/**
 * Builds the claim of everything that the user can claim, in two round trips. Throws the AppError that says why there is
 * none, or `upstream_*`.
 */
export function buildClaim({ getReader }: Services<'getReader'>) {
  return async ({ client, body }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const vault = findVault(client.vaults, body.vaultAddress, body.chainId)
    const reader = getReader(vault.chainId)
    const { claimTerms } = getProtocol(vault)
    const { claim } = OPERATIONS[vault.protocol]
    if (!claimTerms || !claim) throw new AppError('claim_not_applicable')
    const { value, block } = await reader.readOne(claimTerms(vault, body.userAddress))
    const { claimableAssets, isAllowed, isPaused, claimableShares } = value
    if (claimableAssets === 0n) throw new AppError('no_claimable_deposit')
    if (isPaused()) throw new AppError('vault_is_paused')

    const intents = [{ operation: claim, request: { vault, account: body.userAddress, amount: claimableAssets } }]
    const operations = intents.map(encodeOperation)
    verifyOperations(intents, operations)

    const [outcome] = await reader.simulate(body.userAddress, [operations])
    const calls = parseSimulation(outcome, operations.length, REVERT_ERRORS)
    // Versions before 0.5.1 let those claim whom their list does not admit any more; the dry run tells.
    if (isAllowed === false && calls?.[0]?.status !== 'success') throw new AppError('depositor_not_allowed')
    const shares = mintedShares(calls?.[0]) ?? (await claimableShares(reader, block.number))
    return {
      approval: [],
      operations,
      ...summarise(calls ?? undefined, UPPER_ESTIMATE.claim),
      claimable: { assets: claimableAssets, shares },
      protocol: vault.protocol,
      chainId: vault.chainId,
      isCrossChain: false,
      isAsync: true,
    }
  }
}

function mintedShares(claim: SimulatedCall | undefined): bigint | undefined {
  // A node may leave out what the claim returns.
  if (claim?.status !== 'success' || size(claim.returnData) !== 32) return undefined
  return hexToBigInt(claim.returnData)
}
