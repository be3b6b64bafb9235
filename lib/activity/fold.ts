import { zeroAddress } from 'viem'
import type { erc20Abi } from '../chain/erc20.ts'
import { toBlockFields } from '../chain/logs.ts'
import { MAX_UINT256 } from '../core/codecs.ts'
import {
  type EventOf,
  type ExplainedTransfer,
  isShareTransfer,
  type Ledger,
  type LedgerRules,
  type ShareTransfer,
  type VaultEvent,
} from '../protocols/books.ts'
import type { LedgerEntry } from '../protocols/ledger-entry.ts'
import { getProtocol } from '../protocols/protocols.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import { type BlockPrice, type NewPrice, priceBefore } from '../vaults/prices.ts'
import { movesNothing } from './ledger-entry.ts'

/**
 * A vault's events, with the total assets and share supply at each event that moves shares. `ledger` has the two totals
 * after all events.
 */
type Valued = {
  readonly events: readonly VaultEvent[]
  readonly ledger: Ledger
  readonly prices: readonly NewPrice[]
}

/**
 * Vault's events with share values, and the ledger entries of accounts (deposits, withdrawals, transfers) that follow
 * from these events.
 */
export type EventsWithEntries = Valued & { readonly entries: readonly LedgerEntry[] }

/** Returns true if all amounts are from 0 to 2^256 - 1. A vault's contract can emit false events with any amounts. */
export function hasPossibleAmounts({ ledger, events, entries, prices }: EventsWithEntries): boolean {
  const ledgers = [ledger, ...events.flatMap((event) => event.ledger ?? [])]
  const amounts = entries.flatMap((entry) => [
    'assets' in entry ? (entry.assets ?? 0n) : 0n,
    'shares' in entry ? (entry.shares ?? 0n) : 0n,
  ])
  const inLedgers = ledgers.flatMap(({ assets, supply }) => [assets, supply])
  return [...inLedgers, ...amounts, ...prices.flatMap(({ price, totalAssets = 0n }) => [price, totalAssets])].every(
    (amount) => amount >= 0n && amount <= MAX_UINT256,
  )
}

/**
 * Adds share values to a vault's events, and derives the accounts' ledger entries. `ledger` has the vault's totals
 * before the events. The same events always give the same results.
 */
export function valueAndDeriveEntries(
  vault: VaultOnChain,
  { ledger, lastPrices = [] }: Priced,
  events: readonly VaultEvent[],
): EventsWithEntries {
  const valued = valueEvents(vault, ledger, events, lastPrices)
  return { ...valued, entries: deriveLedgerEntries(vault, valued.events) }
}

/**
 * Vault's total assets and share supply before the events. `lastPrices`, read from the chain, value the shares of a
 * vault whose events have no price.
 */
type Priced = { readonly ledger: Ledger; readonly lastPrices?: readonly BlockPrice[] | undefined }

/**
 * Adds the vault's total assets and share supply to each event that moves shares. `before` has both totals before the
 * events. `events` must be all later events of the vault, in order.
 */
function valueEvents(
  vault: VaultOnChain,
  before: Ledger,
  events: readonly VaultEvent[],
  read: readonly BlockPrice[],
): Valued {
  const { books } = getProtocol(vault)
  let ledger = before
  const prices = new Map<bigint, NewPrice>()
  const valued = groupByTransaction(events).flatMap((transaction) => {
    const ledgers = books.foldLedgers?.(vault, ledger, transaction)
    const after = ledgers?.at(-1) ?? ledger
    ledger = after
    const price = books.priceAfter?.(vault, after, transaction) ?? null
    const [first] = transaction
    if (first && price !== null) {
      const { blockNumber, timestamp } = first.location
      prices.set(blockNumber, { price, timestamp, blockNumber, totalAssets: after.assets })
    }
    const moves = findShareTransfers(vault, transaction)
    return transaction.map((event, index) => {
      const moved = moves.get(event)
      if (!moved) return event
      if (!ledgers) return { ...readLedger(vault, read, event.location.blockNumber), ...event }
      // Fee shares are minted before the event that reports the vault's assets. The totals after the transaction therefore value these
      // shares.
      return { ...event, ledger: moved.from === zeroAddress ? after : (ledgers[index] ?? after) }
    })
  })
  return { events: valued, ledger, prices: [...prices.values()] }
}

function readLedger(
  { shareDecimals }: VaultOnChain,
  read: readonly BlockPrice[],
  block: bigint,
): { readonly ledger?: Ledger } {
  const last = priceBefore(read, block)
  return last ? { ledger: { assets: last.price, supply: 10n ** BigInt(shareDecimals) } } : {}
}

