import {
  buildForeignTransferFilters,
  eventAddresses,
  parseVaultEvents,
  VAULT_EVENT_TOPICS,
} from '../activity/events.ts'
import { BlockHeader, blockRequest, compareLocation, type Log, parseResult, readTimestamps } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import type { VaultEvent } from '../protocols/books.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'

/**
 * Result of reading a range of blocks: the vaults' events in order, the last block (`through`), and that block's time
 * in seconds since 1970.
 */
export type Slice = { readonly events: readonly VaultEvent[]; readonly through: bigint; readonly timestamp: bigint }

/**
 * Number of events at which a read of consecutive blocks ends, to bound memory. The read also ends after `SLICE_MS`
 * milliseconds.
 */
export const SLICE_EVENTS = 5_000
const SLICE_MS = 5_000

type Range = {
  readonly vaults: readonly VaultOnChain[]
  readonly from: bigint
  readonly to: bigint
  /** Last final block. Its time is known, so no request is needed for it. */
  readonly final: BlockHeader
  /** Epoch milliseconds after which the read starts no further request. */
  readonly until: number
}

/** Reads the next range of these vaults' events: at least one block, and none after `to`. Throws `upstream_*`. */
export async function readSlice(
  { reader, now }: { readonly reader: ChainReader; readonly now: () => number },
  { vaults, from, to, final, until }: Range,
): Promise<Slice> {
  const end = Math.min(until, now() + SLICE_MS)
  const isEnough = (events: number) => events >= SLICE_EVENTS || now() >= end
  let through = to
  const logs = new Map<string, Log>()
  // Each filter is read only up to the block that the previous filter reached, so that the events of all filters end at one block.
  for (const filter of [
    { address: eventAddresses(vaults), topics: [VAULT_EVENT_TOPICS] },
    ...buildForeignTransferFilters(vaults),
  ]) {
    const read = await reader.logsUntil(filter, from, through, isEnough)
    through = read.through
    for (const log of read.logs) logs.set(`${log.blockNumber} ${log.logIndex}`, log)
  }
  const ofSlice = [...logs.values()].filter(({ blockNumber }) => blockNumber <= through).toSorted(compareLocation)
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
