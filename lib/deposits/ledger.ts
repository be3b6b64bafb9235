import { type Address, zeroAddress } from 'viem'
import * as z from 'zod'
import { Amount, MAX_UINT256 } from '../codecs.ts'
import type { PricePoint } from '../vaults/apy.ts'
import { virtualShares } from '../vaults/lagoon.ts'
import type { Vault } from '../vaults/vault.ts'
import type { VaultEvent } from './events.ts'
import { isNothing, type Movement } from './movement.ts'

/**
 * What the events of a vault so far say of its price, in smallest units. Shares are worth
 * `shares × assets / supply`, rounded down.
 */
export const Ledger = z.object({
  /** Lagoon: the last valuation with what came and went since; others: the assets of the last deposit or withdrawal. */
  assets: Amount,
  /** Lagoon: all shares; others: the shares of that deposit or withdrawal. */
  supply: Amount,
})
export type Ledger = z.output<typeof Ledger>

/** A vault before its first event. */
export const EMPTY_LEDGER: Ledger = { assets: 0n, supply: 0n }

type LedgerVault = Pick<Vault, 'kind' | 'address' | 'pendingSilo' | 'assetDecimals' | 'shareDecimals'>

/** A price and the block that told it. */
type RecordedPrice = PricePoint & { readonly blockNumber: bigint }

/** What a vault's events led to: its ledger after them, and what happened to whom at which price. */
export type Posted = {
  readonly ledger: Ledger
  readonly movements: readonly Movement[]
  /** The price after each block that tells it: by a valuation or settlement of Lagoon's, by a trade with others. */
  readonly prices: readonly RecordedPrice[]
}

/** What these shares are worth by the ledger, in the asset's smallest unit; null before there is a price. */
function shareValue(vault: LedgerVault, { assets, supply }: Ledger, shares: bigint): bigint | null {
  // Lagoon counts one unit of assets that is nobody's, and shares that are nobody's, too.
  const [worth, of] = vault.kind === 'lagoon' ? [assets + 1n, supply + virtualShares(vault)] : [assets, supply]
  // A part of the events, or those of a vault that makes them up, may burn more than was minted.
  return of > 0n ? (shares * worth) / of : null
}

/** Whether all amounts are such as there can be: the events of a vault that makes them up may lead to any. */
export function isPossible({ ledger, movements, prices }: Posted): boolean {
  const amounts = movements.flatMap((movement) =>
    movement.kind === 'cancel' ? [] : [movement.assets, movement.shares ?? 0n],
  )
  return [ledger.assets, ledger.supply, ...amounts, ...prices.map(({ price }) => price)].every(
    (amount) => amount >= 0n && amount <= MAX_UINT256,
  )
}

/** The ledger of a vault after more of its events, in order, and what they did. Pure, so the same events give the same. */
export function postEvents(vault: LedgerVault, before: Ledger, events: readonly VaultEvent[]): Posted {
  let ledger = before
  const movements: Movement[] = []
  const prices = new Map<bigint, RecordedPrice>()
  for (const transaction of Map.groupBy(events, ({ position }) => position.transactionHash).values()) {
    const posted = postTransaction(vault, ledger, transaction)
    ledger = posted.ledger
    movements.push(...posted.movements.filter((movement) => !isNothing(movement)))
    const { blockNumber, timestamp } = (transaction[0] as VaultEvent).position
    if (posted.price !== null) prices.set(blockNumber, { price: posted.price, timestamp, blockNumber })
  }
  return { ledger, movements, prices: [...prices.values()] }
}

