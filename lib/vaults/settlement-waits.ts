import * as z from 'zod'
import { RequestKind } from '../protocols/request-kind.ts'

/** Expected time from a request to its settlement, estimated from the vault's last settlements. */
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

/** Seconds that requests waited for each of a vault's last settlements, oldest settlement first: median and 90th percentile. */
export const LastWaits = z.array(Waits)
export type LastWaits = z.output<typeof LastWaits>

/** Waiting times until a vault's last settlements, by kind of request (deposit or withdrawal). */
export const WaitsByKind = z.partialRecord(RequestKind, LastWaits)
export type WaitsByKind = z.output<typeof WaitsByKind>

/**
 * Maximum number of settlements whose waits are stored, per vault and kind of request. MIN_SETTLEMENTS is the number
 * that an estimate needs.
 */
const MAX_SETTLEMENTS = 20
const MIN_SETTLEMENTS = 5

/**
 * Adds the waits of one settlement to a vault's last settlements. `seconds` has one wait for each settled request.
 * Returns `last` unchanged if `seconds` is empty.
 */
export function addWaits(last: LastWaits, seconds: readonly number[]): LastWaits {
  if (seconds.length === 0) return last
  return [...last, { p50: percentile(seconds, 0.5), p90: percentile(seconds, 0.9) }].slice(-MAX_SETTLEMENTS)
}

/** Estimates the wait of a new request from the vault's last settlements; null if there are fewer than five settlements. */
export function estimateSettlement(last: LastWaits = []): EstimatedSettlement | null {
  if (last.length < MIN_SETTLEMENTS) return null
  const [medians, nineties] = [last.map(({ p50 }) => p50), last.map(({ p90 }) => p90)]
  return { p50: percentile(medians, 0.5), p90: percentile(nineties, 0.9) }
}

/** Returns the percentile `part` (0 to 1) of these numbers, by the nearest-rank method. */
function percentile(numbers: readonly number[], part: number): number {
  const sorted = numbers.toSorted((left, right) => left - right)
  // The cast holds: callers pass at least one number.
  return sorted[Math.ceil(sorted.length * part) - 1] as number
}
