import type { Address } from 'viem'
import type * as z from 'zod'
import { buildCall } from '../chain/call.ts'
import { erc20Abi } from '../chain/erc20.ts'
import type { Evidence } from '../chain/evidence.ts'
import { buildReadPlan, type ChainReader, mapReadPlan, type ReadPlan } from '../chain/reader.ts'
import { toDate } from '../core/time.ts'
import type { ComputeTokenValue } from '../markets/token-values.ts'
import { buildDistributionsPlan, type Distributions, deriveRewardState } from './distributor.ts'
import type { ReportedReward } from './merkl.ts'
import type { RewardResponse } from './responses.ts'

type Reward = z.output<typeof RewardResponse>

type Metadata = { readonly symbol: string | undefined; readonly decimals: number | undefined }

/** Rewards that Merkl reports for an account. `isSpam` returns true if a token with this symbol looks like spam. */
type OfAccount = {
  readonly account: Address
  readonly rewards: readonly ReportedReward[]
  readonly isSpam: (token: string, symbol: string) => boolean
}

/**
 * Reads the state of these accounts' rewards from the chain in one request. If one token uses up all gas, each token is
 * read with a separate call. Returns the rewards of each account; undefined for an account that cannot be read. Omits
 * rewards with nothing left to pay, and tokens whose symbol on the chain looks like spam. Throws `upstream_*`.
 */
export async function readRewards(
  reader: ChainReader,
  accounts: readonly OfAccount[],
  usdOf: ComputeTokenValue,
): Promise<{ readonly rewards: (Reward[] | undefined)[]; readonly evidence: Evidence[] }> {
  const tokens = [...new Set(accounts.flatMap(({ rewards }) => rewards.map(({ token }) => token)))]
  if (tokens.length === 0) return { rewards: accounts.map(() => []), evidence: [] }
  const plans: ReadPlan<{ readonly distributions: Distributions } | Metadata>[] = [
    ...accounts.map(({ account, rewards }) =>
      mapReadPlan(
        buildDistributionsPlan(
          account,
          rewards.map(({ token }) => token),
        ),
        (distributions) => ({ distributions }),
      ),
    ),
    ...tokens.map(metadataPlan),
  ]
  const { values, evidence } = await reader.readEach(plans, { withHash: true })
  const metadata = new Map(tokens.map((token, index) => [token, values[accounts.length + index]]))
  const chainId = reader.chain.id
  return {
    evidence: [await evidence()],
    rewards: accounts.map(({ account, rewards, isSpam }, index) => {
      const read = values[index]
      if (!read || !('distributions' in read)) return undefined
      return rewards.flatMap((reported): Reward[] => {
        const { token } = reported
        const { claimableAt, ...standing } = deriveRewardState(account, reported, read.distributions)
        const own = metadata.get(token)
        const { symbol = null, decimals = null } = own && 'symbol' in own ? own : {}
        if ((standing.amount === 0n && standing.pending === 0n) || isSpam(token, symbol ?? '')) return []
        const usd = decimals === null ? null : usdOf({ chainId, address: token, decimals }, standing.amount)
        return [
          {
            chainId,
            token,
            symbol,
            decimals,
            usd,
            ...standing,
            claimableAt: claimableAt === undefined ? null : toDate(claimableAt),
          },
        ]
      })
    }),
  }
}

function metadataPlan(token: Address): ReadPlan<Metadata> {
  const calls = {
    symbol: buildCall(token, erc20Abi, 'symbol', []),
    decimals: buildCall(token, erc20Abi, 'decimals', []),
  }
  return buildReadPlan({ address: token, slots: {}, calls }, ({ answers }) => answers)
}