/** What one transaction's events led to; `price` is null where they do not tell it to the asset's unit. */
function postTransaction(vault: LedgerVault, before: Ledger, events: readonly VaultEvent[]) {
  const steps: { event: VaultEvent; ledger: Ledger }[] = []
  let ledger = before
  let burn: Burn | undefined
  for (const event of events) {
    const after = post(vault, ledger, event, burn)
    if (event.eventName !== 'Transfer') burn = undefined
    else if (event.args.to === zeroAddress) burn = { ...event.args, before: ledger }
    ledger = after
    steps.push({ event, ledger })
  }
  const fees = feesAmong(vault, events)
  const movements = steps.flatMap((step) =>
    // A fee is minted before the event that tells of the assets: it is worth what the whole transaction made of it.
    fees.has(step.event) ? movementsOfFee(vault, ledger, step.event) : movementsOf(vault, step.ledger, step.event),
  )
  return { ledger, movements, price: priceAfter(vault, ledger, events) }
}

/** What one whole share is worth after a transaction, if its events tell. */
function priceAfter(vault: LedgerVault, after: Ledger, events: readonly VaultEvent[]): bigint | null {
  const unit = 10n ** BigInt(vault.shareDecimals)
  // Fees are minted after the valuation that they are taken at: the price is that of the transaction's end.
  if (vault.kind === 'lagoon') {
    return events.some(({ eventName }) => REPRICING.has(eventName)) ? shareValue(vault, after, unit) : null
  }
  // Trades of less than a whole token do not tell the price to the asset's unit.
  const trade = events.map(tradeOf).findLast((traded) => traded && traded.assets >= 10n ** BigInt(vault.assetDecimals))
  return trade ? shareValue(vault, trade, unit) : null
}

const REPRICING: ReadonlySet<string> = new Set(['TotalAssetsUpdated', 'SettleDeposit', 'SettleRedeem'])

/** What a deposit or withdrawal of a synchronous vault tells of the price. */
function tradeOf({ eventName, args }: VaultEvent): Ledger | undefined {
  return eventName === 'Deposit' || eventName === 'Withdraw' ? { assets: args.assets, supply: args.shares } : undefined
}

/** The smallest trade that tells a price: to a millionth. */
const PRECISE = 1_000_000n

function isPrecise({ assets, supply }: Ledger): boolean {
  return assets >= PRECISE && supply >= PRECISE
}

/**
 * A burn of a Lagoon vault whose reason is not told yet, and the ledger before it. The vault's next event but transfers
 * tells the reason: nothing of the vault's comes between, but the mints of an exit fee.
 */
type Burn = { readonly from: Address; readonly value: bigint; readonly before: Ledger }

function post(vault: LedgerVault, ledger: Ledger, event: VaultEvent, burn: Burn | undefined): Ledger {
  if (vault.kind === 'erc4626') {
    const trade = tradeOf(event)
    // Anybody may trade a few units, whose ratio is far from the price.
    return trade && (isPrecise(trade) || (!isPrecise(ledger) && trade.supply > 0n)) ? trade : ledger
  }
  const { assets, supply } = ledger
  switch (event.eventName) {
    case 'Transfer':
      if (event.args.from === zeroAddress) return { assets, supply: supply + event.args.value }
      return event.args.to === zeroAddress ? { assets, supply: supply - event.args.value } : ledger
    case 'TotalAssetsUpdated':
    case 'SettleDeposit':
    case 'SettleRedeem':
      return { assets: event.args.totalAssets, supply }
    case 'DepositSync':
      return { assets: assets + event.args.assets, supply }
    case 'WithdrawSync':
      // The total falls by what the shares that are gone were worth: with a haircut by more than is paid.
      return isReason(event, burn)
        ? { assets: assets - (shareValue(vault, burn.before, burn.before.supply - supply) ?? 0n), supply }
        : { assets: assets - event.args.assets, supply }
    case 'Withdraw':
      // A closed vault pays at once and burns the owner's shares; a claim of a settled request does neither.
      return isReason(event, burn) ? { assets: assets - event.args.assets, supply } : ledger
    default:
      return ledger
  }
}

function isReason({ args }: { args: { owner: Address; shares: bigint } }, burn: Burn | undefined): burn is Burn {
  return burn !== undefined && burn.from === args.owner && burn.value === args.shares
}

/**
 * The mints of a transaction that are fees: those that no deposit explains. A deposit explains one mint of its shares to
 * its owner, wherever in the transaction it stands: vaults differ in their order.
 */
