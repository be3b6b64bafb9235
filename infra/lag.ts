import type { JobContract } from '../lib/frame/contract.ts'

/** Maximum age of data, in seconds, at which users may still take the data for current. */
const MAX_LAG_SECONDS = 30 * 60

/** Returns the lag of a job's data, in seconds, that triggers an alarm: 30 minutes, or three intervals of the job if that is longer. */
export function maxLagSeconds({ everyMinutes }: Pick<JobContract, 'everyMinutes'>): number {
  return Math.max(MAX_LAG_SECONDS, 3 * everyMinutes * 60)
}
