import { type Address, numberToHex } from 'viem'
import type * as z from 'zod'
import { buildCall, decodeReturnValues, requireValue } from '../chain/call.ts'
import { erc20Abi } from '../chain/erc20.ts'
import type { Evidence } from '../chain/evidence.ts'
import { HexText } from '../chain/hex.ts'
import { parseResult } from '../chain/logs.ts'
import { decodeAggregate, encodeAggregate, MULTICALL3 } from '../chain/multicall.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { RpcOutcome } from '../chain/rpc.ts'
import { max } from '../core/bigint.ts'
import { toDate } from '../core/time.ts'
import type { ComputeTokenValue } from '../markets/token-values.ts'
import { buildDistributionsPlan, deriveRewardState } from './distributor.ts'
import type { ReportedReward } from './merkl.ts'
import type { RewardResponse } from './responses.ts'

type Reward = z.output<typeof RewardResponse>

/**
 * Gas of all calls for the tokens' symbols and decimals. Each call gets an equal part, but at least MIN_GAS. A hostile
 * token can use up only the gas of its own call.
 */
const TOTAL_GAS = 28_000_000n
/**
 * Tokens need a tenth of this gas. Arbitrum also charges an eth_call for posting its calldata to Ethereum: a million or
 * more while Ethereum is expensive (`GasChargingHook` in https://github.com/OffchainLabs/nitro).
 */
const MIN_GAS = 2_000_000n

/** Rewards that Merkl reports for an account. `isSpam` returns true if a token with this symbol looks like spam. */
type OfAccount = {
  readonly account: Address
  readonly rewards: readonly ReportedReward[]
  readonly isSpam: (token: string, symbol: string) => boolean
}

/**
 * Reads the state of these accounts' rewards from the chain in one round trip. Returns the rewards of each account.
 * Omits rewards with nothing left to pay, and tokens whose symbol on the chain looks like spam. Throws `upstream_*`.
 */
export async function readRewards(
  reader: ChainReader,
  accounts: readonly OfAccount[],
  usdOf: ComputeTokenValue,
): Promise<{ readonly rewards: Reward[][]; readonly evidence: Evidence[] }> {
  const tokens = [...new Set(accounts.flatMap(({ rewards }) => rewards.map(({ token }) => token)))]
  if (tokens.length === 0) return { rewards: accounts.map(() => []), evidence: [] }
  const plans = accounts.map(({ account, rewards }) =>
    buildDistributionsPlan(
      account,
      rewards.map(({ token }) => token),
    ),
  )
  const gas = max(TOTAL_GAS / BigInt(tokens.length), MIN_GAS)
  const extraCalls = tokens.map((token) => metadataRequest(token, gas))
  const { values, outcomes, evidence } = await reader.read(plans, { extraCalls, withHash: true })
  const metadata = new Map(tokens.map((token, index) => [token, parseMetadata(token, outcomes[index])]))
  const chainId = reader.chain.id
  return {
    evidence: [await evidence()],
    rewards: accounts.map(({ account, rewards, isSpam }, index) => {
      const distributions = requireValue(values[index])
      return rewards.flatMap((reported): Reward[] => {
        const { token } = reported
        const { claimableAt, ...standing } = deriveRewardState(account, reported, distributions)
        const { symbol = null, decimals = null } = metadata.get(token) ?? {}
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

function metadataCalls(token: Address) {
  return [buildCall(token, erc20Abi, 'symbol', []), buildCall(token, erc20Abi, 'decimals', [])] as const
}

/** Builds the call that reads a token's symbol and decimals. Each token has a call of its own, so that a hostile one fails alone. */
function metadataRequest(token: Address, gas: bigint) {
  const call = { to: MULTICALL3, data: encodeAggregate(metadataCalls(token)), gas: numberToHex(gas) }
  return { method: 'eth_call', params: [call, 'latest'] }
}

function parseMetadata(token: Address, outcome: RpcOutcome | undefined) {
  const returned = outcome && 'result' in outcome ? decodeAggregate(parseResult(HexText, outcome)) : []
  const [symbol, decimals] = metadataCalls(token)
  return {
    symbol: decodeReturnValues([symbol], returned)[0],
    decimals: decodeReturnValues([decimals], returned.slice(1))[0],
  }
}
