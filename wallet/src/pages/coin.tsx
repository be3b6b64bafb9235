import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { CallFailure, type GetCoinResponse, getCoin, getCoinChart, listVaults } from '@vaultline/client'
import { query, queryAnswer } from '@vaultline/client/query'
import { useState } from 'react'
import { Link } from 'wouter'
import { useCurrency, useService } from '../context.ts'
import { formatDateTime, formatMoney, formatShortNumber } from '../format.ts'
import { Chart } from '../parts/chart.tsx'
import { Choices } from '../parts/choices.tsx'
import { Change, Money, UnknownValue, Yield } from '../parts/figures.tsx'
import { EmptyNotice, ProblemNotice } from '../parts/notices.tsx'
import { Skeleton } from '../parts/skeletons.tsx'
import { StaleSince } from '../parts/stale-since.tsx'
import { ChainBadge, TokenIcon } from '../parts/tokens.tsx'
import { useCoins } from '../prices.ts'

const RANGES = [
  { value: '1', text: '1D', title: '1 day' },
  { value: '7', text: '7D', title: '7 days' },
  { value: '30', text: '30D', title: '30 days' },
  { value: '365', text: '1Y', title: '1 year' },
  { value: 'max', text: 'Max', title: 'All time' },
] as const

type Range = (typeof RANGES)[number]['value']

/** Page of a coin: its price now and in the past, its figures, and the vaults that take this coin. */
export function CoinPage({ id }: { id: string }) {
  const service = useService()
  const currency = useCurrency()
  const coin = useQuery(queryAnswer(getCoin, service, { id, currency }))
  if (coin.error instanceof CallFailure && coin.error.error.code === 'coin_not_found') {
    return (
      <div className="page">
        <EmptyNotice isWholePage title="Coin not found" action={{ href: '/markets', text: 'See all coins' }} />
      </div>
    )
  }
  return (
    <div className="page">
      <title>{`${coin.data?.data.name ?? id} · Vaultline`}</title>
      <p className="fine">
        <Link href="/markets">Markets</Link>
      </p>
      {coin.error && <ProblemNotice error={coin.error} onRetry={() => void coin.refetch()} />}
      <header className={coin.data?.isStale ? 'coin-head stale' : 'coin-head'}>
        {coin.data ? (
          <CoinTitle coin={coin.data.data} />
        ) : (
          <h1>
            <span className="hidden">{id}</span>
            {!coin.error && <Skeleton width="9em" />}
          </h1>
        )}
        <StaleSince query={coin} />
      </header>
      <div className="columns">
        <PriceChart id={id} name={coin.data?.data.name ?? id} />
        <div className="stack">
          <CoinVaults id={id} />
          <CoinFacts coin={coin.data?.data} isStale={coin.data?.isStale ?? false} />
        </div>
      </div>
    </div>
  )
}

function CoinTitle({ coin }: { coin: GetCoinResponse }) {
  return (
    <>
      <h1 className="titled">
        <TokenIcon symbol={coin.symbol} url={coin.image} />
        <span>
          {coin.name} <span className="chip">{coin.symbol.toUpperCase()}</span>
        </span>
      </h1>
      <p className="row">
        <span className="big">
          <Money value={coin.current_price} />
        </span>
        <Change percent={coin.price_change_percentage_24h} /> <span className="fine">in 24 hours</span>
      </p>
    </>
  )
}

function PriceChart({ id, name }: { id: string; name: string }) {
  const service = useService()
  const currency = useCurrency()
  const [range, setRange] = useState<Range>('30')
  const chart = useQuery({
    ...queryAnswer(getCoinChart, service, { id, currency, days: range }),
    placeholderData: keepPreviousData,
  })
  const answer = chart.data?.data
  return (
    <section className="card" aria-labelledby="price">
      <div className="card-head">
        <h2 id="price">Price</h2>
        <Choices label="Time shown" options={RANGES} value={range} onChoose={setRange} />
      </div>
      <div className={chart.isPlaceholderData || chart.data?.isStale ? 'stale' : undefined}>
        {(answer || !chart.error) && (
          <Chart
            points={answer?.prices}
            format={(price) => formatMoney(price, answer?.currency ?? currency)}
            label={`Price of ${name}`}
            empty="No prices for this period."
          />
        )}
      </div>
      {answer?.truncated && !chart.isPlaceholderData && (
        <p className="fine">Only the last {answer.days} days are known.</p>
      )}
      <StaleSince query={chart} />
      {chart.error && <ProblemNotice error={chart.error} onRetry={() => void chart.refetch()} />}
    </section>
  )
}

function CoinVaults({ id }: { id: string }) {
  const coins = useCoins()
  const vaults = useQuery(query(listVaults, useService(), undefined))
  // Tokens are compared by chain and address, because the same address on another chain can be another token.
  const tokens = new Set(
    coins.data?.data.filter((coin) => coin.id === id).map((coin) => `${coin.chainId} ${coin.contract_address}`),
  )
  const vaultList = vaults.data?.data
    .filter((vault) => tokens.has(`${vault.chainId} ${vault.depositTokenAddress}`))
    .toSorted((left, right) => Number(right.annualYield?.percent ?? -1) - Number(left.annualYield?.percent ?? -1))
  if (!vaultList?.length) return null
  return (
    <section className="card" aria-labelledby="earn">
      <h2 id="earn">Earn with it</h2>
      <ul className="lines">
        {vaultList.map(({ chainId, poolAddress, name, annualYield }) => (
          <li key={`${chainId}-${poolAddress}`}>
            <Link className="line" href={`/vaults/${chainId}/${poolAddress}`}>
              <span>
                <strong>{name}</strong>
                <ChainBadge chainId={chainId} />
              </span>
              <Yield annualYield={annualYield} />
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}

function CoinFacts({ coin, isStale }: { coin: GetCoinResponse | undefined; isStale: boolean }) {
  const facts = coin && [
    { name: 'Market cap', value: <Money value={coin.market_cap} why="It is not known." short /> },
    { name: 'Rank by market cap', value: coin.market_cap_rank ?? <UnknownValue why="It is not known." /> },
    { name: '24h volume', value: <Money value={coin.total_volume} why="It is not known." short /> },
    { name: '24h high', value: <Money value={coin.high_24h} why="It is not known." /> },
    { name: '24h low', value: <Money value={coin.low_24h} why="It is not known." /> },
    { name: 'All-time high', value: <Money value={coin.ath} why="It is not known." /> },
    { name: 'All-time low', value: <Money value={coin.atl} why="It is not known." /> },
    { name: 'Circulating supply', value: <Coins count={coin.circulating_supply} symbol={coin.symbol} /> },
    { name: 'Max supply', value: <Coins count={coin.max_supply} symbol={coin.symbol} why="No limit is known." /> },
  ]
  const names = ['Market cap', 'Rank by market cap', '24h volume', '24h high', '24h low']
  return (
    <section className={isStale ? 'card stale' : 'card'} aria-labelledby="facts">
      <h2 id="facts">Figures</h2>
      <dl className="facts">
        {(facts ?? names.map((name) => ({ name, value: <Skeleton width="5em" /> }))).map(({ name, value }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="figure">{value}</dd>
          </div>
        ))}
      </dl>
      {coin && <p className="fine">Priced {formatDateTime(coin.last_updated)}</p>}
    </section>
  )
}

function Coins({ count, symbol, why = 'It is not known.' }: { count: number | null; symbol: string; why?: string }) {
  if (count === null) return <UnknownValue why={why} />
  return (
    <span className="figure">
      {formatShortNumber(count)} <span className="unit">{symbol.toUpperCase()}</span>
    </span>
  )
}
