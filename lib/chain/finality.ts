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
}

/** The first look back for a block that is old enough, in blocks, and how many looks there are at most. */
const FIRST_STEP = 1_000n
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
  const isOld = ({ timestamp }: BlockHeader) => head.timestamp - timestamp >= BigInt(finality.seconds)
  return { head, tagged, isFinal: (block) => block.number <= (tagged ?? head).number && isOld(block) }
}

/**
 * The chain's head and its newest final block, found to a sixteenth of its depth: one round trip where the chain's tag
 * is old enough, a search by timestamps of at most 16 more where it is not. Throws `upstream_*`.
 */
export async function readFinalBlock({
  chain,
  request,
}: ChainReader): Promise<{ readonly head: BlockHeader; readonly final: BlockHeader }> {
  const { head, tagged = head, isFinal } = parseFinality(chain, await request(finalityRequests(chain)))
  if (isFinal(tagged)) return { head, final: tagged }

  const cutoff = head.timestamp - BigInt(chain.finality.seconds)
  let young = tagged
  let final: BlockHeader | undefined
  let step = FIRST_STEP
  for (let look = 0; look < MOST_LOOKS && young.number > 0n; look += 1) {
    if (final && young.number - final.number <= larger(1n, (head.number - final.number) / 16n)) break
    // By the pace between the two at first, and by halves in turn, since a pace can change.
    const number = final
      ? final.number +
        larger(1n, look % 2 === 1 ? interpolated(final, young, cutoff) : (young.number - final.number) / 2n)
      : larger(0n, young.number - step)
    const [outcome] = await request([blockRequest(number)])
    const block = parseResult(BlockHeader, outcome)
    if (block.timestamp <= cutoff) final = block
    else young = block
    step *= 8n
  }
  return { head, final: final ?? { number: 0n, timestamp: 0n } }
}

/** How many blocks after `from` the time is reached, at the pace between the two, and less than the blocks between. */
function interpolated(from: BlockHeader, to: BlockHeader, time: bigint): bigint {
  const blocks = to.number - from.number
  const reached = ((time - from.timestamp) * blocks) / larger(1n, to.timestamp - from.timestamp)
  return reached < blocks ? reached : blocks - 1n
}

function larger(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}
