import type { BlockHeader } from '../chain/logs.ts'
import type { EvmChain } from '../chain/registry.ts'

type Moments = {
  /** The time of the last recorded block; seconds since 1970. */
  readonly recorded: bigint
  /** The chain's last block; undefined where no node tells it. */
  readonly head: Pick<BlockHeader, 'timestamp'> | undefined
  /** Epoch milliseconds. */
  readonly now: number
}

/**
 * How many seconds a chain's records are behind: as its head has it, or the clock, less what finality takes, where that is
 * more, as at nodes of which none goes on.
 */
export function lagOf({ finality }: Pick<EvmChain, 'finality'>, { recorded, head, now }: Moments): number {
  const byClock = Math.floor(now / 1000) - finality.seconds - Number(recorded)
  return Math.max(0, Number((head?.timestamp ?? recorded) - recorded), byClock)
}
