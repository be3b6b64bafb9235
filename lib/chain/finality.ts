import { max } from '../core/bigint.ts'
import { toResult } from '../core/result.ts'
import { maxNodeLag, narrowBlockSearch, nextSearchBlock, startBlockSearch } from './blocks.ts'
import { BlockHeader, blockRequest, parseResult } from './logs.ts'
import type { ChainReader } from './reader.ts'
import type { EvmChain } from './registry.ts'
import type { RpcOutcome, RpcRequest } from './rpc.ts'

/**
 * A chain's latest block and the newest block at its tag `safe` or `finalized`, as one node reports them. Both decide
 * whether a block is final.
 */
export type ChainFinality = {
  readonly head: BlockHeader
  /** Block that the node returns for the chain's tag, `safe` or `finalized`; undefined if the node does not know the tag. */
  readonly tagged: BlockHeader | undefined
  /** True for a block at or before the tagged block that is also as old as the chain's registry entry requires. */
  readonly isFinal: (block: BlockHeader) => boolean
  /** True if all blocks up to this time, in seconds since 1970, are final. */
  readonly isPast: (time: bigint) => boolean
}

const MAX_READS = 16

/** Returns the two requests whose outcomes `parseFinality` needs. The caller can add them to a batch of other requests. */
export function finalityRequests({ finality }: EvmChain): [RpcRequest, RpcRequest] {
  return [blockRequest(finality.tag), blockRequest('latest')]
}

/** Parses the outcomes of `finalityRequests`. Throws `upstream_bad_answer` if the node returned no latest block. */
export function parseFinality(
  { finality }: EvmChain,
  [tag, latest]: readonly (RpcOutcome | undefined)[],
): ChainFinality {
  const head = parseResult(BlockHeader, latest)
  const taggedHeader = BlockHeader.safeParse(tag && 'result' in tag ? tag.result : undefined).data
  // Another node behind the same URL may return a tagged block above the latest block. The latest block then replaces it.
  const tagged = taggedHeader && (taggedHeader.number > head.number ? head : taggedHeader)
  const last = tagged ?? head
  const isOld = (time: bigint) => head.timestamp - time >= BigInt(finality.seconds)
  return {
    head,
    tagged,
    isFinal: ({ number, timestamp }) => number <= last.number && isOld(timestamp),
    isPast: (time) => last.timestamp > time && isOld(time),
  }
}

/**
 * Reads the chain's latest block and a final block. The block at the chain's tag is final if it is old enough.
 * Otherwise up to 16 more requests search for an older block. The search ends at a block that is at most a sixteenth
 * older than required, or after these requests. Throws `upstream_*`.
 */
export async function readFinalBlock({
  chain,
  request,
}: ChainReader): Promise<{ readonly head: BlockHeader; readonly final: BlockHeader }> {
  const { head, tagged = head, isFinal } = parseFinality(chain, await request(finalityRequests(chain)))
  if (isFinal(tagged)) return { head, final: tagged }

  const young = head.timestamp - BigInt(chain.finality.seconds) + 1n
  let search = startBlockSearch(tagged, chain.blockSeconds)
  for (let attempt = 0; attempt < MAX_READS; attempt += 1) {
    const number = nextSearchBlock(search, young, BigInt(chain.finality.seconds) / 16n)
    if (number === undefined) break
    const [outcome] = await request([blockRequest(number)])
    const { timestamp } = parseResult(BlockHeader, outcome)
    search = narrowBlockSearch(search, young, { number, timestamp })
  }
  return { head, final: search.low ?? { number: 0n, timestamp: 0n } }
}

/**
 * Calls `read` with the number of the latest block. If that fails, calls `read` once more with a block that is a few
 * blocks older. Not every node behind one URL has the latest block yet. Throws the error of the second call.
 */
export async function readAtHead<T>(
  { chain }: Pick<ChainReader, 'chain'>,
  { number }: BlockHeader,
  read: (at: bigint) => Promise<T>,
): Promise<T> {
  const atHead = await toResult(read(number))
  return 'value' in atHead ? atHead.value : read(max(0n, number - maxNodeLag(chain)))
}
