import { useQueryClient } from '@tanstack/react-query'
import type { PrepareRewardsClaimResponse, Reward } from '@vaultline/client'
import { useRewardsClaim } from '@vaultline/client/react'
import { useEffect, useEffectEvent, useState } from 'react'
import { useService } from '../context.ts'
import { shorten } from '../format.ts'
import { useSender } from '../sender.ts'
import { FactRow } from './facts.tsx'
import { Amount } from './figures.tsx'
import { Preparing } from './flow-panel.tsx'
import { FlowProblem, FlowSteps } from './flow-steps.tsx'

/** Reward with its token's symbol and decimals. */
export type ShownReward = Reward & { readonly symbol: string; readonly decimals: number }

type RewardsClaimProps = {
  readonly account: `0x${string}`
  readonly chainId: Reward['chainId']
  readonly claimable: readonly ShownReward[]
  readonly onLeave: () => void
}

/** Shows the amounts that a claim of rewards pays, and the button that signs the claim of exactly these tokens. */
export function RewardsClaim({ account, chainId, claimable, onLeave }: RewardsClaimProps) {
  const queries = useQueryClient()
  const sender = useSender(account)
  // The list is kept from the first render: a token that becomes claimable meanwhile must not start another claim.
  const [shown] = useState(claimable)
  const tokens = shown.map(({ token }) => token)
  const { status, steps, current, prepared, error, next } = useRewardsClaim(useService(), {
    ...{ userAddress: account, chainId, tokens },
  })
  const leave = useEffectEvent(() => {
    void queries.invalidateQueries()
    onLeave()
  })
  useEffect(() => {
    if (status === 'done') leave()
  }, [status])
  if (!prepared && !error) return <Preparing />
  const hasBegun = steps.some((step) => step.status !== 'todo')
  return (
    <>
      {prepared && 'rewards' in prepared && <Terms prepared={prepared} shown={shown} />}
      {hasBegun && <FlowSteps steps={steps} />}
      {error && <FlowProblem error={error} />}
      <div className="row">
        <button
          type="button"
          className="button primary"
          disabled={status !== 'ready'}
          onClick={() => void next(sender)}
        >
          {current?.status === 'confirming' && 'Confirm in your wallet …'}
          {current?.status === 'pending' && 'Waiting for the chain …'}
          {current?.status !== 'confirming' &&
            current?.status !== 'pending' &&
            (status === 'busy' ? 'Preparing …' : error ? 'Try again' : 'Claim now')}
        </button>
        {!hasBegun && (
          <button type="button" className="button quiet" onClick={onLeave}>
            Not now
          </button>
        )}
      </div>
    </>
  )
}

type TermsProps = { readonly prepared: PrepareRewardsClaimResponse; readonly shown: readonly ShownReward[] }

function Terms({ prepared: { rewards, leftOut }, shown }: TermsProps) {
  const unitOf = (token: string) => shown.find((reward) => reward.token === token)
  return (
    <dl className="facts">
      {rewards.map(({ token, amount }) => {
        const unit = unitOf(token)
        return (
          unit && (
            <FactRow key={token} name="You receive">
              <Amount units={amount} {...unit} isExact />
            </FactRow>
          )
        )
      })}
      {leftOut.map(({ token, reason }) => (
        <FactRow key={token} name={`Not ${unitOf(token)?.symbol ?? shorten(token)}`}>
          {LEFT_OUT[reason]}
        </FactRow>
      ))}
    </dl>
  )
}

const LEFT_OUT: Readonly<Record<PrepareRewardsClaimResponse['leftOut'][number]['reason'], string>> = {
  not_yet_claimable: 'It cannot be claimed yet.',
  paid_to_another_account: 'It would be paid to another account, as you have set.',
  reverts: 'The token refuses the payment.',
  does_not_transfer: 'The token would not pay it.',
  claim_again: 'Claim it after this one.',
  not_found: 'It is not reported at the moment.',
}
