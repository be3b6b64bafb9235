import { listMoves, readCallsAt, valueMoves } from '../activity/value-moves.ts'
import { logger } from '../logger.ts'
import type { VaultEvent } from '../protocols/books.ts'
import { getProtocol } from '../protocols/protocols.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../time.ts'
import { type BlockPrice, byBlock, priceBefore, startOf } from '../vaults/prices.ts'
import type { Run, VaultRun } from './run.ts'

/** The most prices and the most values of moves that a slice reads: the newest ones. */
const MAX_PRICES = 100
/** Of days longer ago than this, one price a day is read. */
const HOURLY_SECONDS = 30n * DAY_SECONDS

/** A vault of a slice with its new events. */
type Traded = { readonly vaultRun: VaultRun; readonly events: readonly VaultEvent[] }

/**
 * Reads what no event tells, in one request: the price after the last trade of each hour, unless a price is known of the hour before
 * it, and what moved shares were worth. Returns the vaults with their valued events and these prices. Leaves out what the node does
 * not give: most nodes keep the states of 128 blocks.
 */
export async function readPrices(
  run: Run,
  traded: readonly Traded[],
): Promise<(Traded & { readonly read: readonly BlockPrice[] })[]> {
  const { reader, final } = run
  const isKept = ({ timestamp }: { readonly timestamp: bigint }) => timestamp >= run.pricesSince
  const trades = byBlock(traded.flatMap((one) => listTrades(one, final.timestamp)))
    .filter(isKept)
    .slice(-MAX_PRICES)
  const moves = traded
    .flatMap(({ vaultRun: { vault }, events }) => listMoves(vault, events))
    .filter(({ event }) => isKept(event.location))
    .slice(-MAX_PRICES)
  const wanted = [
    ...trades.map(({ call, blockNumber }) => ({ call, block: blockNumber })),
    ...moves.map(({ call, event }) => ({ call, block: event.location.blockNumber })),
  ]
  const read = await readCallsAt(reader, wanted)
  const missing = read.filter((value) => value === undefined).length
  if (missing > 0) {
    logger.info('prices of the past not read', { chainId: reader.chain.id, wanted: wanted.length, missing })
    // The nodes keep no old states: this run asks for recent ones only.
    if (missing === wanted.length) run.pricesSince = final.timestamp - HOUR_SECONDS
  }
  const prices = trades.flatMap(({ vaultRun, timestamp, blockNumber }, index) => {
    const price = read[index]
    return price === undefined ? [] : [{ vaultRun, price: { price, timestamp, blockNumber } }]
  })
  const values = read.slice(trades.length)
  return traded.map(({ vaultRun, events }) => ({
    vaultRun,
    events: valueMoves(events, moves, values),
    read: prices.filter((one) => one.vaultRun === vaultRun).map(({ price }) => price),
  }))
}

/**
 * The last trade of each hour, of each day where it is long ago, in a vault whose price no event tells; not within an hour
 * after a price that is known.
 */
function listTrades({ vaultRun, events }: Traded, now: bigint) {
  const { vault, progress } = vaultRun
  const { books, shareValue } = getProtocol(vault)
  const call = shareValue?.(vault, 10n ** BigInt(vault.shareDecimals))
  if (!call) return []
  const trades = events.filter(({ eventName }) => books.repricing.has(eventName))
  const intervalOf = (at: bigint) => startOf(now - at > HOURLY_SECONDS ? 'day' : 'hour', at)
  // Of the trades of an interval the last one stays.
  const last = new Map(trades.map(({ location }) => [intervalOf(location.timestamp), location]))
  const isKnown = ({ blockNumber, timestamp }: VaultEvent['location']) => {
    const before = priceBefore(progress.lastPrices ?? [], blockNumber + 1n)
    return before !== undefined && timestamp - before.timestamp < HOUR_SECONDS
  }
  const unknown = [...last.values()].filter((location) => !isKnown(location))
  return unknown.map(({ timestamp, blockNumber }) => ({ vaultRun, call, timestamp, blockNumber }))
}
