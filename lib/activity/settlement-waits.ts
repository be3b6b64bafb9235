import * as z from 'zod'

/** How long requests of a vault wait for their settlement, by the vault's own last ones. */
export const EstimatedSettlement = z
  .object({
    p50: z.number().int().describe('Median wait of its last settlements, in seconds'),
    p90: z.number().int().describe('90th percentile of these waits, in seconds'),
  })
  .meta({
    id: 'EstimatedSettlement',
    description: "Time from a request to its settlement, from the vault's last settlements",
  })
export type EstimatedSettlement = z.output<typeof EstimatedSettlement>

const Waits = z.object({ p50: z.number().int(), p90: z.number().int() })

/** How long the requests of each of a vault's last settlements waited, in seconds, the oldest settlement first. */
export const LastWaits = z.array(Waits)
export type LastWaits = z.output<typeof LastWaits>

/** Of so many settlements a vault remembers how long they took, and tells of no fewer what to expect. */
const MOST_SETTLEMENTS = 20
const FEWEST_SETTLEMENTS = 5

/** The same after another settlement, of requests that waited so many seconds; unchanged where it settled none. */
export function addWaits(last: LastWaits, seconds: readonly number[]): LastWaits {
  if (seconds.length === 0) return last
  return [...last, { p50: percentile(seconds, 0.5), p90: percentile(seconds, 0.9) }].slice(-MOST_SETTLEMENTS)
}

/** How long a request is to wait, by the last settlements; null where they are too few to tell. */
export function estimateSettlement(last: LastWaits = []): EstimatedSettlement | null {
  if (last.length < FEWEST_SETTLEMENTS) return null
  return {
    p50: percentile(
      last.map(({ p50 }) => p50),
      0.5,
    ),
    p90: percentile(
      last.map(({ p90 }) => p90),
      0.9,
    ),
  }
}

/** The smallest of these numbers that so large a part of them is not above. */
function percentile(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((left, right) => left - right)
  // At least one number, by those who ask.
  return sorted[Math.ceil(sorted.length * part) - 1] as number
}
