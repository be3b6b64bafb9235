import { type Address, zeroAddress } from 'viem'
import { MAX_UINT256 } from '../codecs.ts'
import {
  type Books,
  isTransfer,
  type Ledger,
  type ShareTransfer,
  transferOf,
  type VaultEvent,
} from '../protocols/books.ts'
import { protocolOf } from '../protocols/protocols.ts'
import type { VaultOnChain } from '../protocols/vaults.ts'
import type { PricePoint } from '../vaults/apy.ts'
import { isNothing, type LedgerEntry } from './ledger-entry.ts'

/** A price and the block that told it. */
type RecordedPrice = PricePoint & { readonly blockNumber: bigint }

/** What a vault's events led to: its ledger after them, and what happened to whom at which price. */
export type Posted = {
  readonly ledger: Ledger
  readonly entries: readonly LedgerEntry[]
  /** The price after each block that tells it. */
  readonly prices: readonly RecordedPrice[]
}

/** Whether all amounts are such as there can be: the events of a vault that makes them up may lead to any. */
export function isPossible({ ledger, entries, prices }: Posted): boolean {
  const amounts = entries.flatMap((entry) => (entry.kind === 'cancel' ? [] : [entry.assets, entry.shares ?? 0n]))
  return [ledger.assets, ledger.supply, ...amounts, ...prices.map(({ price }) => price)].every(
    (amount) => amount >= 0n && amount <= MAX_UINT256,
  )
}

/** The ledger of a vault after more of its events, in order, and what they did. Pure, so the same events give the same. */
export function postEvents(vault: VaultOnChain, before: Ledger, events: readonly VaultEvent[]): Posted {
  let ledger = before
  const entries: LedgerEntry[] = []
  const prices = new Map<bigint, RecordedPrice>()
  for (const transaction of Map.groupBy(events, ({ position }) => position.transactionHash).values()) {
    const posted = postTransaction(vault, ledger, transaction)
    ledger = posted.ledger
    entries.push(...posted.entries.filter((entry) => !isNothing(entry)))
    const { blockNumber, timestamp } = (transaction[0] as VaultEvent).position
    if (posted.price !== null) prices.set(blockNumber, { price: posted.price, timestamp, blockNumber })
  }
  return { ledger, entries, prices: [...prices.values()] }
}

/** What one transaction's events led to; `price` is null where they do not tell it to the asset's unit. */
function postTransaction(vault: VaultOnChain, before: Ledger, events: readonly VaultEvent[]) {
  const { books } = protocolOf(vault)
  const ledgers = books.ledgers(vault, before, events)
  const ledger = ledgers.at(-1) ?? before
  const fees = feesAmong(vault, books, events)
  const entries = events.flatMap((event, index): LedgerEntry[] => {
    const place = placeIn(vault, event)
    // A fee is minted before the event that tells of the assets: it is worth what the whole transaction made of it.
    const by = fees.has(event) ? ledger : (ledgers[index] ?? ledger)
    const worth = (shares: bigint) => books.shareValue(vault, by, shares) ?? 0n
    if (isTransfer(event) && fees.has(event)) {
      const { to, value: shares } = event.args
      return [{ ...place(to), kind: 'receive', assets: worth(shares), shares }]
    }
    const moved = books.handedOver(event) ?? transferOf(vault, books, event)
    return [
      ...books.entries(event).map((entry): LedgerEntry => ({ ...place(entry.user), ...entry })),
      ...(moved ? bothSides(place, moved, worth(moved.shares)) : []),
    ]
  })
  return { ledger, entries, price: books.priceAfter(vault, ledger, events) }
}

function bothSides(
  place: ReturnType<typeof placeIn>,
  { from, to, shares }: ShareTransfer,
  assets: bigint,
): LedgerEntry[] {
  return [
    { ...place(from), kind: 'send', assets, shares },
    { ...place(to), kind: 'receive', assets, shares },
  ]
}

/**
 * The mints of a transaction that are fees: those that no deposit explains. A deposit explains one mint of its shares to
 * its owner, wherever in the transaction it stands: vaults differ in their order.
 */
function feesAmong(
  vault: VaultOnChain,
  { minted, isOwner }: Books,
  events: readonly VaultEvent[],
): ReadonlySet<VaultEvent> {
  const key = (owner: Address, shares: bigint) => `${owner} ${shares}`
  const explained = new Map<string, number>()
  for (const event of events) {
    const deposit = minted(event)
    if (!deposit) continue
    const told = key(deposit.to, deposit.shares)
    explained.set(told, (explained.get(told) ?? 0) + 1)
  }
  const fees = new Set<VaultEvent>()
  for (const event of events) {
    if (!isTransfer(event) || event.args.from !== zeroAddress) continue
    const told = key(event.args.to, event.args.value)
    const left = explained.get(told) ?? 0
    if (left > 0) explained.set(told, left - 1)
    else if (isOwner(vault, event.args.to)) fees.add(event)
  }
  return fees
}

function placeIn(vault: VaultOnChain, { position }: VaultEvent) {
  return (user: Address) => ({
    user,
    chainId: position.chainId,
    vault: vault.address,
    transactionHash: position.transactionHash,
    blockNumber: Number(position.blockNumber),
    logIndex: position.logIndex,
    timestamp: new Date(Number(position.timestamp) * 1000),
  })
}
