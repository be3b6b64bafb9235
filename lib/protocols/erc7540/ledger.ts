import type { Address } from 'viem'
import type { erc20Abi } from '../../chain/erc20.ts'
import type { EventOf, LedgerRules } from '../books.ts'
import { namesReceiverFirst } from '../erc4626/deposited.ts'
import { erc4626Books } from '../erc4626/ledger.ts'
import type { erc7540Abi } from './abi.ts'
import type { Erc7540Vault } from './vault.ts'

type Event = EventOf<typeof erc7540Abi> | EventOf<typeof erc20Abi>

/**
 * Rules that compute an asynchronous vault's ledger from its events; the vault's price is read from the chain. The
 * standard does not define which address holds the shares of a request. The request events therefore identify the share
 * transfers to and from that address.
 */
export const erc7540Books: LedgerRules<Erc7540Vault, Event> = {
  repricing: new Set(['Deposit', 'Withdraw']),
  shareValue: erc4626Books.shareValue,

  normalizeEvents(events, ofAccount) {
    const deposits = events.flatMap(({ eventName, args }) => (eventName === 'Deposit' ? [args] : []))
    const transfers = events.flatMap(({ eventName, args }) =>
      eventName === 'Transfer' ? [{ from: args.from, to: args.to, shares: args.value }] : [],
    )
    if (!namesReceiverFirst(deposits, transfers, ofAccount)) return events
    return events.map((event) => {
      if (event.eventName !== 'Deposit') return event
      const { sender, owner, ...amounts } = event.args
      return { ...event, args: { ...amounts, sender: owner, owner: sender } }
    })
  },

  explainTransfer: (_, { eventName, args }) => {
    switch (eventName) {
      case 'Deposit':
        return { to: args.owner, shares: args.shares }
      case 'RedeemRequest':
        return { from: args.owner, shares: args.shares }
      case 'CancelRedeemClaim':
        return { to: cancellationOf(args).receiver, shares: args.shares }
      default:
        return undefined
    }
  },

  entries: ({ isDepositAsync, isRedemptionAsync }, events) =>
    events.map(({ eventName, args }) => {
      switch (eventName) {
        case 'DepositRequest': {
          const { controller, requestId, assets } = args
          return [{ account: controller, kind: 'deposit', requestId, assets, shares: null, ...payerOf(args) }]
        }
        case 'Deposit': {
          const { sender, owner, assets, shares } = args
          // The event of a vault with deposit requests is a claim, which names the controller as `sender` (ERC-7540).
          // Other vaults name the payer as `sender`, and the receiver of the shares as `owner`.
          return isDepositAsync
            ? [{ account: sender, kind: 'claim', assets, shares }]
            : [{ account: owner, kind: 'deposit', requestId: 0n, assets, shares }]
        }
        case 'CancelDepositClaim':
          return [
            {
              account: cancellationOf(args).controller,
              kind: 'cancel',
              requestId: args.requestId,
              assets: args.assets,
            },
          ]
        case 'RedeemRequest': {
          const { controller, requestId, shares } = args
          return [{ account: controller, kind: 'redeem', requestId, shares, ...payerOf(args) }]
        }
        case 'CancelRedeemClaim': {
          const { requestId, shares } = args
          return [{ account: cancellationOf(args).controller, kind: 'cancelRedeem', requestId, shares }]
        }
        case 'Withdraw': {
          const { owner, assets, shares } = args
          return [{ account: owner, kind: 'withdraw', assets, shares, isClaim: isRedemptionAsync }]
        }
        default:
          return []
      }
    }),

  isOwner: ({ address }, account) => account !== address,

  findHandover({ isDepositAsync }, { eventName, args }) {
    switch (eventName) {
      case 'Deposit':
        return isDepositAsync ? moved(args.sender, args.owner, args.shares) : undefined
      case 'RedeemRequest':
        return moved(args.owner, args.controller, args.shares)
      case 'CancelRedeemClaim': {
        const { controller, receiver } = cancellationOf(args)
        return moved(controller, receiver, args.shares)
      }
      default:
        return undefined
    }
  },
}

function payerOf({ controller, owner }: { readonly controller: Address; readonly owner: Address }) {
  return owner === controller ? {} : { payer: owner }
}

function moved(from: Address, to: Address, shares: bigint) {
  return from === to ? undefined : { from, to, shares }
}

/**
 * Returns the controller and the receiver of a cancellation. Superform v2, and Centrifuge before ERC-7887, emit these
 * two arguments of the event in reverse order. The argument that equals the sender is the controller, unless an
 * operator sends for the controller.
 */
function cancellationOf({
  controller,
  receiver,
  sender,
}: {
  readonly controller: Address
  readonly receiver: Address
  readonly sender: Address
}) {
  return receiver === sender ? { controller: receiver, receiver: controller } : { controller, receiver }
}
