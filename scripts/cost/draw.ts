/** Largest number of vaults for which `npm run bench:shards` counts requests. Beyond this number, a picture's line is dashed. */
export const MAX_MEASURED_COUNT = 10_000
/** Largest number on the horizontal axis of a picture. */
export const MAX_COUNT = 1e6

/**
 * Curve that shows a stage's monthly cost (`usd`) for a growing number, such as the number of users. As that number
 * grows, the stage reaches `limit` before the limits of other services.
 */
export type Curve = {
  readonly name: 'users' | 'vaults' | 'events' | 'clients'
  /** Label of the horizontal axis: name and unit of the growing number. */
  readonly axis: string
  readonly usd: (count: number) => number
  readonly limit: { readonly name: string; readonly at: number }
  /** Sentence about the curve, shown below its picture. */
  readonly says: string
}

// The drawing is as wide as a small phone, so that its text stays readable on a phone.
const SIZE = { width: 390, height: 300 }
const PLOT = { left: 48, right: 376, top: 34, bottom: 250 }
const STEPS_PER_DECADE = 24

/** Draws a curve as SVG, with its limit. The line is solid up to `MAX_MEASURED_COUNT` and dashed beyond. */
export function drawCurve({ name, axis, usd, limit }: Curve): string {
  const decades = Math.log10(MAX_COUNT)
  const low = Math.floor(Math.log10(usd(1)))
  const high = Math.ceil(Math.log10(usd(MAX_COUNT)))
  const x = (count: number) => round(PLOT.left + (Math.log10(count) / decades) * (PLOT.right - PLOT.left))
  const y = (value: number) =>
    round(PLOT.bottom - ((Math.log10(value) - low) / (high - low)) * (PLOT.bottom - PLOT.top))
  const line = (from: number, to: number) => {
    const steps = Math.round(Math.log10(to / from) * STEPS_PER_DECADE)
    const counts = Array.from({ length: steps + 1 }, (_, step) => Math.round(from * 10 ** (step / STEPS_PER_DECADE)))
    return `M${counts.map((count) => `${x(count)} ${y(usd(count))}`).join('L')}`
  }
  const powers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index))
  const text = (at: readonly [number, number], anchor: string, what: string, more = '') =>
    `<text x="${at[0]}" y="${at[1]}" text-anchor="${anchor}"${more}>${what}</text>`
  const { left, right, top, bottom } = PLOT
  const end = x(limit.at)
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" width="${SIZE.width * 1.6}" height="${SIZE.height * 1.6}" font-family="sans-serif" font-size="12" fill="#222">`,
    `<title>Growth by ${name}</title>`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    text([8, 18], 'start', 'US dollars a month'),
    ...powers(low, high).flatMap((usd) => [
      `<path d="M${left} ${y(usd)}H${right}" stroke="#ddd"/>`,
      text([left - 6, y(usd) + 4], 'end', `$${short(usd)}`),
    ]),
    ...powers(0, decades).map((count) => text([x(count), bottom + 18], 'middle', short(count))),
    text([(left + right) / 2, bottom + 40], 'middle', axis),
    `<path d="M${left} ${top}V${bottom}H${right}" fill="none" stroke="#666"/>`,
    `<path d="M${end} ${top}V${bottom}" stroke="#b3261e" stroke-width="1.5"/>`,
    text([end - 6, top + 14], 'end', limit.name, ' fill="#b3261e"'),
    text([end - 6, top + 30], 'end', formatRoundedNumber(limit.at), ' fill="#b3261e"'),
    `<path d="${line(1, MAX_MEASURED_COUNT)}" fill="none" stroke="#1a56b0" stroke-width="2"/>`,
    `<path d="${line(MAX_MEASURED_COUNT, MAX_COUNT)}" fill="none" stroke="#1a56b0" stroke-width="2" stroke-dasharray="5 4"/>`,
    `<circle cx="${x(MAX_MEASURED_COUNT)}" cy="${y(usd(MAX_MEASURED_COUNT))}" r="3.5" fill="#1a56b0"/>`,
    text([x(MAX_MEASURED_COUNT) - 8, y(usd(MAX_MEASURED_COUNT)) - 8], 'end', formatDollars(usd(MAX_MEASURED_COUNT))),
    '</svg>',
  ].join('\n')}\n`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function short(count: number): string {
  return count.toLocaleString('en', { notation: 'compact' })
}

/** Rounds a number to a whole number and formats it with thousands separators. */
export function formatWholeNumber(count: number): string {
  return Math.round(count).toLocaleString('en')
}

/** Formats a number rounded to two significant digits. */
export function formatRoundedNumber(count: number): string {
  return formatWholeNumber(Number(count.toPrecision(2)))
}

/** Formats dollars rounded to two significant digits. */
export function formatDollars(usd: number): string {
  return `$${formatRoundedNumber(usd)}`
}
