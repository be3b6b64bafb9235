import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type GetVaultHistoryResponse, getVaultHistory, type Vault } from '@vaultline/client'
import { query } from '@vaultline/client/query'
import { useMemo, useState } from 'react'
import { useService } from '../context.ts'
import { formatNumber } from '../format.ts'
import { toNumber } from '../portfolio.ts'
import { Chart } from './chart.tsx'
import { Choices } from './choices.tsx'
import { ProblemNotice } from './notices.tsx'

const RANGES = [
  { value: '30d', text: '30D', title: '30 days' },
  { value: '90d', text: '90D', title: '90 days' },
  { value: '1y', text: '1Y', title: '1 year' },
] as const
type Range = (typeof RANGES)[number]['value']

const MEASURES = [
  { value: 'price', text: 'Price', title: 'Share price' },
  { value: 'yield', text: 'Yield', title: 'Yield' },
  { value: 'total', text: 'Total', title: 'In the vault' },
] as const
type Measure = (typeof MEASURES)[number]['value']

const NOTES: Readonly<Record<Measure, string>> = {
  price: 'Value of one share. It grows as the vault earns.',
  yield: 'APY over the seven days before, after fees.',
  total: 'All deposits in this vault with what they earned.',
}

/** Milliseconds for which the history counts as fresh; prices are recorded about every hour. */
const FRESH_MS = 60_000

/** Chart of a vault's share price, yield or total assets over time. */
export function VaultChart({ vault }: { vault: Vault }) {
  const { poolAddress: vaultAddress, chainId, name, asset } = vault
  const [range, setRange] = useState<Range>('30d')
  const [measure, setMeasure] = useState<Measure>('price')
  const history = useQuery({
    ...query(getVaultHistory, useService(), { vaultAddress, chainId, range }),
    staleTime: FRESH_MS,
    refetchInterval: FRESH_MS,
    placeholderData: keepPreviousData,
  })
  const points = useMemo(() => history.data && pointsOf(history.data, measure, asset.decimals), [history.data, measure])
  const title = MEASURES.find(({ value }) => value === measure)?.title ?? ''
  return (
    <section className="card" aria-labelledby="history">
      <div className="card-head">
        <h2 id="history">{title}</h2>
        <div className="row">
          <Choices label="Figure shown" options={MEASURES} value={measure} onChoose={setMeasure} />
          <Choices label="Time shown" options={RANGES} value={range} onChoose={setRange} />
        </div>
      </div>
      {history.error && !history.data ? (
        <ProblemNotice error={history.error} onRetry={() => void history.refetch()} />
      ) : (
        <div className={history.isPlaceholderData ? 'stale' : undefined}>
          <Chart
            points={points}
            format={(value) =>
              measure === 'yield' ? `${value.toFixed(2)}% APY` : `${formatNumber(value)} ${asset.symbol}`
            }
            label={`${title} of ${name}`}
            empty={EMPTY[measure]}
          />
        </div>
      )}
      <p className="fine">{NOTES[measure]}</p>
    </section>
  )
}

const EMPTY: Readonly<Record<Measure, string>> = {
  price: 'No history yet. The price is recorded about every hour.',
  yield: 'No yield yet. It needs seven days of prices.',
  total: 'No history yet. The total is recorded about every hour.',
}

/**
 * Returns the points of a vault's chart, without unknown values. Floating-point precision suffices, because no transaction depends on it.
 */
function pointsOf({ history }: GetVaultHistoryResponse, measure: Measure, decimals: number): [number, number][] {
  return history.flatMap(({ at, sharePrice, totalAssets, annualYield }) => {
    const value = {
      price: toNumber(sharePrice, decimals),
      yield: annualYield && Number(annualYield.percent),
      total: totalAssets === null ? null : toNumber(totalAssets, decimals),
    }[measure]
    return value === null ? [] : [[Date.parse(at), value]]
  })
}