/**
 * Derives ledger entries (deposits, withdrawals, transfers) from a vault's events with share values, in order. Leaves
 * out entries that move nothing. The events that name an account are enough for that account's entries.
 */
export function deriveLedgerEntries(vault: VaultOnChain, events: readonly VaultEvent[]): LedgerEntry[] {
  return groupByTransaction(events)
    .flatMap((transaction) => foldTransaction(vault, transaction))
    .filter((entry) => !movesNothing(entry))
}

/** Groups events by transaction, in order. */
export function groupByTransaction(events: readonly VaultEvent[]): readonly VaultEvent[][] {
  return [...Map.groupBy(events, ({ location }) => location.transactionHash).values()]
}

function foldTransaction(vault: VaultOnChain, events: readonly VaultEvent[]): LedgerEntry[] {
  const { books } = getProtocol(vault)
  const moves = findShareTransfers(vault, events)
  const done = books.entries(vault, events)
  return events.flatMap((event, index): LedgerEntry[] => {
    const own: OwnEntry[] = [...(done[index] ?? [])]
    const moved = moves.get(event)
    if (moved) {
      const { from, to, shares } = moved
      const assets = event.ledger ? books.shareValue(vault, event.ledger, shares) : null
      if (from !== zeroAddress) own.push({ account: from, kind: 'send', assets, shares })
      own.push({ account: to, kind: 'receive', assets, shares })
    }
    return own.map((entry) => ({ ...locationOf(vault, event), ...entry }))
  })
}

type OwnEntry = ReturnType<LedgerRules['entries']>[number][number]

/**
 * Finds the shares that the events of a transaction move between owners, by event. A mint that no deposit event
 * explains is a fee. Its sender is the zero address.
 */
export function findShareTransfers(
  vault: VaultOnChain,
  events: readonly VaultEvent[],
): ReadonlyMap<VaultEvent, ShareTransfer> {
  const { books } = getProtocol(vault)
  const explained = explainedTransfers(vault, books, events)
  const moves = new Map<VaultEvent, ShareTransfer>()
  for (const event of events) {
    const moved =
      isShareTransfer(event) && !explained.has(event)
        ? ownersChange(vault, books, event)
        : books.findHandover(vault, event)
    if (moved) moves.set(event, moved)
  }
  return moves
}

type TransferEvent = EventOf<typeof erc20Abi>

/**
 * Finds the share transfers of a transaction that belong to a deposit, withdrawal or other event. Such an event
 * explains one transfer before or after it, because vaults emit the two in different orders.
 */
function explainedTransfers(
  vault: VaultOnChain,
  books: LedgerRules,
  events: readonly VaultEvent[],
): ReadonlySet<VaultEvent> {
  const key = ({ from, to, shares }: ExplainedTransfer) => `${from ?? ''} ${to ?? ''} ${shares}`
  const left = new Map<string, number>()
  for (const reason of events.flatMap((event) => books.explainTransfer(vault, event) ?? [])) {
    left.set(key(reason), (left.get(key(reason)) ?? 0) + 1)
  }
  const explained = new Set<VaultEvent>()
  const isBetweenOwners = ({ args: { from, to } }: TransferEvent) =>
    books.isOwner(vault, from) && books.isOwner(vault, to)
  // Transfers between owners are sorted last. An event of the vault, for example a deposit, usually explains a transfer
  // from or to the vault itself.
  const transfers = events
    .filter(isShareTransfer)
    .toSorted((one, other) => Number(isBetweenOwners(one)) - Number(isBetweenOwners(other)))
  for (const event of left.size > 0 ? transfers : []) {
    const { from, to, value: shares } = event.args
    const reason = [
      { from, to, shares },
      { to, shares },
      { from, shares },
    ]
      .map(key)
      .find((one) => left.get(one))
    if (reason === undefined) continue
    left.set(reason, (left.get(reason) ?? 0) - 1)
    explained.add(event)
  }
  return explained
}

function ownersChange(
  vault: VaultOnChain,
  { isOwner }: LedgerRules,
  { args }: TransferEvent,
): ShareTransfer | undefined {
  const { from, to, value: shares } = args
  const isToOther = to !== zeroAddress && from !== to && isOwner(vault, to)
  return isToOther && (from === zeroAddress || isOwner(vault, from)) ? { from, to, shares } : undefined
}

function locationOf(vault: VaultOnChain, { location }: VaultEvent) {
  const { chainId, transactionHash, blockNumber, logIndex, timestamp } = location
  const block = toBlockFields({ number: blockNumber, timestamp })
  return { chainId, vault: vault.address, transactionHash, logIndex, ...block }
}
