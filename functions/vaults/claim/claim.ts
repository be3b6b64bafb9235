import { decodeFunctionResult, size } from 'viem'
import { parseSimulation, type SimulatedCall, summarise, UPPER_ESTIMATE } from '../../../lib/chain/simulation.ts'
import { AppError } from '../../../lib/errors.ts'
import type { Reply, Request } from '../../../lib/frame/contract.ts'
import { lagoonAbi } from '../../../lib/protocols/abi.ts'
import { protocolOf } from '../../../lib/protocols/protocols.ts'
import type { Services } from '../../../lib/services.ts'
import { encodeClaim, verifyClaim } from '../../../lib/vaults/calldata.ts'
import { DEPOSIT_ERRORS } from '../../../lib/vaults/deposit.ts'
import { findVault } from '../../../lib/vaults/vault.ts'
import type { contract } from './contract.ts'

/**
 * Builds the claim of everything that the user can claim, in two round trips. Throws the AppError that says why there is
 * none, or `upstream_*`.
 */
export const buildClaim =
  ({ readerOf }: Services<'readerOf'>) =>
  async ({ client, body }: Request<typeof contract>): Promise<Reply<typeof contract>> => {
    const vault = findVault(client.vaults, body.vaultAddress, body.chainId)
    const reader = readerOf(vault.chainId)
    const user = body.userAddress
    const { requests } = protocolOf(vault)
    if (!requests) throw new AppError('claim_not_applicable')
    const { value, block } = await reader.readOne(requests(vault, user))
    const { claimableAssets, isAllowed, isPaused, readClaimableShares } = value
    if (claimableAssets === 0n) throw new AppError('no_claimable_deposit')
    if (isPaused()) throw new AppError('vault_is_paused')

    const request = { vault, user, amount: claimableAssets }
    const operations = [encodeClaim(request)]
    verifyClaim(request, operations)

    const calls = parseSimulation((await reader.simulate(user, [operations]))[0], operations.length, DEPOSIT_ERRORS)
    // Versions before 0.5.1 let those claim whom their list does not admit any more; the dry run tells.
    if (isAllowed === false && calls?.[0]?.status !== 'success') throw new AppError('depositor_not_allowed')
    const shares = mintedShares(calls?.[0]) ?? (await readClaimableShares(reader, block.number))
    return {
      approval: [],
      operations,
      ...summarise(calls ?? undefined, UPPER_ESTIMATE.claim),
      claimable: { assets: claimableAssets, shares },
      protocol: vault.kind,
      chainId: vault.chainId,
      isCrossChain: false,
      isAsync: true,
    }
  }

function mintedShares(claim: SimulatedCall | undefined): bigint | undefined {
  // A node may leave out what the claim returns.
  if (claim?.status !== 'success' || size(claim.returnData) !== 32) return undefined
  return decodeFunctionResult({ abi: lagoonAbi, functionName: 'deposit', data: claim.returnData })
}
