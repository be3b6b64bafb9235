import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { searchCoins } from '@vaultline/client'
import { queryAnswer } from '@vaultline/client/query'
import { useState } from 'react'
import { Link } from 'wouter'
import { chainName } from '../chains.ts'
import { type CoinSortOrder, listMarketCoins, type MarketCoin, sortCoins } from '../coins.ts'
import { useCurrency, useService } from '../context.ts'
import { Change, Money } from '../parts/figures.tsx'
import { Movers } from '../parts/movers.tsx'
import { EmptyNotice, ProblemNotice } from '../parts/notices.tsx'
import { OrderSelect, SortHeadings } from '../parts/order.tsx'
import { SkeletonRows } from '../parts/skeletons.tsx'
import { StaleSince } from '../parts/stale-since.tsx'
import { ChainBadge, TokenIcon } from '../parts/tokens.tsx'
import { useCoins } from '../prices.ts'
import { useDebounced } from '../use-debounced.ts'
import { useFilters } from '../use-filters.ts'

const MIN_SEARCH = 3
const MAX_SEARCH = 100
const PAUSE_MS = 300

/** Page with all coins: a search, the largest gains and losses of the day, and the coins that the wallet supports. */
export function MarketsPage() {
  const [search, setSearch] = useState('')
  const debouncedSearch = useDebounced(search.trim(), PAUSE_MS)
  return (
    <div className="page">
      <title>Markets · Vaultline</title>
      <h1>Markets</h1>
      <search className="filters">
        <input
          type="search"
          aria-label="Search all coins by name or symbol"
          placeholder="Search all coins"
          maxLength={MAX_SEARCH}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      </search>
      <div>
        {debouncedSearch && debouncedSearch.length < MIN_SEARCH && (
          <p className="fine" role="status">
            Type at least {MIN_SEARCH} letters of a name or a symbol.
          </p>
        )}
        {debouncedSearch.length >= MIN_SEARCH && <SearchResults search={debouncedSearch} />}
      </div>
      {debouncedSearch.length < MIN_SEARCH && (
        <>
          <Movers count={3} />
          <SupportedCoins />
        </>
      )}
    </div>
  )
}

function SearchResults({ search }: { search: string }) {
  const coins = useQuery({
    ...queryAnswer(searchCoins, useService(), { search, currency: useCurrency() }),
    placeholderData: keepPreviousData,
  })
  if (coins.error && !coins.data) return <ProblemNotice error={coins.error} onRetry={() => void coins.refetch()} />
  if (!coins.data) return <SkeletonRows count={4} />
  if (coins.data.data.length === 0) return <EmptyNotice title={`No coins found for “${search}”`} />
  return (
    <section
      className={coins.data.isStale || coins.isPlaceholderData ? 'card stale' : 'card'}
      aria-label={`Coins found for ${search}`}
    >
      <p className="hidden" role="status">
        {coins.data.data.length} found
      </p>
      <StaleSince query={coins} />
      <ul className="lines">
        {coins.data.data.map(({ id, name, symbol, thumb, market_cap_rank, current_price, ...coin }) => (
          <li key={id}>
            <Link className="line" href={`/markets/${id}`}>
              <span className="coin">
                <TokenIcon symbol={symbol} url={thumb} />
                <span>
                  <strong>{name}</strong>
                  <span className="fine">
                    {symbol.toUpperCase()}
                    {market_cap_rank !== null && ` · rank ${market_cap_rank}`}
                  </span>
                </span>
              </span>
              <span className="line-figures">
                <Money value={current_price} />
                <Change percent={coin.price_change_percentage_24h} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  )
}

function SupportedCoins() {
  const coins = useCoins()
  const [filters, choose] = useFilters()
  const [order, setOrder] = useState<{ by: CoinSortOrder; isReversed: boolean }>({
    by: 'market cap',
    isReversed: false,
  })
  const chain = filters.get('chain') ?? ''
  const all = coins.data ? listMarketCoins(coins.data.data) : []
  const chains = [...new Set(all.flatMap(({ chainIds }) => chainIds))]
  const shown = sortCoins(
    all.filter(({ chainIds }) => !chain || chainIds.includes(Number(chain))),
    order.by,
    order.isReversed,
  )
  const sorting = {
    ...{ orders: ORDERS, order: order.by, isReversed: order.isReversed },
    onChoose: (by: CoinSortOrder) => setOrder({ by, isReversed: order.by === by && !order.isReversed }),
  }
  return (
    <section className="stack" aria-labelledby="supported">
      <div className="card-head">
        <h2 id="supported">Supported in this wallet</h2>
        <div className="row">
          <StaleSince query={coins} />
          <select aria-label="Chain" value={chain} onChange={({ target }) => choose({ chain: target.value })}>
            <option value="">All chains</option>
            {chains.map((chainId) => (
              <option key={chainId} value={chainId}>
                {chainName(chainId)}
              </option>
            ))}
          </select>
          <OrderSelect {...sorting} />
        </div>
      </div>
      {coins.error && <ProblemNotice error={coins.error} onRetry={() => void coins.refetch()} />}
      {!coins.data && !coins.error && <SkeletonRows count={7} />}
      {coins.data && shown.length === 0 && (
        <EmptyNotice
          title="No coins on this chain"
          action={{ text: 'Show all', onClick: () => choose({ chain: '' }) }}
        />
      )}
      {shown.length > 0 && (
        <table className={coins.data?.isStale ? 'list compact stale' : 'list compact'}>
          <thead>
            <tr>
              <SortHeadings {...sorting} />
            </tr>
          </thead>
          <tbody>
            {shown.map((coin) => (
              <CoinRow key={coin.id ?? `${coin.chainId} ${coin.contract_address}`} coin={coin} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

const ORDERS = [
  { by: 'name', text: 'Coin' },
  { by: 'price', text: 'Price' },
  { by: 'change', text: '24 hours' },
  { by: 'market cap', text: 'Market cap' },
  { by: 'volume', text: '24h volume' },
] as const

function CoinRow({ coin }: { coin: MarketCoin }) {
  const { id, contract_ticker_symbol: symbol, contract_name: name, logo_url, chainIds } = coin
  const title = (
    <>
      <TokenIcon symbol={symbol} url={logo_url} />
      <span>
        <strong>
          {name} {name !== symbol && <span className="unit">{symbol}</span>}
        </strong>
        <span className="badges">
          {chainIds.map((chainId) => (
            <ChainBadge key={chainId} chainId={chainId} />
          ))}
        </span>
      </span>
    </>
  )
  return (
    <tr>
      <th scope="row">
        {id ? (
          <Link className="row-link" href={`/markets/${id}`}>
            {title}
          </Link>
        ) : (
          <span className="row-link">{title}</span>
        )}
      </th>
      <td data-label="Price">
        <Money value={coin.current_price} />
      </td>
      <td data-label="24 hours">
        <Change percent={coin.price_change_percentage_24h} />
      </td>
      <td data-label="Market cap">
        <Money value={coin.market_cap} why="It is not known." short />
      </td>
      <td data-label="24h volume">
        <Money value={coin.total_volume} why="It is not known." short />
      </td>
    </tr>
  )
}
