import type { BlockHeader } from '../chain/logs.ts'
import type { EvmChain } from '../chain/registry.ts'

type Moments = {
  /** Time of the last recorded block; seconds since 1970. */
  readonly recorded: bigint
  readonly head: Pick<BlockHeader, 'timestamp'> | undefined
  /** Current time in epoch milliseconds. */
  readonly now: number
}

/**
 * Returns the seconds by which the last recorded block lags behind the chain's latest block. If all nodes have stalled,
 * the latest block they report is too old. The lag is therefore at least the age of the last recorded block, minus the
 * seconds until a block is final.
 */
export function computeLagSeconds({ finality }: Pick<EvmChain, 'finality'>, { recorded, head, now }: Moments): number {
  const byClock = Math.floor(now / 1000) - finality.seconds - Number(recorded)
  return Math.max(0, Number((head?.timestamp ?? recorded) - recorded), byClock)
}
