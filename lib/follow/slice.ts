import { eventAddresses, heardFilters, parseVaultEvents, VAULT_EVENT_TOPICS } from '../activity/events.ts'
import { BlockHeader, blockRequest, byLocation, type Log, parseResult, readTimestamps } from '../chain/logs.ts'
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
  const isEnough = (events: number) => events >= SLICE_EVENTS || now() >= end
  let through = to
  const logs = new Map<string, Log>()
  // Each next filter is read no further than the one before.
  for (const filter of [{ address: eventAddresses(vaults), topics: [VAULT_EVENT_TOPICS] }, ...heardFilters(vaults)]) {
    const read = await reader.logsUntil(filter, from, through, isEnough)
    through = read.through
    for (const log of read.logs) logs.set(`${log.blockNumber} ${log.logIndex}`, log)
  }
  const ofSlice = [...logs.values()].filter(({ blockNumber }) => blockNumber <= through).toSorted(byLocation)
  const [timestampOf, timestamp] = await Promise.all([
    readTimestamps(reader.request, ofSlice),
    through === final.number ? final.timestamp : readTimestamp(reader, through),
  ])
  return { events: parseVaultEvents(vaults, ofSlice, timestampOf), through, timestamp }
}

async function readTimestamp({ request }: ChainReader, block: bigint): Promise<bigint> {
  const [outcome] = await request([blockRequest(block)])
  return parseResult(BlockHeader, outcome).timestamp
}
