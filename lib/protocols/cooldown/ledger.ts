import type { vaultAbi } from '../abi.ts'
import type { AssetPayment, EventOf, LedgerRules } from '../books.ts'
import { erc4626Books } from '../erc4626/ledger.ts'
import type { CooldownVault } from './vault.ts'

type Event = EventOf<typeof vaultAbi> | AssetPayment

/**
 * Rules that compute a cooldown vault's ledger from its events. A withdrawal to the silo, which holds assets during a
 * cooldown, is a request with a fixed payment. The vault emits no event when it pays, so the asset's transfer from the
 * silo shows the payment.
 */
export const cooldownBooks: LedgerRules<CooldownVault, Event> = {
  repricing: erc4626Books.repricing,
  findForeignTransferSource: ({ asset, silo }) => ({ token: asset, from: silo }),
  explainTransfer: (vault, event) =>
    event.eventName === 'HeardTransfer' ? undefined : erc4626Books.explainTransfer(vault, event),
  shareValue: erc4626Books.shareValue,

  entries: (vault, events) =>
    events.map((event) => {
      if (event.eventName === 'HeardTransfer') {
        const { to, value } = event.args
        return [{ account: to, kind: 'paid', assets: value }]
      }
      if (event.eventName === 'Withdraw' && event.args.receiver === vault.silo) {
        const { owner, assets, shares } = event.args
        return [{ account: owner, kind: 'redeem', requestId: 0n, shares, assets }]
      }
      return erc4626Books.entries(vault, [event])[0] ?? []
    }),

  isOwner: erc4626Books.isOwner,
  findHandover: () => undefined,
}
