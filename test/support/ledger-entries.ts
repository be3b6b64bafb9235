import fc from 'fast-check'
import type { LedgerEntry } from '../../lib/protocols/ledger-entry.ts'
import type { LiveAccount } from '../../lib/protocols/protocol.ts'

/** User's ledger entries in one Lagoon vault, and the account state that the vault reports after the last entry. */
export type AccountHistory = { readonly entries: readonly LedgerEntry[]; readonly live: LiveAccount }

type Step =
  | {
      readonly do: 'request' | 'sync' | 'receive' | 'send' | 'withdraw' | 'claim' | 'redeem' | 'fulfil' | 'take'
      readonly amount: bigint
    }
  | { readonly do: 'cancel' | 'settle' | 'cancelRedeem' }

const PLACE = {
  account: '0x00000000000000000000000000000000000000A1',
  chainId: 8453,
  vault: '0x00000000000000000000000000000000000000b2',
  transactionHash: `0x${'1'.repeat(64)}`,
} as const

/** Returns account, chain, block and time of the ledger entry with this index. Each index has its own block. */
export function ledgerPosition(index: number) {
  return { ...PLACE, blockNumber: index + 1, logIndex: 0, timestamp: new Date(1_795_132_800_000 + index * 1000) }
}

/** State of an account that never used the vault. */
export const UNUSED_ACCOUNT: LiveAccount = {
  pendingAssets: 0n,
  claimableAssets: 0n,
  claimableShares: 0n,
  cancelledDeposits: [],
  shares: 0n,
  pendingRedeemShares: 0n,
  claimableRedeemShares: 0n,
  claimableRedeemAssets: 0n,
  cancelledRedemptions: [],
  depositEpochId: 1,
  redeemEpochId: 2,
  lastRedeemRequestId: 0,
  lastDepositRequestId: 0,
  isTotalAssetsValid: false,
  sharePrice: 1n,
  worth: (shares) => shares,
}
/** Ledger entry without its block and time. */
export type UnlocatedEntry = LedgerEntry extends infer M
  ? M extends LedgerEntry
    ? Omit<M, keyof ReturnType<typeof ledgerPosition>>
    : never
  : never
/** Adds block and time to ledger entries, in order. */
export const locateEntries = (entries: readonly UnlocatedEntry[]): LedgerEntry[] =>
  entries.map((entry, index) => ({ ...ledgerPosition(index), ...entry }) as LedgerEntry)
const amount = fc.bigInt({ min: 0n, max: 10n ** 12n })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constantFrom('request', 'sync', 'receive', 'send', 'withdraw', 'claim'), amount }),
  fc.record({ do: fc.constantFrom('redeem', 'fulfil', 'take'), amount }),
  fc.record({ do: fc.constantFrom('cancel', 'settle', 'cancelRedeem') }),
)

/** Returns a settled request's rate: shares per unit of assets. The rates are whole numbers, so nothing is rounded. */
const rateOf = (requestId: bigint) => requestId / 2n + 2n

const REDEEMED = 3n

/**
 * Random account histories that a vault allows. Users claim only settled amounts, cancel only before a settlement and
 * transfer only their own shares. A redemption request can settle in parts and take further shares. After it has
 * settled completely, the next redemption gets a new request id.
 */
export const accountHistories: fc.Arbitrary<AccountHistory> = fc
  .array(step, { maxLength: 40 })
  .map((steps) => live(steps))

