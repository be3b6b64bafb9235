import type { Address } from 'viem'
import type { erc20Abi } from '../../chain/erc20.ts'
import type { Books, EventOf } from '../books.ts'
import { namesReceiverFirst } from '../erc4626/deposited.ts'
import { erc4626Books } from '../erc4626/ledger.ts'
import type { erc7540Abi } from './abi.ts'
import type { Erc7540Vault } from './vault.ts'

type Event = EventOf<typeof erc7540Abi> | EventOf<typeof erc20Abi>

/**
 * The books of an asynchronous vault. Its price is read. Where its shares are between a request and its end
 * the standard does not say: a transfer to or from there is known by the event that tells its reason.
 */
export const erc7540Books: Books<Erc7540Vault, Event> = {
  repricing: new Set(['Deposit', 'Withdraw']),
  shareValue: erc4626Books.shareValue,

  standardize(events, ofAccount) {
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

  explained: (_, { eventName, args }) => {
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
          // Of a claim the sender is the controller, and the owner who receives the shares.
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

  handedOver({ isDepositAsync }, { eventName, args }) {
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

/** Whose assets or shares a request took, where not the controller's own. */
function payerOf({ controller, owner }: { readonly controller: Address; readonly owner: Address }) {
  return owner === controller ? {} : { payer: owner }
}

function moved(from: Address, to: Address, shares: bigint) {
  return from === to ? undefined : { from, to, shares }
}

/**
 * Whose request was cancelled, and who got what came back. Some vaults name the receiver first, under the same first
 * topic (Superform v2, Centrifuge before ERC-7887): the sender is the controller, unless an operator acts for it.
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
