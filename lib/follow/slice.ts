import { eventAddresses, parseVaultEvents, VAULT_EVENT_TOPICS } from '../activity/events.ts'
import { BlockHeader, blockRequest, byLocation, parseResult, readTimestamps } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { VaultEvent } from '../protocols/books.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'

/** Events of some vaults in order, up to a block, and that block's time in seconds since 1970. */
export type Slice = { readonly events: readonly VaultEvent[]; readonly through: bigint; readonly timestamp: bigint }

/** A slice ends with the block that reaches this many events, which bounds memory, or after `SLICE_MS`. */
export const SLICE_EVENTS = 5_000
const SLICE_MS = 5_000

type Range = {
  readonly vaults: readonly VaultOnChain[]
  /** The first and the last block, both included. */
  readonly from: bigint
  readonly to: bigint
  /** A block whose time need not be asked for. */
  readonly final: BlockHeader
  /** The moment, in epoch milliseconds, after which nothing more is asked for. */
  readonly until: number
}

/** Reads the next slice of these vaults' events, of at least one block. Throws `upstream_*`. */
export async function readSlice(
  { reader, now }: { readonly reader: ChainReader; readonly now: () => number },
  { vaults, from, to, final, until }: Range,
): Promise<Slice> {
  const end = Math.min(until, now() + SLICE_MS)
  const { logs, through } = await reader.logsUntil(
    { address: eventAddresses(vaults), topics: [VAULT_EVENT_TOPICS] },
    from,
    to,
    (events) => events >= SLICE_EVENTS || now() >= end,
  )
  const [timestampOf, timestamp] = await Promise.all([
    readTimestamps(reader.request, logs),
    through === final.number ? final.timestamp : readTimestamp(reader, through),
  ])
  return { events: parseVaultEvents(vaults, logs.toSorted(byLocation), timestampOf), through, timestamp }
}

async function readTimestamp({ request }: ChainReader, block: bigint): Promise<bigint> {
  const [outcome] = await request([blockRequest(block)])
  return parseResult(BlockHeader, outcome).timestamp
}
