import { useConnection } from 'wagmi'
import { Link } from 'wouter'
import { chainName } from '../chains.ts'
import { ActionsNeeded } from '../parts/actions-needed.tsx'
import { Amount, Change, Money } from '../parts/figures.tsx'
import { Holdings } from '../parts/holdings.tsx'
import { HoldingsChart } from '../parts/holdings-chart.tsx'
import { MissingChains } from '../parts/missing-chains.tsx'
import { Nfts } from '../parts/nfts.tsx'
import { Positions } from '../parts/positions.tsx'
import { Rewards } from '../parts/rewards.tsx'
import { Skeleton } from '../parts/skeletons.tsx'
import { StaleSince } from '../parts/stale-since.tsx'
import { Welcome } from '../parts/welcome.tsx'
import { sumValues, toNumber } from '../portfolio.ts'
import { session } from '../service.ts'
import { useStore } from '../store.ts'
import { transferPath } from '../transfers.ts'
import { type Portfolio, usePortfolio } from '../use-portfolio.ts'

/** Home page: the portfolio with its open requests, or an introduction for new users. */
export function HomePage() {
  const user = useStore(session)
  const { address } = useConnection()
  return user || address ? <PortfolioView /> : <Welcome />
}

function PortfolioView() {
  const portfolio = usePortfolio()
  return (
    <div className="page">
      <title>Home · Vaultline</title>
      <h1 className="hidden">Your portfolio</h1>
      <Summary portfolio={portfolio} />
      <Invitation portfolio={portfolio} />
      <ActionsNeeded portfolio={portfolio} />
      <div className="home">
        <div className="stack">
          <Positions portfolio={portfolio} />
          <Rewards />
        </div>
        <HoldingsChart portfolio={portfolio} />
        <Holdings portfolio={portfolio} />
        {portfolio.isLoggedIn && <Nfts portfolio={portfolio} />}
      </div>
    </div>
  )
}

function Summary({ portfolio }: { portfolio: Portfolio }) {
  const { holdings, positions, underWay, requests, balances, isLoggedIn, isLoading } = portfolio
  const parts = [...holdings, ...positions, ...underWay]
  const { value, change } = sumValues(parts)
  const gaps = listGaps(portfolio)
  const invitation = inviteToLink(portfolio)
  const isUnknown = (gaps.length > 0 || invitation !== undefined) && !parts.some((one) => one.value !== null)
  const waiting = sumValues(
    requests
      .filter(({ kind }) => kind === 'wait')
      .map(({ units, position }) => {
        const whole = toNumber(position.currentValue, position.assetDecimals)
        const part = toNumber(units, position.assetDecimals) / whole
        return { value: position.value === null || whole === 0 ? null : position.value * part, valueBefore: null }
      }),
  )
  const title = isLoggedIn && !invitation ? 'Total value' : 'Value in vaults'
  return (
    <section className={balances.data?.isStale ? 'summary stale' : 'summary'} aria-label={title}>
      <p className="fine">{title}</p>
      <p className="big">
        {isLoading ? (
          <Skeleton width="5em" />
        ) : (
          <Money value={isUnknown ? null : value} why={invitation ?? 'It could not be read.'} />
        )}{' '}
        {!isLoading && <MissingChains portfolio={portfolio} />}
      </p>
      <p className="row">
        {isLoading ? (
          <Skeleton width="12em" />
        ) : (
          <>
            {change && (
              <span>
                {change.value > 0 && '+'}
                <Money value={change.value} />
              </span>
            )}
            <Change percent={change?.percent} /> <span className="fine">in 24 hours, prices only</span>
          </>
        )}
      </p>
      {!isLoading && (
        <p className="row">
          {waiting.value > 0 && (
            <span className="chip">
              <Money value={waiting.value} /> waiting in vaults
            </span>
          )}
          {underWay.map(({ started, progress }) => (
            <Link key={started.hash} className="chip" href={transferPath(started)}>
              <Amount units={started.amount} {...started.from} /> on its way{progress.reason === 'expired' && ' back'}
            </Link>
          ))}
          {invitation && (
            <Link className="chip warn" href="/account">
              {invitation}
            </Link>
          )}
          {gaps.map((gap) => (
            <span key={gap} className="chip warn">
              {gap}
            </span>
          ))}
          <StaleSince query={balances} />
        </p>
      )}
    </section>
  )
}

function listGaps(portfolio: Portfolio): string[] {
  const { balances, holdings, positions, positionProblem, underWay, unknownTransfers } = portfolio
  const old = new Set(holdings.flatMap(({ chainId, asOf }) => (asOf ? [chainId] : [])))
  const unpriced = [...holdings.filter(({ isSpam }) => !isSpam), ...positions, ...underWay].filter(
    ({ value }) => value === null,
  )
  return [
    ...[...old].map((chainId) => `Tokens on ${chainName(chainId)} are not up to date`),
    ...(balances.error && !balances.data ? ['Your tokens are missing'] : []),
    ...(positionProblem ? ['Some of your positions are missing'] : []),
    ...(unknownTransfers > 0 ? ['Transfers between chains are missing'] : []),
    ...(unpriced.length === 1 ? ['1 token has no price'] : []),
    ...(unpriced.length > 1 ? [`${unpriced.length} tokens have no price`] : []),
  ]
}

function inviteToLink({ isLoggedIn, wallets, linked }: Portfolio): string | undefined {
  if (!isLoggedIn) return 'Log in to see your tokens'
  return wallets.data && linked.length === 0 ? 'Link a wallet to see its tokens' : undefined
}

/** Asks the user to link the connected wallet, because only tokens of linked wallets count in the total. */
function Invitation({ portfolio: { isLoggedIn, address, linked, isLoading } }: { portfolio: Portfolio }) {
  const isLinked = linked.some((wallet) => wallet.address === address)
  if (isLoading || !isLoggedIn || !address || isLinked || linked.length === 0) return null
  return (
    <aside className="invitation">
      <div>
        <h2>This wallet is not linked yet</h2>
        <p className="fine">Its vaults count already. Link it to your account to count its tokens too.</p>
      </div>
      <Link className="button quiet" href="/account">
        Link this wallet
      </Link>
    </aside>
  )
}
