import { type Address, zeroAddress } from 'viem'
import type { erc20Abi } from '../../chain/erc20.ts'
import type { EventOf, Ledger, LedgerRules } from '../books.ts'
import type { lagoonAbi } from './abi.ts'
import { virtualShares } from './state.ts'
import type { LagoonVault } from './vault.ts'

type Event = EventOf<typeof lagoonAbi> | EventOf<typeof erc20Abi>

const VALUATIONS: ReadonlySet<string> = new Set(['TotalAssetsUpdated', 'SettleDeposit', 'SettleRedeem'])

/**
 * Rules that compute a Lagoon vault's ledger from its events. Total assets are those of the last valuation, plus later deposits and minus
 * later withdrawals. The price also counts Lagoon's virtual assets and shares, which prevent inflation attacks.
 */
export const lagoonBooks: LedgerRules<LagoonVault, Event> = {
  repricing: new Set(['Deposit', 'Withdraw', 'DepositSync', 'WithdrawSync', ...VALUATIONS]),
  // Lagoon's `Deposit` event is a claim of settled shares, so it mints nothing.
  explainTransfer: (_, { eventName, args }) =>
    eventName === 'DepositSync' ? { from: zeroAddress, to: args.owner, shares: args.shares } : undefined,
  shareValue,

  foldLedgers(vault, before, events) {
    const burns = burnsBefore(events)
    const after: Ledger[] = []
    for (const [index, event] of events.entries()) {
      const burn = burns[index]
      const beforeBurn = (burn && after[burn.index - 1]) ?? before
      after.push(ledgerAfter(vault, after.at(-1) ?? before, event, burn && { ...burn, before: beforeBurn }))
    }
    return after
  },

  // A transaction mints the fee shares after its valuation event. The price is therefore computed from the ledger at
  // the end of the transaction.
  priceAfter: (vault, after, events) =>
    events.some(({ eventName }) => VALUATIONS.has(eventName))
      ? shareValue(vault, after, 10n ** BigInt(vault.shareDecimals))
      : null,

  entries: (_, events) => {
    const burns = burnsBefore(events)
    return events.map((event, index) => entriesOf(event, burns[index]))
  },

  settlement({ eventName, args }) {
    switch (eventName) {
      case 'SettleDeposit':
        return {
          ...{ kind: 'deposit', lastId: BigInt(args.epochId) },
          ...{ requested: args.assetsDeposited, given: args.sharesMinted },
        }
      case 'SettleRedeem':
        return {
          ...{ kind: 'withdrawal', lastId: BigInt(args.epochId) },
          ...{ requested: args.sharesBurned, given: args.assetsWithdrawed },
        }
      default:
        return undefined
    }
  },

  settlementStep({ eventName, args }) {
    switch (eventName) {
      case 'DepositRequest':
        return { does: 'request', kind: 'deposit', id: args.requestId }
      case 'RedeemRequest':
        return { does: 'request', kind: 'withdrawal', id: args.requestId }
      case 'NewTotalAssetsUpdated':
        return { does: 'propose' }
      case 'TotalAssetsUpdated':
        return { does: 'settle' }
      default:
        return undefined
    }
  },

  isOwner: ({ address, pendingSilo }, account) => account !== address && account !== pendingSilo,

  findHandover(_, { eventName, args }) {
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
  // `counted` is zero or below if events are missing, or if the events show more burned shares than minted ones.
  return counted > 0n ? (shares * (assets + 1n)) / counted : null
}

/** Returns the ledger entries of an event. `burn` is the burn of shares that may belong to the event. */
function entriesOf(event: Event, burn: Burn | undefined): ReturnType<LedgerRules['entries']>[number] {
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
      // `sender` is the controller that claims; `owner` receives the shares.
      const { sender, assets, shares } = event.args
      return [{ account: sender, kind: 'claim', assets, shares }]
    }
    case 'RedeemRequest':
    case 'RedeemRequestCanceled': {
      const { controller, requestId, shares } = event.args
      const kind = event.eventName === 'RedeemRequest' ? 'redeem' : 'cancelRedeem'
      return [{ account: controller, kind, requestId, shares }]
    }
    case 'Withdraw':
    case 'WithdrawSync': {
      // `owner` is the controller if the event is a claim.
      const { owner, assets, shares } = event.args
      const isClaim = event.eventName === 'Withdraw' && !isReason(event, burn)
      return [{ account: owner, kind: 'withdraw', assets, shares, isClaim }]
    }
    default:
      return []
  }
}

type Burn = { readonly from: Address; readonly value: bigint; readonly index: number }

/**
 * Returns, for each event of a transaction, the burn of shares that may belong to the event. A withdrawal burns shares
 * before the vault emits its event. Only Transfer events, which mint the exit fee, can lie between the burn and that
 * event.
 */
function burnsBefore(events: readonly Event[]): readonly (Burn | undefined)[] {
  let burn: Burn | undefined
  return events.map((event, index) => {
    const waiting = burn
    if (event.eventName !== 'Transfer') burn = undefined
    else if (event.args.to === zeroAddress) burn = { ...event.args, index }
    return waiting
  })
}

type LedgerBurn = Burn & { readonly before: Ledger }

function ledgerAfter(vault: LagoonVault, ledger: Ledger, event: Event, burn: LedgerBurn | undefined): Ledger {
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
      // Total assets fall by the value of the burned shares. That is more than the payment if the vault takes a
      // haircut, a fee for instant payment.
      return isReason(event, burn)
        ? { assets: assets - (shareValue(vault, burn.before, burn.before.supply - supply) ?? 0n), supply }
        : { assets: assets - event.args.assets, supply }
    case 'Withdraw':
      // A burn of this event's shares shows that a closed vault paid immediately, so total assets fall. Without such a
      // burn, the event is a claim, which changes neither total assets nor supply.
      return isReason(event, burn) ? { assets: assets - event.args.assets, supply } : ledger
    default:
      return ledger
  }
}

function isReason<B extends Burn>(
  { args }: { args: { owner: Address; shares: bigint } },
  burn: B | undefined,
): burn is B {
  return burn !== undefined && burn.from === args.owner && burn.value === args.shares
}
