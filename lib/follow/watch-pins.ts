import type { BlockHeader } from '../chain/logs.ts'
import type { ChainReader } from '../chain/reader.ts'
import { logger } from '../logger.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { sideBySide } from '../side-by-side.ts'
import { buildChangedNotice } from '../vaults/notices.ts'
import {
  compareWithPin,
  finishSeenCode,
  movedBy,
  type Pin,
  type Seen,
  type SeenCode,
  seenCodeRequests,
  seenPlan,
} from '../vaults/pin.ts'
import type { VaultKey } from '../vaults/vault.ts'
import type { Notice } from '../webhooks/event.ts'
import { publishGroups } from './publish-notices.ts'

type Dependencies = {
  readonly reader: ChainReader
  readonly pinStore: Pins
  /** Tells clients of what happened. */
  readonly publish: (notices: readonly Notice[]) => Promise<void>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** What of each vault is pinned. */
type Pins = {
  readonly get: (vaults: readonly VaultKey[]) => Promise<(Pin | undefined)[]>
  readonly movePrice: (vault: VaultKey, pin: Pin, price: bigint) => Promise<void>
  readonly markChanged: (vault: VaultKey, pin: Pin, changedAt: Date, seenAt: BlockHeader) => Promise<boolean>
  readonly markPublished: (vault: VaultKey, pin: Pin) => Promise<void>
}

/** A price that moved by no more than this part is not written. */
const STEP = 0.001

/** A vault, what of it is pinned, and how it is. */
type Watched = {
  readonly vault: VaultOnChain
  readonly pin: Pin
  readonly seen: Seen | undefined
  readonly code: SeenCode | undefined
  /** The block at which it is so. */
  readonly block: BlockHeader
}

/**
 * Looks whether vaults still are as they are pinned, in one HTTP request: marks those that are not, which stops their
 * deposits, tells clients once, and moves the prices of the others along, the furthest first. As many writes as vaults at
 * most, so that no price is left behind. How many are marked, and of how many clients could not be told: the next run tells
 * them. Throws `upstream_*`.
 */
export async function watchPins(
  { reader, pinStore, publish, now }: Dependencies,
  vaults: readonly VaultOnChain[],
): Promise<{ changedVaults: number; untoldVaults: number }> {
  const watched = await readWatched({ reader, pinStore }, vaults)
  const unmarked = watched.filter(({ pin }) => !pin.changedAt)
  const changed = unmarked.filter(({ vault, pin, seen, code }) => compareWithPin(vault, pin, seen, code) === 'changed')
  const moved = unmarked
    .filter((one) => !changed.includes(one))
    .flatMap(({ vault, pin, seen }) =>
      seen?.price === undefined ? [] : [{ vault, pin, price: seen.price, by: movedBy(pin, seen.price) }],
    )
    .filter(({ by }) => by > STEP)
    .toSorted((left, right) => right.by - left.by)
  await sideBySide(moved, ({ vault, pin, price }) => pinStore.movePrice(vault, pin, price))
  const unpublished = watched.flatMap(({ vault, pin }) =>
    pin.unpublishedChange ? [{ vault, pin, block: pin.unpublishedChange }] : [],
  )
  await sideBySide(changed, async ({ vault, pin, seen, code, block }) => {
    logger.warn('vault has changed', {
      chainId: vault.chainId,
      vault: vault.address,
      leadsToPinned: seen?.namesPinned && code?.isBehindBeacons,
      isPinnedCodeSame: code?.isSame,
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
  await sideBySide(published, ({ vault, pin }) => pinStore.markPublished(vault, pin))
  return { changedVaults, untoldVaults: changes.length - published.length }
}

async function readWatched(
  { reader, pinStore }: Pick<Dependencies, 'reader' | 'pinStore'>,
  vaults: readonly VaultOnChain[],
): Promise<Watched[]> {
  const found = await pinStore.get(vaults)
  const withPins = vaults.flatMap((vault, index) => {
    const pin = found[index]
    return pin ? [{ vault, pin }] : []
  })
  if (withPins.length === 0) return []
  const { values, blocks, block, outcomes } = await reader.readEach(withPins.map(seenPlan), {
    extraCalls: seenCodeRequests(withPins),
  })
  const codes = await finishSeenCode(reader, withPins, outcomes)
  return withPins.map((one, index) => ({
    ...one,
    seen: values[index],
    code: codes[index],
    block: blocks[index] ?? block,
  }))
}
