import type { BlockHeader } from '../chain/logs.ts'
import type { EvmChain } from '../chain/registry.ts'

type Moments = {
  /** Time of the last recorded block; seconds since 1970. */
  readonly recorded: bigint
  readonly head: Pick<BlockHeader, 'timestamp'> | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

/**
 * Returns the seconds by which the records lag behind the chain's head. If the clock minus the finality time gives more (all nodes
 * stalled), returns that.
 */
export function computeLagSeconds({ finality }: Pick<EvmChain, 'finality'>, { recorded, head, now }: Moments): number {
  const byClock = Math.floor(now / 1000) - finality.seconds - Number(recorded)
  return Math.max(0, Number((head?.timestamp ?? recorded) - recorded), byClock)
}
