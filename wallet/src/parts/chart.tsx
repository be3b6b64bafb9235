import { lazy, Suspense } from 'react'
import { formatDateTime, LOCALE } from '../format.ts'
import { Skeleton } from './skeletons.tsx'

/** Points of a chart: pairs of epoch milliseconds and a value, in order of time. */
export type Points = readonly (readonly [number, number])[]

export type ChartProps = {
  readonly points: Points | undefined
  readonly format: (value: number) => string
  /** Meaning of the values, such as "Price of ETH". */
  readonly label: string
  /** Text that replaces the line if there are fewer than two points. */
  readonly empty?: string
}

const Plot = lazy(async () => {
  setKnownLanguage()
  return { default: (await import('./plot.tsx')).Plot }
})

/** Sets a language that Intl knows. The chart's library fails to load with an unknown language, such as `en-US@posix`. */
function setKnownLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language)
  } catch {
    Object.defineProperty(navigator, 'language', { value: LOCALE })
  }
}

/** Draws values as a line over time, with a description in words. The chart keeps its size while it loads or is empty. */
export function Chart({ points, format, label, empty = 'No data for this period.' }: ChartProps) {
  const loading = (
    <div className="chart-space" role="status" aria-label="Loading the chart">
      <Skeleton width="100%" />
    </div>
  )
  if (!points) return <div className="chart">{loading}</div>
  if (points.length < 2) return <p className="chart chart-space fine">{empty}</p>
  return (
    <figure className="chart">
      <Suspense fallback={loading}>
        <Plot points={points} format={format} label={label} />
      </Suspense>
      <figcaption className="fine">
        <Summary points={points} format={format} />
      </figcaption>
    </figure>
  )
}

function Summary({ points, format }: { points: Points; format: (value: number) => string }) {
  const [first, last] = [points[0], points.at(-1)]
  const values = points.map(([, value]) => value)
  // Math.min(...values) would fail, because years of points exceed the maximum number of arguments.
  const lowest = values.reduce((left, right) => Math.min(left, right))
  const highest = values.reduce((left, right) => Math.max(left, right))
  return (
    <>
      <span className="hidden">
        From {first && `${format(first[1])}, ${formatDateTime(first[0])},`} to{' '}
        {last && `${format(last[1])}, ${formatDateTime(last[0])}`}.{' '}
      </span>
      <span className="figure">Lowest {format(lowest)}</span>
      <span className="hidden">, </span>
      <span className="figure">Highest {format(highest)}</span>
    </>
  )
}
