import { useEffect, useRef, useState } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatClock, formatDay, formatMonth, formatShortClock, formatTime } from '../format.ts'
import type { ChartProps, Points } from './chart.tsx'

const DAY_MS = 86_400_000
/** A line that hardly moves looks level: the height is at least this part of the value. */
const LEAST_HEIGHT = 0.005
/** A label nearer to an edge than this would be cut, in pixels. */
const LABEL_MARGIN = 28

/**
 * The line of a chart, with what is under the pointer written above it. The same for the keyboard and for screen readers is a
 * slider over the points. Of its own chunk, for the library that draws.
 */
export function Plot({ points, format, label }: ChartProps & { readonly points: Points }) {
  const space = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(null)
  const [index, setIndex] = useState<number>()
  const last = points.length - 1
  const shown = points[index ?? last] ?? points[last]
  const text = shown ? `${format(shown[1])}, ${formatTime(shown[0])}` : ''

  useEffect(() => {
    if (!space.current) return
    const drawn = draw(space.current, points, setIndex)
    plot.current = drawn.plot
    return drawn.stop
  }, [points])

  const moveTo = (next: number) => {
    const [time, value] = points[next] ?? []
    if (time === undefined || value === undefined) return
    plot.current?.setCursor({ left: plot.current.valToPos(time, 'x'), top: plot.current.valToPos(value, 'y') })
  }

  return (
    <>
      <p className="chart-readout figure" aria-hidden="true">
        {shown && <strong>{format(shown[1])}</strong>} <span className="fine">{shown && formatTime(shown[0])}</span>
      </p>
      <input
        type="range"
        className="hidden"
        aria-label={label}
        aria-valuetext={text}
        min={0}
        max={last}
        value={index ?? last}
        onChange={({ target }) => moveTo(Number(target.value))}
      />
      <div ref={space} className="chart-space" aria-hidden="true" />
    </>
  )
}

/** Draws the points into this element, as large as it is and in the page's colours, until `stop` is called. */
function draw(space: HTMLElement, points: Points, onMove: (index: number | undefined) => void) {
  const ink = ({ root }: UPlot) => getComputedStyle(root).color
  const plot = new UPlot(
    {
      ...sizeOf(space),
      ms: 1,
      padding: [8, 0, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 10, fill: 'currentColor' } },
      scales: { y: { range: (_, lowest, highest) => heightFor(lowest, highest) } },
      axes: [
        {
          stroke: () => getComputedStyle(space).color,
          font: '12px ui-sans-serif, system-ui, sans-serif',
          size: 28,
          space: 80,
          grid: { show: false },
          ticks: { show: false },
          values: labelTimes,
        },
        { show: false },
      ],
      series: [{}, { width: 2, stroke: ink, fill: softly, points: { show: false } }],
      hooks: { setCursor: [({ cursor: { idx } }) => onMove(idx ?? undefined)] },
    },
    [points.map(([time]) => time), points.map(([, value]) => value)],
    space,
  )
  const sizes = new ResizeObserver(() => plot.setSize(sizeOf(space)))
  sizes.observe(space)
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  const repaint = () => plot.redraw()
  scheme.addEventListener('change', repaint)
  return {
    plot,
    stop() {
      sizes.disconnect()
      scheme.removeEventListener('change', repaint)
      plot.destroy()
      onMove(undefined)
    },
  }
}

function sizeOf({ clientWidth, clientHeight }: HTMLElement) {
  return { width: clientWidth, height: clientHeight }
}

function heightFor(lowest: number, highest: number): [number, number] {
  const missing = Math.max(0, (Math.abs(highest) * LEAST_HEIGHT - (highest - lowest)) / 2)
  const margin = (highest - lowest) * 0.06
  return [lowest - missing - margin, highest + missing + margin]
}

/** The line's colour, fading towards the bottom; none of a chart that has left the page. */
function softly({ ctx, bbox, root }: UPlot): CanvasGradient | 'transparent' {
  const ink = getComputedStyle(root).color
  if (ink === '') return 'transparent'
  const area = ctx.createLinearGradient(0, bbox.top, 0, bbox.top + bbox.height)
  area.addColorStop(0, `color-mix(in srgb, ${ink} 22%, transparent)`)
  area.addColorStop(1, `color-mix(in srgb, ${ink} 0%, transparent)`)
  return area
}

/** How a time is written on an axis of so many milliseconds. */
function formatFor(length: number): (time: number) => string {
  if (length <= DAY_MS / 4) return formatClock
  if (length <= 2 * DAY_MS) return formatShortClock
  return length <= 300 * DAY_MS ? formatDay : formatMonth
}

/** Times as exactly as the whole chart's length asks for. */
function labelTimes(plot: UPlot, times: readonly number[]): string[] {
  const { min = 0, max = 0 } = plot.scales['x'] ?? {}
  const format = formatFor((max ?? 0) - (min ?? 0))
  return times.map((time) => {
    const left = plot.valToPos(time, 'x')
    return left < LABEL_MARGIN || left > plot.width - LABEL_MARGIN ? '' : format(time)
  })
}
