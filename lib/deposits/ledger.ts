import { type Address, isAddressEqual, zeroAddress } from 'viem'
import * as z from 'zod'
import { Amount } from '../codecs.ts'
import type { PricePoint } from '../vaults/apy.ts'
import type { Vault } from '../vaults/vault.ts'
import type { VaultEvent } from './events.ts'
import type { Movement } from './movement.ts'

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
  // Lagoon, as OpenZeppelin's ERC-4626, counts one unit of assets and 10^offset shares that are nobody's.
  if (vault.kind === 'lagoon') return (shares * (assets + 1n)) / (supply + 10n ** decimalsOffset(vault))
  return supply === 0n ? null : (shares * assets) / supply
}

/** The ledger of a vault after more of its events, in order, and what they did. Pure, so the same events give the same. */
export function postEvents(vault: LedgerVault, before: Ledger, events: readonly VaultEvent[]): Posted {
  let ledger = before
  const movements: Movement[] = []
  const prices = new Map<bigint, RecordedPrice>()
  for (const [index, event] of events.entries()) {
    const sameTransaction = (other: VaultEvent) => other.position.transactionHash === event.position.transactionHash
    const near = events.slice(Math.max(0, index - NEAR), index + NEAR).filter(sameTransaction)
    ledger = post(vault, ledger, event, near)
    const settled = () =>
      near
        .filter((other) => other.position.logIndex > event.position.logIndex)
        .reduce((after, other) => post(vault, after, other, near), ledger)
    movements.push(...movementsOf(vault, { ledger, settled }, event, near))
    if (tellsPrice(vault, event)) {
      const price = shareValue(vault, ledger, 10n ** BigInt(vault.shareDecimals))
      const { blockNumber, timestamp } = event.position
      if (price !== null) prices.set(blockNumber, { price, timestamp, blockNumber })
    }
  }
  return { ledger, movements, prices: [...prices.values()] }
}

/** Whether the ledger after this event tells the price to the asset's unit: trades of less than a whole token do not. */
function tellsPrice({ kind, assetDecimals }: LedgerVault, event: VaultEvent): boolean {
  if (kind === 'lagoon') return REPRICING.has(event.eventName)
  const traded = event.eventName === 'Deposit' || event.eventName === 'Withdraw'
  return traded && event.args.assets >= 10n ** BigInt(assetDecimals)
}

/** How many events around one can belong to the same call. */
const NEAR = 12
const REPRICING: ReadonlySet<string> = new Set(['TotalAssetsUpdated', 'SettleDeposit', 'SettleRedeem'])

/** The smallest trade that tells a price: to a millionth. */
const PRECISE = 1_000_000n

function isPrecise({ assets, supply }: Ledger): boolean {
  return assets >= PRECISE && supply >= PRECISE
}

function post(vault: LedgerVault, ledger: Ledger, event: VaultEvent, near: readonly VaultEvent[]): Ledger {
  if (vault.kind === 'erc4626') {
    if (event.eventName !== 'Deposit' && event.eventName !== 'Withdraw') return ledger
    const trade = { assets: event.args.assets, supply: event.args.shares }
    // Anybody may trade a few units, whose ratio is far from the price.
    return isPrecise(trade) || (!isPrecise(ledger) && trade.supply > 0n) ? trade : ledger
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
      return { assets: assets - event.args.assets, supply }
    case 'Withdraw':
      // A closed vault pays at once and burns the owner's shares; a claim of a settled request does neither.
      return burns(near, event.args.owner, event.args.shares) ? { assets: assets - event.args.assets, supply } : ledger
    default:
      return ledger
  }
}

/** The ledger after an event, and after its whole transaction. */
type Ledgers = { readonly ledger: Ledger; readonly settled: () => Ledger }

function movementsOf(
  vault: LedgerVault,
  { ledger, settled }: Ledgers,
  event: VaultEvent,
  near: readonly VaultEvent[],
): Movement[] {
  const { position } = event
  const place = (user: Address) => ({
    user,
    chainId: position.chainId,
    vault: vault.address,
    transactionHash: position.transactionHash,
    blockNumber: Number(position.blockNumber),
    logIndex: position.logIndex,
    timestamp: new Date(Number(position.timestamp) * 1000),
  })
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
      return isAddressEqual(sender, owner) ? [claim] : [claim, ...moved(sender, owner, shares)]
    }
    case 'Withdraw':
    case 'WithdrawSync': {
      const { owner, assets, shares } = event.args
      return [{ ...place(owner), kind: 'withdraw', assets, shares }]
    }
    case 'RedeemRequest': {
      const { controller, owner, shares } = event.args
      return isAddressEqual(controller, owner) ? [] : moved(owner, controller, shares)
    }
    case 'Transfer': {
      const { from, to, value } = event.args
      if (value === 0n || isAddressEqual(from, to)) return []
      // Shares in the vault or its silo are on their way; requests, claims and settlements tell of them.
      const inside = [vault.address, ...(vault.pendingSilo ? [vault.pendingSilo] : [])]
      if (to === zeroAddress || inside.some((own) => isAddressEqual(own, from) || isAddressEqual(own, to))) return []
      if (from !== zeroAddress) return moved(from, to, value)
      // A mint that no deposit explains is a fee.
      if (isDeposit(near, vault, to, value)) return []
      // The assets that the shares stand for come with a later event of the transaction.
      return [{ ...place(to), kind: 'receive', assets: shareValue(vault, settled(), value) ?? 0n, shares: value }]
    }
    default:
      return []
  }
}

function burns(events: readonly VaultEvent[], owner: Address, shares: bigint): boolean {
  return events.some(
    ({ eventName, args }) =>
      eventName === 'Transfer' && args.from === owner && args.to === zeroAddress && args.value === shares,
  )
}

function isDeposit(events: readonly VaultEvent[], { kind }: LedgerVault, owner: Address, shares: bigint): boolean {
  const name = kind === 'erc4626' ? 'Deposit' : 'DepositSync'
  return events.some(
    (event) =>
      event.eventName === name &&
      'owner' in event.args &&
      'shares' in event.args &&
      event.args.owner === owner &&
      event.args.shares === shares,
  )
}

function decimalsOffset({ shareDecimals, assetDecimals }: LedgerVault): bigint {
  return BigInt(Math.max(0, shareDecimals - assetDecimals))
}
