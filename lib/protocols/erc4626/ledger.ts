import { zeroAddress } from 'viem'
import type { vaultAbi } from '../abi.ts'
import type { EventOf, LedgerRules } from '../books.ts'
import type { TokenizedVault } from '../tokenized-vault.ts'

type Event = EventOf<typeof vaultAbi>

/**
 * Rules that compute a synchronous vault's ledger from its events. The price is read from the chain, because amounts in
 * the events may include fees.
 */
export const erc4626Books: LedgerRules<TokenizedVault, Event> = {
  repricing: new Set(['Deposit', 'Withdraw']),
  explainTransfer: (_, { eventName, args }) =>
    eventName === 'Deposit' ? { from: zeroAddress, to: args.owner, shares: args.shares } : undefined,
  shareValue: (_, { assets, supply }, shares) => (supply > 0n ? (shares * assets) / supply : null),

  entries: (_, events) =>
    events.map(({ eventName, args }) => {
      if (eventName !== 'Deposit' && eventName !== 'Withdraw') return []
      const { owner, assets, shares } = args
      return eventName === 'Deposit'
        ? [{ account: owner, kind: 'deposit', requestId: 0n, assets, shares }]
        : [{ account: owner, kind: 'withdraw', assets, shares, isClaim: false }]
    }),

  isOwner: ({ address }, account) => account !== address,
  findHandover: () => undefined,
}
