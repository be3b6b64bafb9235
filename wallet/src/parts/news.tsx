import { useQuery } from '@tanstack/react-query'
import { listVaults } from '@vaultline/client'
import { query } from '@vaultline/client/query'
import { Link } from 'wouter'
import { useService } from '../context.ts'
import { type Arrival, listNews, type News } from '../events.ts'
import { formatTime } from '../format.ts'
import { findVault } from '../portfolio.ts'
import { useArrivals, useOwner } from '../use-events.ts'
import { ChainBadge } from './tokens.tsx'

const SHOWN_NEWS = 5

const STATES = {
  final: { text: 'Final', tone: 'good' },
  'may change': { text: 'Not final yet', tone: 'warn' },
  undone: { text: 'Undone by the chain', tone: 'bad' },
} as const

/** What has happened to the user lately, as the service tells it; nothing where it tells nobody, or nothing has. */
export function NewsOfUser() {
  const arrivals = useArrivals()
  return arrivals && <NewsList arrivals={arrivals} />
}

function NewsList({ arrivals }: { arrivals: readonly Arrival[] }) {
  const { data: vaults } = useQuery(query(listVaults, useService(), undefined))
  const news = listNews(arrivals, useOwner(), (chainId, vaultAddress) =>
    findVault(vaults?.data ?? [], { chainId, vaultAddress }),
  )
  if (news.length === 0) return null
  return (
    <section className="card" aria-labelledby="news">
      <div className="card-head">
        <h2 id="news">News</h2>
        <span className="fine">Since the service started</span>
      </div>
      <ul className="lines" aria-live="polite">
        {news.slice(0, SHOWN_NEWS).map((one) => (
          <li key={one.id}>
            <NewsLine news={one} />
          </li>
        ))}
      </ul>
    </section>
  )
}

function NewsLine({ news: { text, state, timestamp, chainId, vaultAddress } }: { news: News }) {
  return (
    <Link className="line" href={`/vaults/${chainId}/${vaultAddress}`}>
      <span>
        <strong>{text}</strong>
        <span className="row">
          <ChainBadge chainId={chainId} />
          <span className={`chip ${STATES[state].tone}`}>{STATES[state].text}</span>
          <span className="fine">{formatTime(timestamp)}</span>
        </span>
      </span>
    </Link>
  )
}
