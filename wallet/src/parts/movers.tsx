import { useQuery } from '@tanstack/react-query'
import { type ListGainersAndLosersResponse, listGainersAndLosers } from '@vaultline/client'
import { queryAnswer } from '@vaultline/client/query'
import { Link } from 'wouter'
import { useCurrency, useService } from '../context.ts'
import { Change, Money } from './figures.tsx'
import { ProblemNotice } from './notices.tsx'
import { SkeletonRows } from './skeletons.tsx'
import { StaleSince } from './stale-since.tsx'
import { TokenIcon } from './tokens.tsx'

/** Shows the coins that rose and fell the most in 24 hours. */
export function Movers({ count }: { count: number }) {
  const movers = useQuery(queryAnswer(listGainersAndLosers, useService(), { currency: useCurrency() }))
  const { top_gainers, top_losers } = movers.data?.data ?? {}
  if (movers.error && !movers.data) {
    return <ProblemNotice error={movers.error} onRetry={() => void movers.refetch()} />
  }
  return (
    <div className={movers.data?.isStale ? 'halves stale' : 'halves'}>
      <Half title="Gainers" coins={top_gainers?.slice(0, count)} count={count} query={movers} />
      <Half title="Losers" coins={top_losers?.slice(0, count)} count={count} query={movers} />
    </div>
  )
}

type HalfProps = {
  readonly title: string
  readonly coins: ListGainersAndLosersResponse['top_gainers'] | undefined
  readonly count: number
  readonly query: Parameters<typeof StaleSince>[0]['query']
}

function Half({ title, coins, count, query }: HalfProps) {
  return (
    <section className="card" aria-labelledby={title}>
      <div className="card-head">
        <h2 id={title}>{title}</h2>
        {query.data?.isStale ? <StaleSince query={query} /> : <span className="fine">in 24 hours</span>}
      </div>
      {!coins && <SkeletonRows count={count} />}
      {coins?.length === 0 && <p className="fine">None at the moment.</p>}
      <ul className="lines">
        {coins?.map(({ id, symbol, name, image, current_price, price_change_percentage_24h }) => (
          <li key={id}>
            <Link className="line" href={`/markets/${id}`}>
              <span className="coin">
                <TokenIcon symbol={symbol} url={image} />
                <span>
                  <strong>{name}</strong>
                  <span className="fine">{symbol.toUpperCase()}</span>
                </span>
              </span>
              <span className="line-figures">
                <Money value={current_price} />
                <Change percent={price_change_percentage_24h} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}
