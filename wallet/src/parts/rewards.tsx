import { useQueries } from '@tanstack/react-query'
import { listRewards, type Reward } from '@vaultline/client'
import { query } from '@vaultline/client/query'
import { lazy, Suspense, useState } from 'react'
import { chainName } from '../chains.ts'
import { useService } from '../context.ts'
import { formatDateTime, shorten } from '../format.ts'
import { usePriceOf, worthOf } from '../prices.ts'
import { useAccounts } from '../use-accounts.ts'
import { Amount, Money, PoweredByMerkl } from './figures.tsx'
import type { ShownReward } from './rewards-claim.tsx'
import { Skeleton } from './skeletons.tsx'
import { ChainBadge } from './tokens.tsx'

const REFRESH_MS = 60_000

/** The component that signs claims is loaded only when the user opens it. */
const RewardsClaim = lazy(async () => ({ default: (await import('./rewards-claim.tsx')).RewardsClaim }))

type Group = { readonly account: `0x${string}`; readonly chainId: Reward['chainId']; readonly rewards: ShownReward[] }

/** Shows the rewards of vaults' reward campaigns by account and chain; renders nothing if there are none. */
export function Rewards() {
  const service = useService()
  const { address, accounts } = useAccounts()
  const responses = useQueries({
    queries: [...accounts].map((userAddress) => ({
      ...query(listRewards, service, { userAddress }),
      refetchInterval: REFRESH_MS,
    })),
  })
  const groups = responses.flatMap(({ data }) => (data ? groupByChain(data.userAddress, data.rewards) : []))
  const unread = new Set(responses.flatMap(({ data }) => Object.keys(data?.errors ?? {}).map(Number)))
  const isUnread = responses.some(({ data, error }) => error && !data)
  return (
    <>
      {groups.length > 0 && (
        <section className="card" aria-labelledby="rewards">
          <h2 id="rewards">Rewards</h2>
          <ul className="lines">
            {groups.map((group) => (
              <GroupLine key={`${group.account} ${group.chainId}`} group={group} address={address} />
            ))}
          </ul>
          <p className="fine">
            <PoweredByMerkl />
          </p>
        </section>
      )}
      {isUnread && <p className="fine">Rewards cannot be read now.</p>}
      {unread.size > 0 && (
        <p className="fine">Rewards on {[...unread].map(chainName).join(' and ')} cannot be read in full now.</p>
      )}
    </>
  )
}

function groupByChain(account: `0x${string}`, rewards: readonly Reward[]): Group[] {
  const shown = rewards.filter((reward): reward is ShownReward => reward.symbol !== null && reward.decimals !== null)
  return [...Map.groupBy(shown, ({ chainId }) => chainId)].map(([chainId, rewards]) => ({ account, chainId, rewards }))
}

function GroupLine({ group, address }: { group: Group; address: string | undefined }) {
  const { account, chainId, rewards } = group
  const [isClaiming, setClaiming] = useState(false)
  const isOwn = account === address
  const claimable = rewards.filter(({ amount, recipient }) => amount !== '0' && recipient === account)
  return (
    <li className="reward">
      {rewards.map((reward) => (
        <RewardLine key={reward.token} reward={reward} account={account} isOwn={isOwn} />
      ))}
      {claimable.length > 0 && isOwn && !isClaiming && (
        <button type="button" className="button" onClick={() => setClaiming(true)}>
          Claim on {chainName(chainId)}
        </button>
      )}
      {claimable.length > 0 && !isOwn && (
        <p className="fine">
          {address ? 'Switch to' : 'Connect'} {shorten(account)} in your wallet to claim.
        </p>
      )}
      {isClaiming && isOwn && (
        <Suspense fallback={<Skeleton width="100%" />}>
          <RewardsClaim {...{ account, chainId, claimable }} onLeave={() => setClaiming(false)} />
        </Suspense>
      )}
    </li>
  )
}

type RewardLineProps = { readonly reward: ShownReward; readonly account: string; readonly isOwn: boolean }

function RewardLine({ reward, account, isOwn }: RewardLineProps) {
  const { chainId, token, amount, pending, claimableAt, recipient, ...unit } = reward
  const price = usePriceOf()(chainId, token)
  // The pending amount becomes claimable in parts, and only the next part has a known time.
  const when = claimableAt ? `in part from ${formatDateTime(claimableAt)}` : 'later'
  const isNow = amount !== '0'
  return (
    <div className="line">
      <span>
        <strong>
          <Amount units={isNow ? amount : pending} {...unit} />
        </strong>
        <span className="badges">
          <ChainBadge chainId={chainId} /> {!isOwn && <span className="chip">{shorten(account)}</span>}
        </span>
        {!isNow && <span className="fine">To claim {when}</span>}
        {isNow && pending !== '0' && (
          <span className="fine">
            <Amount units={pending} {...unit} /> more to claim {when}
          </span>
        )}
        {recipient !== account && <span className="fine">Paid to {shorten(recipient)}, as you have set</span>}
      </span>
      <span className="line-figures">
        <Money value={worthOf(isNow ? amount : pending, unit.decimals, price)} why={`No price for ${unit.symbol}.`} />
      </span>
    </div>
  )
}
