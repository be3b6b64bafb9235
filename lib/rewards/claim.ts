import { type Address, isAddressEqual } from 'viem'
import { decodeLog } from '../chain/decode.ts'
import { erc20Abi } from '../chain/erc20.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { RpcRequest } from '../chain/rpc.ts'
import {
  boundedSimulationRequest,
  parseSimulation,
  type SimulatedTransaction,
  summariseSimulation,
} from '../chain/simulation.ts'
import { AppError } from '../core/errors.ts'
import { toDate } from '../core/time.ts'
import {
  buildDistributionsPlan,
  DISTRIBUTOR,
  deriveRewardState,
  distributorAbi,
  encodeClaim,
  type RewardClaim,
  type RewardState,
  verifyClaim,
} from './distributor.ts'
import type { ReportedReward } from './merkl.ts'
import type { LeftOutReason } from './responses.ts'

/**
 * Maximum number of tokens that one claim transaction pays. Each token is also simulated separately, with an equal part
 * of a block's gas.
 */
const MAX_TOKENS = 10
/** Estimated gas per claimed token, used if no node can simulate the claim. */
const UPPER_ESTIMATE = 150_000n

type LeftOut = { readonly token: Address; readonly reason: LeftOutReason; readonly claimableAt: Date | null }

type Candidate = { readonly reward: ReportedReward; readonly standing: RewardState }

/**
 * Prepares one transaction that claims an account's claimable rewards on a chain, or only those in `tokens`. Sends one
 * request to the chain if Merkl's report is current and the dry run succeeds, otherwise a few more. Throws
 * `upstream_*`. Throws `no_claimable_rewards` with a detail for each omitted reward if nothing can be claimed.
 */
export async function prepareRewardsClaim(
  reader: ChainReader,
  account: Address,
  {
    rewards,
    tokens,
  }: { readonly rewards: readonly ReportedReward[]; readonly tokens?: readonly Address[] | undefined },
) {
  const wanted = tokens ? rewards.filter(({ token }) => tokens.includes(token)) : rewards
  const notFound = (tokens ?? [])
    .filter((token) => !wanted.some((reward) => reward.token === token))
    .map((token): LeftOut => ({ token, reason: 'not_found', claimableAt: null }))
  if (wanted.length === 0) throw refusal(notFound)
  const likely = wanted.filter(({ amount, claimed }) => amount > claimed).slice(0, MAX_TOKENS)
  const plan = buildDistributionsPlan(
    account,
    wanted.map(({ token }) => token),
  )
  const extraCalls = likely.length > 0 ? [dryRunRequest(account, likely)] : []
  const { value: distributions, outcomes, block, evidence } = await reader.readOne(plan, { extraCalls, withHash: true })

  const leftOut = [...notFound]
  const candidates: Candidate[] = []
  for (const reward of wanted) {
    const standing = deriveRewardState(account, reward, distributions)
    const { amount, pending, recipient, claimableAt } = standing
    const at = claimableAt === undefined ? null : toDate(claimableAt)
    if (amount === 0n && pending > 0n)
      leftOut.push({ token: reward.token, reason: 'not_yet_claimable', claimableAt: at })
    if (amount === 0n) continue
    if (recipient === account) candidates.push({ reward, standing })
    else leftOut.push({ token: reward.token, reason: 'paid_to_another_account', claimableAt: null })
  }

  let paid: Candidate[] = []
  let tried: readonly SimulatedTransaction[] | undefined
  while (paid.length === 0 && candidates.length > 0) {
    const batch = candidates.splice(0, MAX_TOKENS)
    const claims = batch.map(({ reward }) => reward)
    const isKnown =
      tried === undefined && claims.length === likely.length && claims.every((one, i) => one === likely[i])
    const [outcome] = isKnown ? outcomes : await reader.request([dryRunRequest(account, claims)])
    tried = parseSimulation(outcome, claims.length + 1, distributorAbi) ?? []
    const [together, ...each] = tried
    // The dry run claims all rewards together, then each reward separately. After a successful joint claim nothing is
    // left to pay, so its result counts for every reward.
    const callOf = (index: number) => (together?.status === 'success' ? together : each[index])
    const failures = batch.map(({ reward, standing }, index) => findFailure(account, reward, standing, callOf(index)))
    for (const [index, reason] of failures.entries()) {
      const token = batch[index]?.reward.token
      if (token && reason) leftOut.push({ token, reason, claimableAt: null })
    }
    paid = batch.filter((_, index) => !failures[index])
    // Simulates the payable rewards again in one claim if the joint claim failed or contained other rewards.
    if (paid.length > 0 && (paid.length < batch.length || together?.status === 'reverted')) {
      const claim = encodeClaim(
        account,
        paid.map(({ reward }) => reward),
      )
      const [again] = await reader.request([boundedSimulationRequest(account, [[claim]])])
      tried = parseSimulation(again, 1, distributorAbi) ?? []
    }
  }
  leftOut.push(
    ...candidates.map(({ reward: { token } }) => ({ token, reason: 'claim_again' as const, claimableAt: null })),
  )
  if (paid.length === 0) throw refusal(leftOut)
  const claims = paid.map(({ reward }) => reward)
  const operation = encodeClaim(account, claims)
  verifyClaim(account, claims, operation)
  return {
    ...{ approval: [], operations: [operation], leftOut, block },
    rewards: paid.map(({ reward: { token }, standing: { amount } }) => ({ token, amount })),
    ...summariseSimulation(tried?.slice(0, 1), UPPER_ESTIMATE * BigInt(claims.length)),
    evidence: [await evidence()],
  }
}

function refusal(leftOut: readonly LeftOut[]): AppError {
  const details = leftOut.map(({ token, reason }) => ({ field: 'tokens', issue: `${token}: ${reason}` }))
  return new AppError('no_claimable_rewards', details.length > 0 ? { details } : {})
}

/** Returns the reason why the dry run did not pay a token. Returns undefined if the dry run paid the token, or if there was no dry run. */
function findFailure(
  account: Address,
  { token }: ReportedReward,
  { amount }: RewardState,
  call: SimulatedTransaction | undefined,
): LeftOutReason | undefined {
  if (call?.status === 'reverted') return 'reverts'
  const isTransferred = call?.logs?.some((log) => {
    const event = isAddressEqual(log.address, token) ? decodeLog(erc20Abi, log) : undefined
    if (event?.eventName !== 'Transfer') return false
    const { from, to, value } = event.args
    return isAddressEqual(from, DISTRIBUTOR) && isAddressEqual(to, account) && value === amount
  })
  return isTransferred === false ? 'does_not_transfer' : undefined
}

function dryRunRequest(account: Address, claims: readonly RewardClaim[]): RpcRequest {
  const each = [claims, ...claims.map((one) => [one])].map((some) => encodeClaim(account, some))
  return boundedSimulationRequest(account, [each])
}
