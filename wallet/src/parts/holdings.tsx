import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { chainName } from '../chains.ts'
import { useCurrency, useService } from '../context.ts'
import { formatClock } from '../format.ts'
import { historyQuery, type PricedToken } from '../histories.ts'
import { CHAIN_OF_KEY, findCoin, type Holding } from '../portfolio.ts'
import { describeReason } from '../problems.ts'
import type { Portfolio } from '../use-portfolio.ts'
import { Amount, AsOf, Change, Money } from './figures.tsx'
import { Empty, Missing, ProblemNotice } from './notices.tsx'
import { SkeletonRows } from './skeletons.tsx'
import { Sparkline } from './sparkline.tsx'
import { ChainBadge, TokenIcon } from './tokens.tsx'

const TREND_DAYS = '30'

/** The tokens in the linked wallets; what looks like spam is a click away. */
export function Holdings({ portfolio }: { portfolio: Portfolio }) {
  const { isLoggedIn, linked, wallets, balances, holdings, coins } = portfolio
  const [isSpamShown, setSpamShown] = useState(false)
  const spam = holdings.filter(({ isSpam }) => isSpam)
  const shown = holdings.filter(({ isSpam }) => isSpamShown || !isSpam)
  if (!isLoggedIn) {
    return (
      <Empty title="Log in to see your tokens" action={{ href: '/account', text: 'Log in' }}>
        Log in and link your wallet. Its tokens and their value appear here.
      </Empty>
    )
  }
  return (
    <section className="stack" aria-labelledby="holdings">
      <div className="card-head">
        <h2 id="holdings">In your wallets</h2>
        {spam.length > 0 && (
          <button type="button" className="link" aria-pressed={isSpamShown} onClick={() => setSpamShown(!isSpamShown)}>
            {isSpamShown ? 'Hide spam' : `Show spam (${spam.length})`}
          </button>
        )}
      </div>
      <Missing errors={withTimes(balances.data?.data)} nameOf={nameOfKey} />
      {balances.error && <ProblemNotice error={balances.error} onRetry={() => void balances.refetch()} />}
      {!balances.data && !balances.error && <SkeletonRows count={4} />}
      {balances.data && wallets.data && shown.length === 0 && (
        <Empty
          title={linked.length > 0 ? 'Your wallets are empty' : 'No wallet is linked'}
          {...(linked.length === 0 && { action: { href: '/account', text: 'Link a wallet' } })}
        >
          {linked.length > 0
            ? 'Tokens appear here when they receive some.'
            : 'Connect a wallet and link it to your account to see its tokens.'}
        </Empty>
      )}
      {shown.length > 0 && (
        <table className={balances.data?.isStale ? 'list holdings stale' : 'list holdings'}>
          <thead>
            <tr>
              <th scope="col">Token</th>
              <th scope="col" className="trend">
                30 days
              </th>
              <th scope="col">Price</th>
              <th scope="col">Amount</th>
              <th scope="col">Value</th>
            </tr>
          </thead>
          <tbody>
            {shown.map((holding) => (
              <HoldingRow
                key={`${holding.chainId} ${holding.address}`}
                holding={holding}
                coinId={findCoin(coins.data?.data ?? [], holding.chainId, holding.address)?.id ?? undefined}
              />
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

function HoldingRow({ holding, coinId }: { holding: Holding; coinId: string | undefined }) {
  const { chainId, address, symbol, name, logoUrl, units, decimals, price, value, valueBefore, isSpam, isShare, asOf } =
    holding
  const why = isSpam ? 'It looks like spam, and has no price.' : 'No market has a price for it.'
  const title = (
    <>
      <TokenIcon symbol={symbol} url={logoUrl} />
      <span>
        <strong>{symbol || name}</strong>
        <span>
          <ChainBadge chainId={chainId} /> {isSpam && <span className="chip warn">Spam</span>}
        </span>
      </span>
    </>
  )
  return (
    <tr className={asOf ? 'stale' : undefined}>
      <th scope="row" title={name}>
        {coinId ? (
          <Link className="row-link" href={`/markets/${coinId}`}>
            {title}
          </Link>
        ) : (
          <span className="row-link">{title}</span>
        )}
      </th>
      <td className="trend">{price !== null && !isShare && <Trend token={{ coinId, chainId, address }} />}</td>
      <td data-label="Price">
        <span className="pair">
          {price === null ? (
            <span className="fine" title={why}>
              No price
            </span>
          ) : (
            <>
              <Money value={price} />
              <Change percent={value !== null && valueBefore ? (value / valueBefore - 1) * 100 : undefined} />
            </>
          )}
        </span>
      </td>
      <td data-label="Amount">
        <span className="pair">
          <Amount units={units} decimals={decimals} symbol={isSpam ? '' : symbol} />
          {asOf && <AsOf time={asOf} />}
        </span>
      </td>
      <td data-label="Value">
        <strong>
          <Money value={value} why={why} />
        </strong>
      </td>
    </tr>
  )
}

function Trend({ token }: { token: PricedToken }) {
  const { data } = useQuery(historyQuery(useService(), token, useCurrency(), TREND_DAYS))
  return <Sparkline values={(data?.data.prices ?? []).map(([, price]) => price)} />
}

function nameOfKey(key: string): string {
  // The service calls its chains by these keys alone.
  return chainName(CHAIN_OF_KEY[key as keyof typeof CHAIN_OF_KEY])
}

/** Why chains are old or missing, with the moment of what is shown in their place. */
function withTimes(
  answer: NonNullable<Portfolio['balances']['data']>['data'] | undefined,
): Readonly<Record<string, string>> {
  const { errors = {}, updated_at = {}, tokens = {} } = answer ?? {}
  return Object.fromEntries(
    Object.entries(errors).map(([key, why]) => {
      const time = updated_at[key]
      const shown = time && tokens[key]?.length ? `Shown as of ${formatClock(time)}` : 'Your tokens there are missing'
      return [key, `${shown}. ${describeReason(why)}`]
    }),
  )
}
