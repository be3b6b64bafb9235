import type { ChainReader } from '../../../lib/chain/reader.ts'
import { logger } from '../../../lib/logger.ts'
import type { VaultOnChain } from '../../../lib/protocols/vault-on-chain.ts'
import {
  compareWithPin,
  finishPinnedCode,
  hasMoved,
  type Pin,
  pinnedCodeRequests,
  type Seen,
  seenPlan,
} from '../../../lib/vaults/pin.ts'
import type { PinStore } from '../../../lib/vaults/pin-store.ts'

type Dependencies = {
  readonly reader: ChainReader
  readonly pinned: Pick<PinStore, 'get' | 'movePrice' | 'markChanged'>
  /** Epoch milliseconds. */
  readonly now: () => number
}

/** A vault, what of it is pinned, and how it is. */
type Watched = {
  readonly vault: VaultOnChain
  readonly pin: Pin
  readonly seen: Seen | undefined
  readonly isSameCode: boolean
}

/**
 * So many pins a run marks at most, and so many prices it moves: of 2,000 vaults one or two prices move in a minute, and deposits
 * into a vault that is not marked yet are refused by what they see.
 */
const MOST_WRITTEN = 10

/**
 * Looks whether vaults still are as they are pinned, in one HTTP request: marks those that are not, which stops their
 * deposits, and moves the prices of the others along. How many are marked. Throws `upstream_*`.
 */
export async function watchPins(
  { reader, pinned, now }: Dependencies,
  vaults: readonly VaultOnChain[],
): Promise<number> {
  const watched = await readWatched({ reader, pinned }, vaults)
  const unmarked = watched.filter(({ pin }) => !pin.changedAt)
  const changed = unmarked.filter(
    ({ vault, pin, seen, isSameCode }) => compareWithPin(vault, pin, seen, isSameCode) === 'changed',
  )
  for (const { vault, pin, seen, isSameCode } of changed.slice(0, MOST_WRITTEN)) {
    logger.warn('vault has changed', { chainId: vault.chainId, vault: vault.address, isSameCode, price: seen?.price })
    await pinned.markChanged(vault, pin, new Date(now()))
  }
  const moved = unmarked.flatMap((one) => {
    const { pin, seen } = one
    const isMoved = seen?.price !== undefined && !changed.includes(one) && hasMoved(pin, seen.price)
    return isMoved ? [{ ...one, price: seen.price }] : []
  })
  for (const { vault, pin, price } of moved.slice(0, MOST_WRITTEN)) await pinned.movePrice(vault, pin, price)
  return watched.length - unmarked.length + changed.length
}

async function readWatched(
  { reader, pinned }: Pick<Dependencies, 'reader' | 'pinned'>,
  vaults: readonly VaultOnChain[],
): Promise<Watched[]> {
  const found = await pinned.get(vaults)
  const withPins = vaults.flatMap((vault, index) => {
    const pin = found[index]
    return pin ? [{ vault, pin }] : []
  })
  if (withPins.length === 0) return []
  const pins = withPins.map(({ pin }) => pin)
  const { values, outcomes } = await reader.readEach(
    withPins.map(({ vault, pin }) => seenPlan(vault, pin)),
    { extraCalls: pinnedCodeRequests(pins) },
  )
  const areSame = await finishPinnedCode(reader, pins, outcomes)
  return withPins.map((one, index) => ({ ...one, seen: values[index], isSameCode: areSame[index] === true }))
}
