import { type Address, zeroAddress } from 'viem'
import { toStoredBlock } from '../chain/logs.ts'
import { MAX_UINT256 } from '../codecs.ts'
import {
  type Books,
  isShareTransfer,
  type Ledger,
  parseShareTransfer,
  type ShareTransfer,
  type VaultEvent,
} from '../protocols/books.ts'
import { getProtocol } from '../protocols/protocols.ts'
import type { VaultOnChain } from '../protocols/vault-on-chain.ts'
import type { PricePoint } from '../vaults/apy.ts'
import { isNothing, type LedgerEntry } from './ledger-entry.ts'

/** A price and the block whose events set it. */
type RecordedPrice = PricePoint & { readonly blockNumber: bigint }

/** What a vault's events led to: its ledger after them, and what happened to whom at which price. */
export type Posted = {
  readonly ledger: Ledger
  readonly entries: readonly LedgerEntry[]
  /** The price after each block whose events set one. */
  readonly prices: readonly RecordedPrice[]
}

/** Whether all amounts are from 0 to 2^256 - 1: a vault that makes up its events may lead to any others. */
export function isPossible({ ledger, entries, prices }: Posted): boolean {
  const amounts = entries.flatMap((entry) => [
    'assets' in entry ? entry.assets : 0n,
    'shares' in entry ? (entry.shares ?? 0n) : 0n,
  ])
  return [ledger.assets, ledger.supply, ...amounts, ...prices.map(({ price }) => price)].every(
    (amount) => amount >= 0n && amount <= MAX_UINT256,
  )
}

/** The ledger of a vault after more of its events, in order, and what they did. Pure, so the same events give the same. */
export function postEvents(vault: VaultOnChain, before: Ledger, events: readonly VaultEvent[]): Posted {
  let ledger = before
  const entries: LedgerEntry[] = []
  const prices = new Map<bigint, RecordedPrice>()
  for (const transaction of Map.groupBy(events, ({ location }) => location.transactionHash).values()) {
    const posted = postTransaction(vault, ledger, transaction)
    ledger = posted.ledger
    entries.push(...posted.entries.filter((entry) => !isNothing(entry)))
    const [first] = transaction
    if (!first || posted.price === null) continue
    const { blockNumber, timestamp } = first.location
    prices.set(blockNumber, { price: posted.price, timestamp, blockNumber })
  }
  return { ledger, entries, prices: [...prices.values()] }
}

/** What one transaction's events led to; `price` is null where they do not give it to the asset's unit. */
function postTransaction(vault: VaultOnChain, before: Ledger, events: readonly VaultEvent[]) {
  const { books } = getProtocol(vault)
  const ledgers = books.ledgers(vault, before, events)
  const ledger = ledgers.at(-1) ?? before
  const fees = feesAmong(vault, books, events)
  const done = books.entries(events)
  const entries = events.flatMap((event, index): LedgerEntry[] => {
    const fee = fees.get(event)
    const moved = fee ?? books.handedOver(event) ?? parseShareTransfer(vault, books, event)
    // A fee is minted before the event with the assets: it is valued by the ledger after the whole transaction.
    const by = fee ? ledger : (ledgers[index] ?? ledger)
    const assets = (moved && books.shareValue(vault, by, moved.shares)) ?? 0n
    const own: OwnEntry[] = fee ? [] : [...(done[index] ?? [])]
    if (moved && !fee) own.push({ account: moved.from, kind: 'send', assets, shares: moved.shares })
    if (moved) own.push({ account: moved.to, kind: 'receive', assets, shares: moved.shares })
    return own.map((entry) => ({ ...storedLocation(vault, event), ...entry }))
  })
  return { ledger, entries, price: books.priceAfter(vault, ledger, events) }
}

type OwnEntry = ReturnType<Books['entries']>[number][number]

/**
 * The mints of a transaction that are fees: those that no deposit explains. A deposit explains one mint of its shares to
 * its owner, wherever in the transaction it stands: vaults differ in their order.
 */
function feesAmong(
  vault: VaultOnChain,
  { minted, isOwner }: Books,
  events: readonly VaultEvent[],
): ReadonlyMap<VaultEvent, ShareTransfer> {
  const key = (owner: Address, shares: bigint) => `${owner} ${shares}`
  const explained = new Map<string, number>()
  for (const deposit of events.flatMap((event) => minted(event) ?? [])) {
    const minting = key(deposit.to, deposit.shares)
    explained.set(minting, (explained.get(minting) ?? 0) + 1)
  }
  const fees = new Map<VaultEvent, ShareTransfer>()
  for (const event of events) {
    if (!isShareTransfer(event) || event.args.from !== zeroAddress) continue
    const { from, to, value: shares } = event.args
    const left = explained.get(key(to, shares)) ?? 0
    if (left > 0) explained.set(key(to, shares), left - 1)
    else if (isOwner(vault, to)) fees.set(event, { from, to, shares })
  }
  return fees
}

function storedLocation(vault: VaultOnChain, { location }: VaultEvent) {
  const { chainId, transactionHash, blockNumber, logIndex, timestamp } = location
  const block = toStoredBlock({ number: blockNumber, timestamp })
  return { chainId, vault: vault.address, transactionHash, logIndex, ...block }
}
