import { useQueries } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useCurrency, useService } from '../context.ts'
import { formatDay, formatMoney } from '../format.ts'
import { historyQuery, type PricedToken } from '../histories.ts'
import { findCoin, findVaultOfShare, keyOfToken, sumHistories, toNumber } from '../portfolio.ts'
import { isSameFailure } from '../problems.ts'
import type { Portfolio } from '../use-portfolio.ts'
import { Chart } from './chart.tsx'
import { Choices } from './choices.tsx'
import { MissingChains } from './missing-chains.tsx'
import { ProblemNotice } from './notices.tsx'

const RANGES = [
  { value: '7', text: '7D', title: '7 days' },
  { value: '30', text: '30D', title: '30 days' },
  { value: '365', text: '1Y', title: '1 year' },
] as const

type Range = (typeof RANGES)[number]['value']

/** Maximum number of tokens whose price history is fetched. Each token costs a request, and less valuable tokens change the sum little. */
const MAX_TOKENS = 12

/** Draws the past value of today's holdings, with a note on tokens without past prices. */
export function HoldingsChart({ portfolio }: { portfolio: Portfolio }) {
  const service = useService()
  const currency = useCurrency()
  const [range, setRange] = useState<Range>('30')
  const all = listChartHoldings(portfolio)
  const tokensWithPast = all.filter(({ hasPast }) => hasPast).slice(0, MAX_TOKENS)
  const histories = useQueries({
    queries: tokensWithPast.map(({ token }) => historyQuery(service, token, currency, range)),
  })

  const parts = tokensWithPast.flatMap(({ amount }, index) => {
    const prices = histories[index]?.data?.data.prices
    return prices?.length ? [{ amount, prices }] : []
  })
  const isLoading = portfolio.isLoading || histories.some((history) => history.isLoading)
  const tokens = tokensWithPast.map(({ token }) => keyOfToken(token.chainId, token.address))
  const changed = `${isLoading} ${range} ${currency} ${tokens} ${histories.map(({ dataUpdatedAt }) => dataUpdatedAt)} ${tokensWithPast.map(({ amount }) => amount)}`
  // Each render creates new arrays from the same data. Without the memo, the chart would be drawn again each time.
  const points = useMemo(() => (isLoading ? undefined : sumHistories(parts)), [changed])

  const problem = histories.find(({ error, data }) => error && !data)
  const without = all
    .filter((one) => !histories[tokensWithPast.indexOf(one)]?.data?.data.prices.length)
    .map(({ symbol }) => symbol)
  const isShown = (error: unknown) =>
    [portfolio.positionProblem, portfolio.balances.error].some((other) => isSameFailure(error, other))
  const isOld = histories.some(({ data, isPlaceholderData }) => data?.isStale || isPlaceholderData)
  const isShort = histories.some(({ data }) => data?.data.truncated)
  const start = points?.[0]?.[0]
  if (!isLoading && all.length === 0) return null
  return (
    <section className="card" aria-labelledby="past">
      <div className="card-head">
        <h2 id="past">
          Today’s holdings at past prices <MissingChains portfolio={portfolio} />
        </h2>
        <Choices label="Time shown" options={RANGES} value={range} onChoose={setRange} />
      </div>
      <div className={isOld ? 'stale' : undefined}>
        <Chart
          points={points}
          format={(value) => formatMoney(value, currency)}
          label="Value of today’s holdings at past prices"
          empty="No past prices for what you hold."
        />
      </div>
      <p className="fine">
        What you hold now, at each day’s prices. Past purchases and sales are not included.
        {isShort && start !== undefined && ` All prices are known from ${formatDay(start)} on.`}
        {!isLoading && without.length > 0 && ` No past prices for ${[...new Set(without)].join(', ')}.`}
      </p>
      {problem && parts.length === 0 && !isShown(problem.error) && (
        <ProblemNotice error={problem.error} onRetry={() => histories.forEach(({ refetch }) => void refetch())} />
      )}
    </section>
  )
}

type ChartHolding = {
  readonly token: PricedToken
  readonly symbol: string
  readonly amount: number
  readonly value: number
  /** True if the token has past prices. Vault shares, and tokens without a present price, have none. */
  readonly hasPast: boolean
}

function listChartHoldings({ holdings, positions, coins, vaults }: Portfolio): readonly ChartHolding[] {
  const holdingsByKey = new Map<string, ChartHolding>()
  const add = (
    chainId: number,
    address: string,
    one: { symbol: string; amount: number; value: number | null; isShare: boolean },
  ) => {
    const coinId = findCoin(coins.data?.data ?? [], chainId, address)?.id ?? undefined
    const key = coinId ?? keyOfToken(chainId, address)
    const before = holdingsByKey.get(key)
    holdingsByKey.set(key, {
      token: { coinId, chainId, address },
      symbol: before?.symbol ?? one.symbol,
      amount: (before?.amount ?? 0) + one.amount,
      value: (before?.value ?? 0) + (one.value ?? 0),
      hasPast: (before?.hasPast ?? false) || (one.value !== null && !one.isShare),
    })
  }
  for (const holding of holdings) {
    const { chainId, address, symbol, units, decimals, value, isSpam, isShare } = holding
    const asset = isShare ? findVaultOfShare(vaults.data?.data ?? [], holding)?.depositTokenAddress : undefined
    const coin = asset && findCoin(coins.data?.data ?? [], chainId, asset)
    // Vault shares have no past prices. The chart shows them as the amount of the vault's asset that has the same
    // value.
    if (asset && coin?.current_price && value !== null) {
      add(chainId, asset, {
        symbol: coin.contract_ticker_symbol,
        amount: value / coin.current_price,
        value,
        isShare: false,
      })
    } else if (!isSpam) add(chainId, address, { symbol, amount: toNumber(units, decimals), value, isShare })
  }
  for (const { chainId, asset, assetSymbol, assetDecimals, currentValue, value } of positions) {
    if (asset)
      add(chainId, asset, { symbol: assetSymbol, amount: toNumber(currentValue, assetDecimals), value, isShare: false })
  }
  return [...holdingsByKey.values()].toSorted((left, right) => right.value - left.value)
}
