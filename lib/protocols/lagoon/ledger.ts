import { type Address, zeroAddress } from 'viem'
import type { erc20Abi } from '../../chain/erc20.ts'
import type { Books, EventOf, Ledger } from '../books.ts'
import type { lagoonAbi } from './abi.ts'
import { virtualShares } from './state.ts'
import type { LagoonVault } from './vault.ts'

type Event = EventOf<typeof lagoonAbi> | EventOf<typeof erc20Abi>

/** The events that tell a new total of assets. */
const VALUATIONS: ReadonlySet<string> = new Set(['TotalAssetsUpdated', 'SettleDeposit', 'SettleRedeem'])

/**
 * The books of a Lagoon vault. Its ledger: the last valuation with what came and went since, and all shares. One unit of
 * assets that is nobody's counts, and shares that are nobody's, too.
 */
export const lagoonBooks: Books<LagoonVault, Event> = {
  pricedBy: 'valuations',
  repricing: new Set(['Deposit', 'Withdraw', 'DepositSync', 'WithdrawSync', ...VALUATIONS]),
  // `Deposit` tells of a claim here, which mints nothing.
  minted: (event) =>
    event.eventName === 'DepositSync' ? { to: event.args.owner, shares: event.args.shares } : undefined,
  shareValue,

  ledgers(vault, before, events) {
    let ledger = before
    let burn: Burn | undefined
    return events.map((event) => {
      const after = ledgerAfter(vault, ledger, event, burn)
      if (event.eventName !== 'Transfer') burn = undefined
      else if (event.args.to === zeroAddress) burn = { ...event.args, before: ledger }
      ledger = after
      return ledger
    })
  },

  // Fees are minted after the valuation that they are taken at: the price is that of the transaction's end.
  priceAfter: (vault, after, events) =>
    events.some(({ eventName }) => VALUATIONS.has(eventName))
      ? shareValue(vault, after, 10n ** BigInt(vault.shareDecimals))
      : null,

  entries(event) {
    switch (event.eventName) {
      case 'DepositRequest': {
        const { controller, requestId, assets } = event.args
        return [{ account: controller, kind: 'deposit', requestId, assets, shares: null }]
      }
      case 'DepositRequestCanceled':
        return [{ account: event.args.controller, kind: 'cancel', requestId: event.args.requestId }]
      case 'DepositSync': {
        const { owner, assets, shares } = event.args
        return [{ account: owner, kind: 'deposit', requestId: 0n, assets, shares }]
      }
      case 'Deposit': {
        // A claim: sender is the controller, owner the receiver of the shares.
        const { sender, assets, shares } = event.args
        return [{ account: sender, kind: 'claim', assets, shares }]
      }
      case 'Withdraw':
      case 'WithdrawSync': {
        const { owner, assets, shares } = event.args
        return [{ account: owner, kind: 'withdraw', assets, shares }]
      }
      default:
        return []
    }
  },

  isOwner: ({ address, pendingSilo }, account) => account !== address && account !== pendingSilo,

  handedOver({ eventName, args }) {
    if (eventName === 'Deposit' && args.sender !== args.owner) {
      return { from: args.sender, to: args.owner, shares: args.shares }
    }
    if (eventName === 'RedeemRequest' && args.controller !== args.owner) {
      return { from: args.owner, to: args.controller, shares: args.shares }
    }
    return undefined
  },
}

function shareValue(vault: LagoonVault, { assets, supply }: Ledger, shares: bigint): bigint | null {
  const counted = supply + virtualShares(vault)
  // A part of the events, or those of a vault that makes them up, may burn more than was minted.
  return counted > 0n ? (shares * (assets + 1n)) / counted : null
}

/**
 * A burn whose reason is not told yet, and the ledger before it. The vault's next event but transfers tells the reason:
 * nothing of the vault's comes between, but the mints of an exit fee.
 */
type Burn = { readonly from: Address; readonly value: bigint; readonly before: Ledger }

function ledgerAfter(vault: LagoonVault, ledger: Ledger, event: Event, burn: Burn | undefined): Ledger {
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
