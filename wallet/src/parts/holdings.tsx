import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link } from 'wouter'
import { chainName } from '../chains.ts'
import { useCurrency, useService } from '../context.ts'
import { formatClock } from '../format.ts'
import { historyQuery, type PricedToken } from '../histories.ts'
import { CHAIN_OF_KEY, type CoinHolding, findCoin, groupByCoin, type Holding } from '../portfolio.ts'
import { describeReason, isSameFailure } from '../problems.ts'
import type { Portfolio } from '../use-portfolio.ts'
import { Amount, Change, DataTime, Money } from './figures.tsx'
import { EmptyNotice, MissingData, ProblemNotice } from './notices.tsx'
import { SkeletonRows } from './skeletons.tsx'
import { Sparkline } from './sparkline.tsx'
import { ChainBadge, TokenIcon } from './tokens.tsx'

const TREND_DAYS = '30'
/** Smallest price movement for which a trend line is drawn, as a fraction of the price. */
const MIN_MOVEMENT = 0.01

/** Lists the tokens in the linked wallets. Possible spam is shown only after a click. */
export function Holdings({ portfolio }: { portfolio: Portfolio }) {
  const { isLoggedIn, linked, wallets, balances, holdings, coins, positionProblem } = portfolio
  const [isSpamShown, setSpamShown] = useState(false)
  // Vault shares are left out here, because the page lists them among the vaults.
  const tokens = holdings.filter(({ isShare }) => !isShare)
  const spam = tokens.filter(({ isSpam }) => isSpam)
  const shown = tokens.filter(({ isSpam }) => isSpamShown || !isSpam)
  const idOf = ({ chainId, address }: Holding) => findCoin(coins.data?.data ?? [], chainId, address)?.id ?? undefined
  if (!isLoggedIn) {
    return (
      <EmptyNotice title="Log in to see your tokens" action={{ href: '/account', text: 'Log in' }}>
        Log in and link your wallet. Its tokens and their value appear here.
      </EmptyNotice>
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
      <MissingData errors={withTimes(balances.data?.data)} nameOf={nameOfKey} />
      {balances.error && !isSameFailure(balances.error, positionProblem) && (
        <ProblemNotice error={balances.error} onRetry={() => void balances.refetch()} />
      )}
      {!balances.data && !balances.error && <SkeletonRows count={4} />}
      {balances.data && wallets.data && shown.length === 0 && (
        <EmptyNotice
          title={linked.length > 0 ? 'Your wallets are empty' : 'No wallet is linked'}
          {...(linked.length === 0 && { action: { href: '/account', text: 'Link a wallet' } })}
        >
          {linked.length > 0
            ? 'Tokens appear here when they receive some.'
            : 'Connect a wallet and link it to your account to see its tokens.'}
        </EmptyNotice>
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
            {groupByCoin(shown, coins.data?.data ?? []).map((coin) => (
              <CoinRows key={coin.key} coin={coin} coinId={idOf(coin.holdings[0])} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

function CoinRows({ coin, coinId }: { coin: CoinHolding; coinId: string | undefined }) {
  const { holdings, units, decimals, value, valueBefore } = coin
  const [isOpen, setOpen] = useState(false)
  const [first] = holdings
  const { chainId, address, symbol, name, logoUrl, price, isSpam } = first
  const hasChains = holdings.length > 1
  const old = holdings.find(({ asOf }) => asOf)?.asOf
  const title = <strong>{symbol || name}</strong>
  return (
    <>
      <tr className={old ? 'stale' : undefined}>
        <th scope="row" title={name}>
          <span className="row-link">
            <TokenIcon symbol={symbol} url={logoUrl} isListed={coinId !== undefined} />
            <span>
              {coinId ? <Link href={`/markets/${coinId}`}>{title}</Link> : title}
              <span>
                {hasChains ? (
                  <button
                    type="button"
                    className="chip chains"
                    aria-expanded={isOpen}
                    aria-label={`${symbol} on ${holdings.length} chains`}
                    onClick={() => setOpen(!isOpen)}
                  >
                    {holdings.length} chains
                  </button>
                ) : (
                  <ChainBadge chainId={chainId} />
                )}{' '}
                {isSpam && <span className="chip warn">Spam</span>}
              </span>
            </span>
          </span>
        </th>
        <td className="trend">{price !== null && <Trend token={{ coinId, chainId, address }} />}</td>
        <td data-label="Price">
          <span className="pair">
            {price === null ? (
              <span className="fine" title={noPrice(first)}>
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
            {old && <DataTime time={old} />}
          </span>
        </td>
        <td data-label="Value">
          <strong>
            <Money value={value} why={noPrice(first)} />
          </strong>
        </td>
      </tr>
      {isOpen && holdings.map((holding) => <ChainRow key={holding.chainId} holding={holding} />)}
    </>
  )
}

function ChainRow({ holding }: { holding: Holding }) {
  const { chainId, units, decimals, symbol, value, asOf } = holding
  return (
    <tr className={asOf ? 'part stale' : 'part'}>
      <th scope="row">
        <ChainBadge chainId={chainId} />
      </th>
      <td className="trend" />
      <td />
      <td data-label="Amount">
        <span className="pair">
          <Amount units={units} decimals={decimals} symbol={symbol} />
          {asOf && <DataTime time={asOf} />}
        </span>
      </td>
      <td data-label="Value">
        <Money value={value} why={noPrice(holding)} />
      </td>
    </tr>
  )
}

function noPrice({ isSpam }: Holding): string {
  return isSpam ? 'It looks like spam, and has no price.' : 'No market has a price for it.'
}

function Trend({ token }: { token: PricedToken }) {
  const { data } = useQuery(historyQuery(useService(), token, useCurrency(), TREND_DAYS))
  const values = (data?.data.prices ?? []).map(([, price]) => price)
  const [lowest, highest] = [
    values.reduce((left, right) => Math.min(left, right), Number.POSITIVE_INFINITY),
    values.reduce((left, right) => Math.max(left, right), 0),
  ]
  return highest > lowest * (1 + MIN_MOVEMENT) ? <Sparkline values={values} /> : null
}

function nameOfKey(key: string): string {
  // The cast is safe because the service names its chains only by these keys.
  return chainName(CHAIN_OF_KEY[key as keyof typeof CHAIN_OF_KEY])
}

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
