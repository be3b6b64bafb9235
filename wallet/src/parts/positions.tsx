import type { Vault } from '@vaultline/client'
import { useState } from 'react'
import { Link } from 'wouter'
import { chainName } from '../chains.ts'
import { shorten } from '../format.ts'
import { findVault, findVaultOfShare, type Holding, type ValuedPosition, yieldOf } from '../portfolio.ts'
import { describeReason } from '../problems.ts'
import type { Portfolio } from '../use-portfolio.ts'
import { Amount, DataTime, EarnedAmount, Money, Yield } from './figures.tsx'
import { EmptyNotice, MissingData, ProblemNotice } from './notices.tsx'
import { SkeletonRows } from './skeletons.tsx'
import { ChainBadge } from './tokens.tsx'

/** Lists the user's positions: value in the asset and in the currency, yield, earnings and open requests. */
export function Positions({ portfolio }: { portfolio: Portfolio }) {
  const { positions, positionErrors, positionProblem, retryPositions, isLoading } = portfolio
  const shares = portfolio.holdings.filter(({ isShare }) => isShare)
  const [isPastShown, setPastShown] = useState(false)
  const past = positions.filter((position) => isPast(position, portfolio))
  const shown = positions.filter((position) => isPastShown || !past.includes(position))
  // The average yield is shown only if all chains could be read. Without some vaults the average would be wrong.
  const isWhole = !positionProblem && Object.keys(positionErrors).length === 0
  const earning = isWhole ? yieldOf(shown, portfolio.vaults.data?.data ?? []) : null
  const isEmpty = positions.length + shares.length === 0 && isWhole
  return (
    <section className="card" aria-labelledby="positions">
      <div className="card-head">
        <h2 id="positions">In vaults</h2>
        <Link className="fine" href="/activity">
          Activity
        </Link>
      </div>
      <MissingData
        errors={Object.fromEntries(
          Object.entries(positionErrors).map(([chainId, why]) => [
            chainId,
            `${shares.some((share) => `${share.chainId}` === chainId) ? 'Shown by your last known shares' : 'Your positions there are missing'}. ${describeReason(why)}`,
          ]),
        )}
        nameOf={(chainId) => chainName(Number(chainId))}
      />
      {positionProblem && <ProblemNotice error={positionProblem} onRetry={retryPositions} />}
      {isLoading && positions.length === 0 ? (
        <SkeletonRows count={3} />
      ) : isEmpty ? (
        <EmptyNotice title="You have no positions" action={{ href: '/vaults', text: 'See vaults' }}>
          Deposit into a vault to see it here with what it earns.
        </EmptyNotice>
      ) : (
        <>
          {earning && (
            <p className="fine">
              {earning.percent.toFixed(2)}% APY on average, about <Money value={earning.monthly} /> a month at these
              rates
            </p>
          )}
          <ul className="lines">
            {shown.map((position) => (
              <li key={`${position.userAddress} ${position.chainId} ${position.vaultAddress}`}>
                <PositionLine position={position} portfolio={portfolio} />
              </li>
            ))}
            {shares.map((share) => (
              <li key={`${share.chainId} ${share.address}`}>
                <ShareLine share={share} vault={findVaultOfShare(portfolio.vaults.data?.data ?? [], share)} />
              </li>
            ))}
          </ul>
        </>
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
        <EarnedAmount units={earnedAssets} decimals={assetDecimals} symbol={assetSymbol} isPriced={value !== null} />
      </span>
    </Link>
  )
}

function ShareLine({ share, vault }: { share: Holding; vault: Vault | undefined }) {
  const { chainId, name, value, symbol, asOf } = share
  const text = (
    <>
      <span>
        <strong>{vault?.name ?? name}</strong>
        <ChainBadge chainId={chainId} />
        {vault && <Yield annualYield={vault.annualYield} />}
      </span>
      <span className="line-figures">
        <strong>
          <Money value={value} why={`No price for ${symbol}.`} />
        </strong>
        {asOf && <DataTime time={asOf} />}
      </span>
    </>
  )
  return vault ? (
    <Link className="line stale" href={`/vaults/${chainId}/${vault.poolAddress}`}>
      {text}
    </Link>
  ) : (
    <span className="line stale">{text}</span>
  )
}

function isPast(position: ValuedPosition, { requests }: Portfolio): boolean {
  return position.currentValue === '0' && !requests.some((request) => isSame(request.position, position))
}

function isSame(left: ValuedPosition, right: ValuedPosition): boolean {
  return (
    left.chainId === right.chainId && left.vaultAddress === right.vaultAddress && left.userAddress === right.userAddress
  )
}
