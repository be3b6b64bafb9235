import { max } from '../core/bigint.ts'
import { toResult } from '../core/result.ts'
import { maxNodeLag, narrowBlockSearch, nextSearchBlock, startBlockSearch } from './blocks.ts'
import { BlockHeader, blockRequest, parseResult } from './logs.ts'
import type { ChainReader } from './reader.ts'
import type { EvmChain } from './registry.ts'
import type { RpcOutcome, RpcRequest } from './rpc.ts'

/** State of a chain, as one node reports it, that decides whether blocks are final. */
export type Finality = {
  readonly head: BlockHeader
  /** Block at the chain's own tag, `safe` or `finalized`; undefined if the node does not know the tag. */
  readonly tagged: BlockHeader | undefined
  /** True if the block is not after the tagged block, and as old as the registry requires. */
  readonly isFinal: (block: BlockHeader) => boolean
  /** True if all blocks up to this time, in seconds since 1970, are final. */
  readonly isPast: (time: bigint) => boolean
}

const MAX_READS = 16

/** Returns the two requests for `parseFinality`, so that they can be sent with others. */
export function finalityRequests({ finality }: EvmChain): [RpcRequest, RpcRequest] {
  return [blockRequest(finality.tag), blockRequest('latest')]
}

/** Parses the outcomes of `finalityRequests`. Throws `upstream_bad_answer` if there is no head. */
export function parseFinality({ finality }: EvmChain, [tag, latest]: readonly (RpcOutcome | undefined)[]): Finality {
  const head = parseResult(BlockHeader, latest)
  const taggedHeader = BlockHeader.safeParse(tag && 'result' in tag ? tag.result : undefined).data
  // The tag's block cannot be above the head. It then comes from another node behind the same URL, so the head replaces it.
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
 * Reads the chain's head and its newest final block, precise to a sixteenth of the age that the registry requires.
 * Takes one request if the block at the chain's tag is old enough, else up to 16 more. Throws `upstream_*`.
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
 * Calls `read` for the block of a head. Calls it for an earlier block if that fails, because not every node behind a
 * URL knows the head yet. Throws what `read` throws.
 */
export async function readAtHead<T>(
  { chain }: Pick<ChainReader, 'chain'>,
  { number }: BlockHeader,
  read: (at: bigint) => Promise<T>,
): Promise<T> {
  const atHead = await toResult(read(number))
  return 'value' in atHead ? atHead.value : read(max(0n, number - maxNodeLag(chain)))
}
