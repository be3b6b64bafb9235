import * as z from 'zod'
import { Amount } from '../core/codecs.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../core/time.ts'
import type { VaultKey } from './vault.ts'

/** Value of one whole share in the asset's smallest unit, at a moment in seconds since 1970. */
export type PricePoint = { readonly price: bigint; readonly timestamp: bigint }

/** Kinds of stored prices: the last price of each hour, and the first price of each UTC day. */
export type PriceInterval = 'hour' | 'day'
const SECONDS: Readonly<Record<PriceInterval, bigint>> = { hour: HOUR_SECONDS, day: DAY_SECONDS }

/** Returns the first second of the hour or UTC day that contains the time `at`, in seconds since 1970. */
export function computeIntervalStart(interval: PriceInterval, at: bigint): bigint {
  return at - (at % SECONDS[interval])
}

/** Value of one whole share in the asset's smallest unit, at the end of a block. */
export const BlockPrice = z.object({ price: Amount, timestamp: Amount, blockNumber: Amount })
export type BlockPrice = z.output<typeof BlockPrice>

/** Share price to store, with the vault's total assets if known. */
export type NewPrice = BlockPrice & { readonly totalAssets?: bigint | undefined }

/** New share prices of a vault to store. `known` are the last prices stored before, which show if a new price is the first of its day. */
export type NewPrices = {
  readonly vault: VaultKey
  readonly prices: readonly NewPrice[]
  readonly known: readonly BlockPrice[]
}

/** Share prices that are stored with a vault's reading progress, which is the last block whose events were read. */
export const KnownPrices = z.object({
  /** Earliest stored share price; absent while none is stored. */
  firstPrice: BlockPrice.optional(),
  /** Last price in the blocks whose events were read. If the newest price has a later block, the list contains that price too. */
  lastPrices: z.array(BlockPrice).max(2).optional(),
})
export type KnownPrices = z.output<typeof KnownPrices>

/** Returns the last of these prices whose block is before `block`; undefined if there is none. */
export function priceBefore(prices: readonly BlockPrice[], block: bigint): BlockPrice | undefined {
  return prices
    .filter(({ blockNumber }) => blockNumber < block)
    .reduce<BlockPrice | undefined>(
      (last, price) => (last && last.blockNumber > price.blockNumber ? last : price),
      undefined,
    )
}

/** Adds new prices to those that are stored with a vault's reading progress. `through` is the last block whose events were read. */
export function addPrices(
  { firstPrice, lastPrices = [] }: KnownPrices,
  added: readonly BlockPrice[],
  through: bigint,
): KnownPrices {
  const inOrder = sortByBlock([...(firstPrice ? [firstPrice] : []), ...lastPrices, ...added].map(toBlockPrice))
  const [first, newest] = [inOrder[0], inOrder.at(-1)]
  if (!first || !newest) return {}
  const recorded = priceBefore(inOrder, through + 1n)
  const isNewer = newest.blockNumber !== recorded?.blockNumber
  return { firstPrice: first, lastPrices: [...(recorded ? [recorded] : []), ...(isNewer ? [newest] : [])] }
}

/** Sorts prices by block number, oldest first. */
export function sortByBlock<P extends Pick<BlockPrice, 'blockNumber'>>(prices: readonly P[]): P[] {
  return prices.toSorted((left, right) => Number(left.blockNumber - right.blockNumber))
}

function toBlockPrice({ price, timestamp, blockNumber }: BlockPrice): BlockPrice {
  return { price, timestamp, blockNumber }
}
