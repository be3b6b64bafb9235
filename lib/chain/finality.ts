import { max } from '../bigint.ts'
import { toResult } from '../result.ts'
import { blocksApart, narrowBlockSearch, nextLook, startBlockSearch } from './blocks.ts'
import { BlockHeader, blockRequest, parseResult } from './logs.ts'
import type { ChainReader } from './reader.ts'
import type { EvmChain } from './registry.ts'
import type { RpcOutcome, RpcRequest } from './rpc.ts'

/** Which of a chain's blocks can no longer change, as one node sees it. */
export type Finality = {
  readonly head: BlockHeader
  /** The block that the chain's own tag has reached; undefined where the node does not know the tag. */
  readonly tagged: BlockHeader | undefined
  /** Whether the chain's tag has reached the block and it is as old as the registry asks for. */
  readonly isFinal: (block: BlockHeader) => boolean
  /** Whether all blocks up to this time, in seconds since 1970, are final. */
  readonly isPast: (time: bigint) => boolean
}

/** How many blocks are looked at at most for one that is old enough. */
const MOST_LOOKS = 16

/** The two calls that tell a chain's finality, to be sent with others. */
export function finalityRequests({ finality }: EvmChain): [RpcRequest, RpcRequest] {
  return [blockRequest(finality.tag), blockRequest('latest')]
}

/** The finality that the outcomes of `finalityRequests` tell. Throws `upstream_bad_answer` where there is no head. */
export function parseFinality({ finality }: EvmChain, [tag, latest]: readonly (RpcOutcome | undefined)[]): Finality {
  const head = parseResult(BlockHeader, latest)
  const told = BlockHeader.safeParse(tag && 'result' in tag ? tag.result : undefined).data
  // Above the head it is another node's.
  const tagged = told && (told.number > head.number ? head : told)
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
 * The chain's head and its newest final block, found to a sixteenth of the time that the registry asks for: one round
 * trip where the chain's tag is old enough, at most 16 more where it is not. Throws `upstream_*`.
 */
export async function readFinalBlock({
  chain,
  request,
}: ChainReader): Promise<{ readonly head: BlockHeader; readonly final: BlockHeader }> {
  const { head, tagged = head, isFinal } = parseFinality(chain, await request(finalityRequests(chain)))
  if (isFinal(tagged)) return { head, final: tagged }

  const young = head.timestamp - BigInt(chain.finality.seconds) + 1n
  let search = startBlockSearch(tagged, chain.blockSeconds)
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const number = nextLook(search, young, BigInt(chain.finality.seconds) / 16n)
    if (number === undefined) break
    const [outcome] = await request([blockRequest(number)])
    const { timestamp } = parseResult(BlockHeader, outcome)
    search = narrowBlockSearch(search, young, { number, timestamp })
  }
  return { head, final: search.low ?? { number: 0n, timestamp: 0n } }
}

/** What is read at a head, or earlier where nodes behind one URL do not all know it yet. Throws what `read` throws. */
export async function readAtHead<T>(
  { chain }: Pick<ChainReader, 'chain'>,
  { number }: BlockHeader,
  read: (at: bigint) => Promise<T>,
): Promise<T> {
  const atHead = await toResult(read(number))
  return 'value' in atHead ? atHead.value : read(max(0n, number - blocksApart(chain)))
}
