const WIDTH = 64
const HEIGHT = 28

/**
 * Draws values as a small line without labels. Screen readers skip the line, because the figures beside it say the same. Renders nothing
 * for fewer than two values.
 */
export function Sparkline({ values }: { values: readonly number[] }) {
  if (values.length < 2) return null
  const lowest = values.reduce((left, right) => Math.min(left, right))
  const highest = values.reduce((left, right) => Math.max(left, right))
  const points = values.map((value, index) => {
    const left = (index / (values.length - 1)) * WIDTH
    const top = highest === lowest ? HEIGHT / 2 : (1 - (value - lowest) / (highest - lowest)) * (HEIGHT - 4) + 2
    return `${left.toFixed(1)} ${top.toFixed(1)}`
  })
  return (
    <svg className="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
      <path d={`M${points.join('L')}`} />
    </svg>
  )
}
