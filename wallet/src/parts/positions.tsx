import { useState } from 'react'
import { Link } from 'wouter'
import { chainName } from '../chains.ts'
import { shorten } from '../format.ts'
import { findVault, type ValuedPosition } from '../portfolio.ts'
import { describeReason } from '../problems.ts'
import type { Portfolio } from '../use-portfolio.ts'
import { Amount, Earned, Money, Yield } from './figures.tsx'
import { Empty, Missing, ProblemNotice } from './notices.tsx'
import { SkeletonRows } from './skeletons.tsx'
import { ChainBadge } from './tokens.tsx'

/** What is in vaults: its value in the asset and in the currency, its yield, what it earned and what waits. */
export function Positions({ portfolio }: { portfolio: Portfolio }) {
  const { positions, positionErrors, positionProblem, retryPositions, requestProblem, isLoading } = portfolio
  const [isPastShown, setPastShown] = useState(false)
  const past = positions.filter((position) => isPast(position, portfolio))
  const shown = positions.filter((position) => isPastShown || !past.includes(position))
  const isEmpty = positions.length === 0 && !positionProblem && Object.keys(positionErrors).length === 0
  return (
    <section className="card" aria-labelledby="positions">
      <div className="card-head">
        <h2 id="positions">In vaults</h2>
        <Link className="fine" href="/activity">
          Activity
        </Link>
      </div>
      <Missing
        errors={Object.fromEntries(
          Object.entries(positionErrors).map(([chainId, why]) => [
            chainId,
            `Your positions there are missing. ${describeReason(why)}`,
          ]),
        )}
        nameOf={(chainId) => chainName(Number(chainId))}
      />
      {positionProblem && <ProblemNotice error={positionProblem} onRetry={retryPositions} />}
      {requestProblem && positions.length > 0 && <p className="fine">Some pending requests could not be read.</p>}
      {isLoading && positions.length === 0 ? (
        <SkeletonRows count={3} />
      ) : isEmpty ? (
        <Empty title="You have no positions" action={{ href: '/vaults', text: 'See vaults' }}>
          Deposit into a vault to see it here with what it earns.
        </Empty>
      ) : (
        <ul className="lines">
          {shown.map((position) => (
            <li key={`${position.userAddress} ${position.chainId} ${position.vaultAddress}`}>
              <PositionLine position={position} portfolio={portfolio} />
            </li>
          ))}
        </ul>
      )}
      {past.length > 0 && (
        <button type="button" className="link" aria-pressed={isPastShown} onClick={() => setPastShown(!isPastShown)}>
          {isPastShown ? 'Hide past positions' : `Show past positions (${past.length})`}
        </button>
      )}
    </section>
  )
}

function PositionLine({ position, portfolio }: { position: ValuedPosition; portfolio: Portfolio }) {
  const {
    chainId,
    vaultAddress,
    vaultName,
    userAddress,
    assetDecimals,
    assetSymbol,
    currentValue,
    value,
    earnedAssets,
  } = position
  const vault = findVault(portfolio.vaults.data?.data ?? [], position)
  const waiting = portfolio.requests.find((request) => request.kind === 'wait' && isSame(request.position, position))
  return (
    <Link className="line" href={`/vaults/${chainId}/${vaultAddress}`}>
      <span>
        <strong>{vaultName}</strong>
        <span>
          <ChainBadge chainId={chainId} />{' '}
          {userAddress !== portfolio.address && <span className="chip">{shorten(userAddress)}</span>}
        </span>
        {vault && <Yield annualYield={vault.annualYield} />}
        {waiting && (
          <span className="fine">
            <Amount units={waiting.units} decimals={assetDecimals} symbol={assetSymbol} /> waiting
          </span>
        )}
      </span>
      <span className="line-figures">
        <strong>
          <Amount units={currentValue} decimals={assetDecimals} symbol={assetSymbol} />
        </strong>
        <span className="fine">
          <Money value={value} why={`No price for ${assetSymbol}.`} />
        </span>
        <Earned units={earnedAssets} decimals={assetDecimals} symbol={assetSymbol} isPriced={value !== null} />
      </span>
    </Link>
  )
}

/** Whether all of it was taken out, and nothing waits. */
function isPast(position: ValuedPosition, { requests }: Portfolio): boolean {
  return position.currentValue === '0' && !requests.some((request) => isSame(request.position, position))
}

function isSame(left: ValuedPosition, right: ValuedPosition): boolean {
  return (
    left.chainId === right.chainId && left.vaultAddress === right.vaultAddress && left.userAddress === right.userAddress
  )
}
