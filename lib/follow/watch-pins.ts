import type { BlockHeader } from '../chain/logs.ts'
import type { ImplementationChange } from '../chain/proxy.ts'
import type { ChainReader } from '../chain/reader.ts'
import { logger } from '../core/logger.ts'
import { runConcurrently } from '../core/side-by-side.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import {
  buildSnapshotPlan,
  compareOutsideStorage,
  compareWithPin,
  computeRelativeMove,
  type Pin,
  type VaultSnapshot,
} from '../vaults/pin.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { Notice } from '../webhooks/event.ts'
import { publishGroups } from './publish-notices.ts'
import { buildChangedNotice } from './vault-notices.ts'

type PinServices = {
  readonly reader: ChainReader
  readonly pinStore: Pins
  readonly publish: (notices: readonly Notice[]) => Promise<void>
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
}

type Pins = {
  readonly get: (vaults: readonly VaultKey[]) => Promise<(Pin | undefined)[]>
  readonly movePrice: (vault: VaultKey, pin: Pin, price: bigint) => Promise<void>
  readonly markChanged: (vault: VaultKey, pin: Pin, changedAt: Date, seenAt: BlockHeader) => Promise<boolean>
  readonly markPublished: (vault: VaultKey, pin: Pin) => Promise<void>
}

/** Minimum relative change of a vault's price at which its pinned (stored) price is updated: 0.1 %. */
const MIN_PRICE_CHANGE = 0.001

type Watched = {
  readonly vault: VaultOnChain
  readonly pin: Pin
  readonly seen: VaultSnapshot | undefined
  /**
   * Result of comparing the proxy beacons and code delegations with those that the operator confirmed. This comparison
   * needs a separate read.
   */
  readonly beyond: ImplementationChange | undefined
  readonly block: BlockHeader
}

/**
 * Compares vaults with their pinned code and price, which an operator has confirmed. Takes one HTTP request, and
 * another one for beacons and delegations. Marks changed vaults, which stops their deposits, and publishes one event
 * for each. Updates the pinned prices of unchanged vaults, largest change first. Returns the number of all changed
 * vaults. `unreportedVaults` is the number of changed vaults whose event the next run must publish. Throws
 * `upstream_*`.
 */
export async function watchPins(
  { reader, pinStore, publish, now }: PinServices,
  vaults: readonly VaultOnChain[],
): Promise<{ changedVaults: number; unreportedVaults: number }> {
  const watched = await readWatched({ reader, pinStore }, vaults)
  const unmarked = watched.filter(({ pin }) => !pin.changedAt)
  const changed = unmarked.filter(
    ({ vault, pin, seen, beyond }) => beyond === 'changed' || compareWithPin(vault, pin, seen) === 'changed',
  )
  const moved = unmarked
    .filter((one) => !changed.includes(one))
    .flatMap(({ vault, pin, seen }) =>
      typeof seen?.price !== 'bigint'
        ? []
        : [{ vault, pin, price: seen.price, by: computeRelativeMove(pin, seen.price) }],
    )
    .filter(({ by }) => by > MIN_PRICE_CHANGE)
    .toSorted((left, right) => right.by - left.by)
  await runConcurrently(moved, ({ vault, pin, price }) => pinStore.movePrice(vault, pin, price))
  const unpublished = watched.flatMap(({ vault, pin }) =>
    pin.unpublishedChange ? [{ vault, pin, block: pin.unpublishedChange }] : [],
  )
  await runConcurrently(changed, async ({ vault, pin, seen, beyond, block }) => {
    logger.warn('vault has changed', {
      chainId: vault.chainId,
      vault: vault.address,
      pointsToPinned: seen?.pointsToPinned,
      beyond,
      pinnedPrice: pin.price,
      price: seen?.price,
    })
    const isMarked = await pinStore.markChanged(vault, pin, new Date(now()), block)
    if (isMarked) unpublished.push({ vault, pin, block })
  })
  const changedVaults = watched.length - unmarked.length + changed.length
  const changes = unpublished.map(({ vault, pin, block }) => {
    return { vault, pin, notices: [buildChangedNotice(vault, pin.pinnedAt, block)] }
  })
  const { published } = await publishGroups(publish, changes)
  await runConcurrently(published, ({ vault, pin }) => pinStore.markPublished(vault, pin))
  return { changedVaults, unreportedVaults: changes.length - published.length }
}

async function readWatched(
  { reader, pinStore }: Pick<PinServices, 'reader' | 'pinStore'>,
  vaults: readonly VaultOnChain[],
): Promise<Watched[]> {
  const found = await pinStore.get(vaults)
  const withPins = vaults.flatMap((vault, index) => {
    const pin = found[index]
    return pin ? [{ vault, pin }] : []
  })
  if (withPins.length === 0) return []
  const [{ values, blocks, block }, beyond] = await Promise.all([
    reader.readEach(withPins.map(buildSnapshotPlan)),
    compareOutsideStorage(reader, withPins),
  ])
  return withPins.map((one, index) => ({
    ...one,
    seen: values[index],
    beyond: beyond[index],
    block: blocks[index] ?? block,
  }))
}
