import {
  addTransferValues,
  listTransfersToValue,
  readCallsAtBlocks,
  selectLastTransfers,
} from '../activity/value-moves.ts'
import { logger } from '../core/logger.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../core/time.ts'
import type { VaultEvent } from '../protocols/books.ts'
import { getProtocol } from '../protocols/protocols.ts'
import { type BlockPrice, computeIntervalStart, priceBefore, sortByBlock } from '../vaults/prices.ts'
import type { Run, VaultRun } from './run.ts'

/** Maximum number of prices, and of values of share transfers, that are read per range of blocks. Only the newest are read. */
const MAX_PRICES = 100
/** Age of deposits and withdrawals, in seconds, above which one price per day is read instead of one per hour. */
const HOURLY_SECONDS = 30n * DAY_SECONDS

type Traded = { readonly vaultRun: VaultRun; readonly events: readonly VaultEvent[] }

/**
 * Reads share prices that no event reports, and values of transferred shares, in one HTTP request. Reads the price
 * after the last deposit or withdrawal of each hour. Deposits and withdrawals older than HOURLY_SECONDS get one price
 * per day. Skips a deposit or withdrawal if a known price is less than an hour older than it. Returns the vaults with
 * the prices read, and with their events, to which the values are added. Leaves out values that the node cannot return,
 * because most nodes keep only the states of the last 128 blocks.
 */
export async function readPrices(
  run: Run,
  traded: readonly Traded[],
): Promise<(Traded & { readonly read: readonly BlockPrice[] })[]> {
  const { reader, final } = run
  const isKept = ({ timestamp }: { readonly timestamp: bigint }) => timestamp >= run.pricesSince
  const trades = sortByBlock(traded.flatMap((one) => listTrades(one, final.timestamp)))
    .filter(isKept)
    .slice(-MAX_PRICES)
  const moved = traded.flatMap(({ vaultRun: { vault }, events }) => listTransfersToValue(vault, events))
  const moves = selectLastTransfers(
    moved.filter(({ event }) => isKept(event.location)),
    MAX_PRICES,
  )
  const wanted = [
    ...trades.map(({ call, blockNumber }) => ({ call, block: blockNumber })),
    ...moves.map(({ call, event }) => ({ call, block: event.location.blockNumber })),
  ]
  const { values: read, isForgotten } = await readCallsAtBlocks(reader, wanted)
  const missing = read.filter((value) => value === undefined).length
  if (missing > 0) {
    logger.info('prices of the past not read', { chainId: reader.chain.id, wanted: wanted.length, missing })
    // The nodes no longer have old states. From here on, this run reads only prices of the last hour.
    if (isForgotten) run.pricesSince = final.timestamp - HOUR_SECONDS
  }
  const prices = trades.flatMap(({ vaultRun, timestamp, blockNumber }, index) => {
    const price = read[index]
    return price === undefined ? [] : [{ vaultRun, price: { price, timestamp, blockNumber } }]
  })
  const values = read.slice(trades.length)
  return traded.map(({ vaultRun, events }) => ({
    vaultRun,
    events: addTransferValues(events, moves, values),
    read: prices.filter((one) => one.vaultRun === vaultRun).map(({ price }) => price),
  }))
}

/**
 * Lists the last deposit or withdrawal of each hour in a vault without price events. Beyond the age HOURLY_SECONDS,
 * lists only the last one of each day. Skips a deposit or withdrawal less than an hour after a known price.
 */
function listTrades({ vaultRun, events }: Traded, now: bigint) {
  const { vault, progress } = vaultRun
  const { books, shareValue } = getProtocol(vault)
  const call = shareValue?.(vault, 10n ** BigInt(vault.shareDecimals))
  if (!call) return []
  const trades = events.filter(({ eventName }) => books.repricing.has(eventName))
  const intervalOf = (at: bigint) => computeIntervalStart(now - at > HOURLY_SECONDS ? 'day' : 'hour', at)
  const last = new Map(trades.map(({ location }) => [intervalOf(location.timestamp), location]))
  const isKnown = ({ blockNumber, timestamp }: VaultEvent['location']) => {
    const before = priceBefore(progress.lastPrices ?? [], blockNumber + 1n)
    return before !== undefined && timestamp - before.timestamp < HOUR_SECONDS
  }
  const unknown = [...last.values()].filter((location) => !isKnown(location))
  return unknown.map(({ timestamp, blockNumber }) => ({ vaultRun, call, timestamp, blockNumber }))
}
