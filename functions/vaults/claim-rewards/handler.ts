import { badResponse } from '../../../lib/core/errors.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { REQUEST_UNITS } from '../../../lib/meter/meter.ts'
import { agreeOnReply, toReply } from '../../../lib/prepare/reply.ts'
import { prepareRewardsClaim } from '../../../lib/rewards/claim.ts'
import { fetchReportedRewards } from '../../../lib/rewards/reported.ts'
import { agree, cache, merkl } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(
  contract,
  { agree, cache, merkl },
  ({ agree, cache, merkl }) =>
    async ({ body, payFor }) => {
      const { userAddress: account, tokens, chainId } = body
      // Withdrawals and claims have a separate budget for quotes, from which this request is paid. So requests of other
      // kinds cannot block a claim.
      const payment = payFor(REQUEST_UNITS.merkl, 'quotes')
      const reported = await fetchReportedRewards({ cache, merkl }, { account, chainIds: [chainId], payment })
      const { rewards = [], isWhole = true } = reported[0] ?? {}
      if (rewards.length === 0 && !isWhole) throw badResponse('rewards that cannot be read')
      return agree(
        [chainId],
        async (getReader) => {
          const {
            rewards: claimed,
            leftOut,
            ...prepared
          } = await prepareRewardsClaim(getReader(chainId), account, {
            rewards,
            tokens,
          })
          return { ...toReply({ protocol: 'merkl', chainId }, account, prepared), rewards: claimed, leftOut }
        },
        agreeOnReply,
      )
    },
)
