import { zeroAddress } from 'viem'
import type { vaultAbi } from '../abi.ts'
import type { Books, EventOf, Ledger } from '../books.ts'
import type { TokenizedVault } from '../tokenized-vault.ts'

type Event = EventOf<typeof vaultAbi>

/** The smallest trade that tells a price: to a millionth. */
const PRECISE = 1_000_000n

/** The ledger of a vault is its last trade: a deposit or withdrawal. */
export const erc4626Books: Books<TokenizedVault, Event> = {
  repricing: new Set(['Deposit', 'Withdraw']),
  explained: (_, { eventName, args }) =>
    eventName === 'Deposit' ? { from: zeroAddress, to: args.owner, shares: args.shares } : undefined,
  shareValue: (_, trade, shares) => valueAt(trade, shares),

  ledgers(_, before, events) {
    let ledger = before
    return events.map((event) => {
      const trade = tradeOf(event)
      // Anybody may trade a few units, whose ratio is far from the price.
      if (trade && (isPrecise(trade) || (!isPrecise(ledger) && trade.supply > 0n))) ledger = trade
      return ledger
    })
  },

  entries: (_, events) =>
    events.map(({ eventName, args }) => {
      if (eventName !== 'Deposit' && eventName !== 'Withdraw') return []
      const { owner, assets, shares } = args
      return eventName === 'Deposit'
        ? [{ account: owner, kind: 'deposit', requestId: 0n, assets, shares }]
        : [{ account: owner, kind: 'withdraw', assets, shares, isClaim: false }]
    }),

  isOwner: ({ address }, account) => account !== address,
  handedOver: () => undefined,
}

function valueAt({ assets, supply }: Ledger, shares: bigint): bigint | null {
  return supply > 0n ? (shares * assets) / supply : null
}

function tradeOf({ eventName, args }: Event): Ledger | undefined {
  return eventName === 'Deposit' || eventName === 'Withdraw' ? { assets: args.assets, supply: args.shares } : undefined
}

function isPrecise({ assets, supply }: Ledger): boolean {
  return assets >= PRECISE && supply >= PRECISE
}
