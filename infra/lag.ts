import type { JobContract } from '../lib/frame/contract.ts'

/** After so long behind, what is kept is no longer what users take for the present. */
const MAX_LAG_SECONDS = 30 * 60

/** The lag of a job, in seconds, from which on there is an alarm: 30 minutes, or three runs of one that runs less often. */
export function longestLagSeconds({ everyMinutes }: Pick<JobContract, 'everyMinutes'>): number {
  return Math.max(MAX_LAG_SECONDS, 3 * everyMinutes * 60)
}
