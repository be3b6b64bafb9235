import { useEffect, useRef, useState } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { formatClock, formatDateTime, formatDay, formatHour, formatMonth } from '../format.ts'
import { labelValues } from '../scale.ts'
import type { ChartProps, Points } from './chart.tsx'

const DAY_MS = 86_400_000
/** Minimum height of the scale as a fraction of the value, so that a line that hardly moves looks level. */
const MIN_HEIGHT = 0.005
const FONT = '12px ui-sans-serif, system-ui, sans-serif'
/** Number by which the drawing library names the right side of a chart. */
const RIGHT = 1
/** Minimum width of the vertical scale in pixels. Labels with many digits make the scale wider. */
const MIN_SCALE_WIDTH = 36
/** Width of one digit of a label, in pixels. */
const DIGIT_WIDTH = 7
/** Distance from an edge below which a label would be cut, in pixels. */
const LABEL_MARGIN = 28

/**
 * Draws a chart's line, with the value under the pointer written above it. A slider over the points serves the keyboard and screen readers.
 * This component is loaded separately because the drawing library is large.
 */
export function Plot({ points, format, label }: ChartProps & { readonly points: Points }) {
  const space = useRef<HTMLDivElement>(null)
  const plot = useRef<UPlot>(null)
  const [index, setIndex] = useState<number>()
  const last = points.length - 1
  const shown = points[index ?? last] ?? points[last]
  const text = shown ? `${format(shown[1])}, ${formatDateTime(shown[0])}` : ''

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
        {shown && <strong>{format(shown[1])}</strong>} <span className="fine">{shown && formatDateTime(shown[0])}</span>
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
          font: FONT,
          size: 28,
          space: 80,
          grid: { show: false },
          ticks: { show: false },
          values: labelTimes,
        },
        {
          side: RIGHT,
          stroke: () => getComputedStyle(space).color,
          font: FONT,
          size: (_, values) => Math.max(MIN_SCALE_WIDTH, longestOf(values) * DIGIT_WIDTH + 12),
          space: 44,
          gap: 6,
          grid: { stroke: () => fade(getComputedStyle(space).color, 20), width: 1 },
          ticks: { show: false },
          values: (_, values, _axis, _space, step) => labelValues(values, step),
        },
      ],
      series: [{}, { width: 2, stroke: ink, fill: createFade, points: { show: false } }],
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
  const missing = Math.max(0, (Math.abs(highest) * MIN_HEIGHT - (highest - lowest)) / 2)
  const margin = (highest - lowest) * 0.06
  return [lowest - missing - margin, highest + missing + margin]
}

/** Returns the fill below the line: its colour, fading towards the bottom. Transparent for a chart that was removed from the page. */
function createFade({ ctx, bbox, root }: UPlot): CanvasGradient | 'transparent' {
  const ink = getComputedStyle(root).color
  if (ink === '') return 'transparent'
  const area = ctx.createLinearGradient(0, bbox.top, 0, bbox.top + bbox.height)
  area.addColorStop(0, fade(ink, 22))
  area.addColorStop(1, fade(ink, 0))
  return area
}

function fade(color: string, percent: number): string {
  return `color-mix(in srgb, ${color} ${percent}%, transparent)`
}

/** Returns the length of the longest label; 0 if the drawing library passes no labels. */
function longestOf(values: readonly string[] | null): number {
  return Math.max(0, ...(values ?? []).map(({ length }) => length))
}

function formatFor(length: number): (time: number) => string {
  if (length <= DAY_MS / 4) return formatClock
  if (length <= 2 * DAY_MS) return formatHour
  return length <= 300 * DAY_MS ? formatDay : formatMonth
}

function labelTimes(plot: UPlot, times: readonly number[]): string[] {
  const { min = 0, max = 0 } = plot.scales['x'] ?? {}
  const format = formatFor((max ?? 0) - (min ?? 0))
  return times.map((time) => {
    const left = plot.valToPos(time, 'x')
    return left < LABEL_MARGIN || left > plot.width - LABEL_MARGIN ? '' : format(time)
  })
}