function feesAmong(vault: LedgerVault, events: readonly VaultEvent[]): ReadonlySet<VaultEvent> {
  const key = (owner: Address, shares: bigint) => `${owner} ${shares}`
  const explained = new Map<string, number>()
  for (const event of events) {
    if (event.eventName !== 'Deposit' && event.eventName !== 'DepositSync') continue
    // On Lagoon that event tells of a claim, which mints nothing.
    if (event.eventName === 'Deposit' && vault.kind === 'lagoon') continue
    const told = key(event.args.owner, event.args.shares)
    explained.set(told, (explained.get(told) ?? 0) + 1)
  }
  const fees = new Set<VaultEvent>()
  for (const event of events) {
    if (event.eventName !== 'Transfer' || event.args.from !== zeroAddress) continue
    const minted = key(event.args.to, event.args.value)
    const left = explained.get(minted) ?? 0
    if (left > 0) explained.set(minted, left - 1)
    else if (!isInside(vault, event.args.to)) fees.add(event)
  }
  return fees
}

/** What an event did, by the ledger after it; fees and what moves nothing left out. */
function movementsOf(vault: LedgerVault, ledger: Ledger, event: VaultEvent): Movement[] {
  const place = placeIn(vault, event)
  const moved = (from: Address, to: Address, shares: bigint): Movement[] => {
    const assets = shareValue(vault, ledger, shares) ?? 0n
    return [
      { ...place(from), kind: 'send', assets, shares },
      { ...place(to), kind: 'receive', assets, shares },
    ]
  }

  switch (event.eventName) {
    case 'DepositRequest': {
      const { controller, requestId, assets } = event.args
      return [{ ...place(controller), kind: 'deposit', requestId, assets, shares: null }]
    }
    case 'DepositRequestCanceled':
      return [{ ...place(event.args.controller), kind: 'cancel', requestId: event.args.requestId }]
    case 'DepositSync': {
      const { owner, assets, shares } = event.args
      return [{ ...place(owner), kind: 'deposit', requestId: 0n, assets, shares }]
    }
    case 'Deposit': {
      const { sender, owner, assets, shares } = event.args
      if (vault.kind === 'erc4626') return [{ ...place(owner), kind: 'deposit', requestId: 0n, assets, shares }]
      // On Lagoon a claim: sender is the controller, owner the receiver of the shares.
      const claim: Movement = { ...place(sender), kind: 'claim', assets, shares }
      return sender === owner ? [claim] : [claim, ...moved(sender, owner, shares)]
    }
    case 'Withdraw':
    case 'WithdrawSync': {
      const { owner, assets, shares } = event.args
      return [{ ...place(owner), kind: 'withdraw', assets, shares }]
    }
    case 'RedeemRequest': {
      const { controller, owner, shares } = event.args
      return controller === owner ? [] : moved(owner, controller, shares)
    }
    case 'Transfer': {
      const { from, to, value } = event.args
      // Mints are deposits' or fees; shares in the vault or its silo are on their way, and requests, claims and
      // settlements tell of them.
      const isOwnersChange = from !== zeroAddress && to !== zeroAddress && from !== to
      return isOwnersChange && !isInside(vault, from) && !isInside(vault, to) ? moved(from, to, value) : []
    }
    default:
      return []
  }
}

/** The shares of a fee, received. */
function movementsOfFee(vault: LedgerVault, ledger: Ledger, event: VaultEvent): Movement[] {
  if (event.eventName !== 'Transfer') return []
  const { to, value } = event.args
  return [
    { ...placeIn(vault, event)(to), kind: 'receive', assets: shareValue(vault, ledger, value) ?? 0n, shares: value },
  ]
}

function placeIn(vault: LedgerVault, { position }: VaultEvent) {
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

/** Whether an account is the vault itself or its silo. */
function isInside({ address, pendingSilo }: LedgerVault, account: Address): boolean {
  return account === address || account === pendingSilo
}
