import type { JobContract } from '../lib/frame/contract.ts'

/** Maximum age of data that users may take for current. */
const MAX_LAG_SECONDS = 30 * 60

/** Returns the lag of a job, in seconds, that raises an alarm: 30 minutes, or three runs if that is longer. */
export function longestLagSeconds({ everyMinutes }: Pick<JobContract, 'everyMinutes'>): number {
  return Math.max(MAX_LAG_SECONDS, 3 * everyMinutes * 60)
}