function live(steps: readonly Step[]): AccountHistory {
  const entries: LedgerEntry[] = []
  let epoch = 1n
  let open = { requestId: 0n, assets: 0n }
  let shares = 0n
  let redemptions = { requestId: 2n, pending: 0n, claimable: 0n }
  const isSettled = () => open.requestId < epoch
  const claim = (assets: bigint) => {
    const claimed = assets * rateOf(open.requestId)
    entries.push({ ...ledgerPosition(entries.length), kind: 'claim', assets, shares: claimed })
    open = { ...open, assets: open.assets - assets }
    shares += claimed
  }

  for (const step of steps) {
    if (step.do === 'request') {
      if (isSettled() && open.assets > 0n) claim(open.assets)
      open = { requestId: epoch, assets: (open.requestId === epoch ? open.assets : 0n) + step.amount }
      entries.push({
        ...ledgerPosition(entries.length),
        kind: 'deposit',
        requestId: epoch,
        assets: step.amount,
        shares: null,
      })
    } else if (step.do === 'cancel') {
      if (open.requestId !== epoch) continue
      open = { requestId: epoch, assets: 0n }
      entries.push({ ...ledgerPosition(entries.length), kind: 'cancel', requestId: epoch })
    } else if (step.do === 'settle') {
      epoch += 2n
    } else if (step.do === 'claim') {
      const assets = step.amount < open.assets ? step.amount : open.assets
      if (isSettled() && assets > 0n) claim(assets)
    } else if (step.do === 'sync') {
      entries.push({
        ...ledgerPosition(entries.length),
        kind: 'deposit',
        requestId: 0n,
        assets: step.amount,
        shares: step.amount * 2n,
      })
      shares += step.amount * 2n
    } else if (step.do === 'receive') {
      entries.push({ ...ledgerPosition(entries.length), kind: 'receive', assets: step.amount, shares: step.amount })
      shares += step.amount
    } else if (step.do === 'send' || step.do === 'withdraw') {
      const spent = step.amount < shares ? step.amount : shares
      if (spent === 0n) continue
      const moved = { ...ledgerPosition(entries.length), assets: spent / 2n, shares: spent }
      entries.push(step.do === 'send' ? { ...moved, kind: 'send' } : { ...moved, kind: 'withdraw', isClaim: false })
      shares -= spent
    } else if (step.do === 'redeem') {
      const requested = step.amount < shares ? step.amount : shares
      if (requested === 0n) continue
      const { requestId, pending } = redemptions
      entries.push({ ...ledgerPosition(entries.length), kind: 'redeem', requestId, shares: requested })
      redemptions = { ...redemptions, pending: pending + requested }
      shares -= requested
    } else if (step.do === 'cancelRedeem') {
      const { requestId, pending } = redemptions
      if (pending === 0n) continue
      entries.push({ ...ledgerPosition(entries.length), kind: 'cancelRedeem', requestId, shares: pending })
      redemptions = { ...redemptions, pending: 0n }
      shares += pending
    } else if (step.do === 'fulfil') {
      const { requestId, pending, claimable } = redemptions
      const settled = step.amount < pending ? step.amount : pending
      redemptions = {
        requestId: settled === pending ? requestId + 2n : requestId,
        pending: pending - settled,
        claimable: claimable + settled,
      }
    } else if (step.do === 'take') {
      const taken = step.amount < redemptions.claimable ? step.amount : redemptions.claimable
      if (taken === 0n) continue
      const paid = { assets: taken * REDEEMED, shares: taken, isClaim: true }
      entries.push({ ...ledgerPosition(entries.length), kind: 'withdraw', ...paid })
      redemptions = { ...redemptions, claimable: redemptions.claimable - taken }
    }
  }

  const claimable = isSettled() ? open.assets : 0n
  return {
    entries,
    live: {
      pendingAssets: isSettled() ? 0n : open.assets,
      claimableAssets: claimable,
      claimableShares: claimable * rateOf(open.requestId),
      cancelledDeposits: [],
      shares,
      pendingRedeemShares: redemptions.pending,
      claimableRedeemShares: redemptions.claimable,
      claimableRedeemAssets: redemptions.claimable * REDEEMED,
      cancelledRedemptions: [],
      depositEpochId: Number(epoch),
      redeemEpochId: Number(redemptions.requestId),
      lastRedeemRequestId: 0,
      lastDepositRequestId: 0,
      isTotalAssetsValid: false,
      sharePrice: 1_000_000n,
      worth: (of) => (of * 3n) / 7n,
    },
  }
}
