import { logger } from '../../logger.ts'
import type { VaultEvent } from '../../protocols/books.ts'
import { getProtocol } from '../../protocols/protocols.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../../time.ts'
import { type BlockPrice, byBlock, priceBefore, startOf } from '../../vaults/prices.ts'
import { readCallsAt } from '../value-moves.ts'
import type { Run, VaultRun } from './run.ts'

/** A slice reads so many prices at most, the newest ones. */
const MAX_PRICES = 100
/** Of days longer ago than this, one price a day is read. */
const HOURLY_SECONDS = 30n * DAY_SECONDS

/** A vault of a slice with its new events. */
type Traded = { readonly vaultRun: VaultRun; readonly events: readonly VaultEvent[] }

/**
 * Reads the prices that no event tells: after the last trade of each hour, unless a price is known of the hour before it. Leaves
 * out a price that the node does not give: most nodes keep the states of 128 blocks.
 */
export async function readPrices(run: Run, traded: readonly Traded[]): Promise<ReadonlyMap<VaultRun, BlockPrice[]>> {
  const { reader, final } = run
  const wanted = byBlock(traded.flatMap((one) => listTrades(one, final.timestamp)))
    .filter(({ timestamp }) => timestamp >= run.pricesSince)
    .slice(-MAX_PRICES)
  if (wanted.length === 0) return new Map()
  const outcomes = await readCallsAt(
    reader,
    wanted.map(({ call, blockNumber }) => ({ call, block: blockNumber })),
  )
  const read = wanted.flatMap(({ vaultRun, timestamp, blockNumber }, index) => {
    const price = outcomes[index]
    return price === undefined ? [] : [{ vaultRun, price: { price, timestamp, blockNumber } }]
  })
  if (read.length < wanted.length) {
    logger.info('prices of the past not read', { chainId: reader.chain.id, wanted: wanted.length, read: read.length })
    // The nodes keep no old states: this run asks for recent ones only.
    if (read.length === 0) run.pricesSince = final.timestamp - HOUR_SECONDS
  }
  const byVault = Map.groupBy(read, ({ vaultRun }) => vaultRun)
  return new Map([...byVault].map(([vaultRun, ofVault]) => [vaultRun, ofVault.map(({ price }) => price)]))
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
