import { EVM_CHAINS } from '../../../lib/chain/registry.ts'
import { logger } from '../../../lib/core/logger.ts'
import { toResult } from '../../../lib/core/result.ts'
import { endpoint } from '../../../lib/frame/endpoint.ts'
import { REQUEST_UNITS } from '../../../lib/meter/meter.ts'
import { readRewards } from '../../../lib/rewards/read-rewards.ts'
import { fetchReportedRewards } from '../../../lib/rewards/reported.ts'
import { MIN_REWARD_USD } from '../../../lib/rewards/responses.ts'
import { cache, getReader, getTokenValues, merkl, now, watchedAccounts } from '../../../lib/services.ts'
import { contract } from './contract.ts'

export const handler = endpoint(
  contract,
  { cache, merkl, getReader, getTokenValues, watchedAccounts, now },
  ({ cache, merkl, getReader, getTokenValues, watchedAccounts, now }) =>
    async (request) => {
      const {
        path: { userAddress: account },
        query,
        payFor,
        client,
        limits,
      } = request
      // A campaign on one chain can pay its rewards on another chain, so all permitted chains are read.
      const chainIds = EVM_CHAINS.map(({ id }) => id).filter(
        (id) => (query.chainId ?? id) === id && (limits.chains?.includes(id) ?? true),
      )
      const [reported, usdOf] = await Promise.all([
        fetchReportedRewards({ cache, merkl }, { account, chainIds, payment: payFor(REQUEST_UNITS.merkl) }),
        getTokenValues(chainIds),
      ])
      const ofChains = await Promise.all(
        reported.map(async ({ chainId, isWhole, isStale, ...ofChain }) => {
          const read = async () => {
            const { rewards, evidence } = await readRewards(getReader(chainId), [{ account, ...ofChain }], usdOf)
            return { chainId, rewards: rewards.flat(), evidence }
          }
          return { chainId, isWhole, isStale, result: await toResult(read()) }
        }),
      )
      const read = ofChains.flatMap(({ result }) => ('value' in result ? [result.value] : []))
      const errors: Record<string, string> = {}
      for (const { chainId, isWhole, isStale, result } of ofChains) {
        if ('error' in result) {
          logger.warn('rewards not read', { chainId, code: result.error.code, reason: String(result.error.cause) })
          errors[chainId] = result.error.message
        } else if (isStale) errors[chainId] = 'Merkl cannot be reached: new rewards may be missing.'
        else if (!isWhole) errors[chainId] = 'Merkl reported rewards that could not be read.'
      }
      const [failed] = ofChains.flatMap(({ result }) => ('error' in result ? [result.error] : []))
      if (failed && read.length === 0) throw failed
      // The job refresh-rewards publishes the rewards of watched accounts. Clients can request the rewards of any account.
      // So only accounts with rewards large enough for an event are watched, which limits the work of the job refresh-rewards.
      const paying = read.filter(({ rewards }) =>
        rewards.some(({ chainId, token: address, decimals, amount, pending }) => {
          const usd = decimals === null ? null : usdOf({ chainId, address, decimals }, amount + pending)
          return usd !== null && usd >= MIN_REWARD_USD
        }),
      )
      // A failure is only logged, so the response still lists the rewards.
      await watchedAccounts
        .watch(
          paying.map(({ chainId }) => ({ chainId, account, clientId: client.clientId })),
          now(),
        )
        .catch((error: unknown) => logger.warn('account not watched', { reason: String(error) }))
      return {
        userAddress: account,
        rewards: read.flatMap(({ rewards }) => rewards),
        errors: Object.keys(errors).length > 0 ? errors : undefined,
        evidence: read.flatMap(({ evidence }) => evidence),
      }
    },
)
