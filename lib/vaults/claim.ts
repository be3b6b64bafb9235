import { type Address, decodeFunctionResult, size } from 'viem'
import type { ChainReader } from '../chain/reader.ts'
import { parseSimulation, type SimulatedCall, summarise, UPPER_ESTIMATE } from '../chain/simulation.ts'
import type { SimulationResult } from '../chain/simulation-result.ts'
import type { Transaction } from '../chain/transaction.ts'
import { AppError } from '../errors.ts'
import { lagoonAbi } from '../protocols/abi.ts'
import { protocolOf } from '../protocols/protocols.ts'
import { encodeClaim, verifyClaim } from './calldata.ts'
import { DEPOSIT_ERRORS } from './deposit.ts'
import type { Vault } from './vault.ts'

/** The transaction that claims all shares of a user's settled deposit. */
export type PreparedClaim = {
  operations: Transaction[]
  /** Gas units. */
  estimatedGas: bigint
  simulation: SimulationResult
  /** What is claimed, in the smallest units of asset and share. */
  claimable: { assets: bigint; shares: bigint }
}

/** The claim of everything that the user can claim, in two round trips. Throws the AppError that says why there is none, or `upstream_*`. */
export async function prepareClaim(reader: ChainReader, vault: Vault, user: Address): Promise<PreparedClaim> {
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
    operations,
    ...summarise(calls ?? undefined, UPPER_ESTIMATE.claim),
    claimable: { assets: claimableAssets, shares },
  }
}

function mintedShares(claim: SimulatedCall | undefined): bigint | undefined {
  // A node may leave out what the claim returns.
  if (claim?.status !== 'success' || size(claim.returnData) !== 32) return undefined
  return decodeFunctionResult({ abi: lagoonAbi, functionName: 'deposit', data: claim.returnData })
}
