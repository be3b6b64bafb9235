import { lazy, Suspense } from 'react'
import { formatTime, LOCALE } from '../format.ts'
import { Skeleton } from './skeletons.tsx'

/** What a chart shows: moments in epoch milliseconds with their values, ascending. */
export type Points = readonly (readonly [number, number])[]

export type ChartProps = {
  /** Undefined while they are being loaded. */
  readonly points: Points | undefined
  /** How a value is written. */
  readonly format: (value: number) => string
  /** What the values are: "Price of ETH". */
  readonly label: string
  /** Said in place of the line where there are fewer than two points. */
  readonly empty?: string
}

const Plot = lazy(async () => {
  correctLanguage()
  return { default: (await import('./plot.tsx')).Plot }
})

/** The library asks Intl for numbers in the browser's language as it is loaded, and breaks where that is none: `en-US@posix`. */
function correctLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language)
  } catch {
    Object.defineProperty(navigator, 'language', { value: LOCALE })
  }
}

/** A line over time with what it says in words. It keeps its size while it loads and where it is empty. */
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
  // Not Math.min(...values): years of points are more arguments than a call takes.
  const lowest = values.reduce((left, right) => Math.min(left, right))
  const highest = values.reduce((left, right) => Math.max(left, right))
  return (
    <>
      <span className="hidden">
        From {first && `${format(first[1])}, ${formatTime(first[0])},`} to{' '}
        {last && `${format(last[1])}, ${formatTime(last[0])}`}.{' '}
      </span>
      <span className="figure">Lowest {format(lowest)}</span>
      <span className="hidden">, </span>
      <span className="figure">Highest {format(highest)}</span>
    </>
  )
}
