import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildWithdrawals, type Withdrawal } from '../../../lib/activity/withdrawals.ts'
import type { LiveAccount } from '../../../lib/protocols/protocol.ts'
import { accountHistories, locateEntries, UNUSED_ACCOUNT, type UnlocatedEntry } from '../../support/ledger-entries.ts'

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)
const total = (withdrawals: readonly Withdrawal[], part: 'paidAssets' | (`${string}Shares` & keyof Withdrawal)) =>
  sum(withdrawals.map((withdrawal) => withdrawal[part]))

const redeem = (requestId: bigint, shares: bigint): UnlocatedEntry => ({ kind: 'redeem', requestId, shares })
const cancel = (requestId: bigint, shares: bigint): UnlocatedEntry => ({ kind: 'cancelRedeem', requestId, shares })
const claim = (shares: bigint, assets: bigint): UnlocatedEntry => ({ kind: 'withdraw', assets, shares, isClaim: true })
const hashOf = (index: number) => `0x${index.toString(16).padStart(64, '0')}` as const

const summarizeWithdrawals = (entries: readonly UnlocatedEntry[], live: Partial<LiveAccount> = {}) =>
  buildWithdrawals(locateEntries(entries), { ...UNUSED_ACCOUNT, ...live }).map(
    ({ status, assets, pendingShares, claimableShares, paidShares, cancelledShares }) => [
      status,
      assets,
      pendingShares,
      claimableShares,
      paidShares,
      cancelledShares,
    ],
  )

describe('The withdrawals of a user from a vault', () => {
  test('are all redemption requests and all instant withdrawals, once and in order', () => {
    fc.assert(
      fc.property(accountHistories, ({ entries, live }) => {
        const expected = entries.filter(
          (entry) => entry.kind === 'redeem' || (entry.kind === 'withdraw' && !entry.isClaim),
        )
        expect(buildWithdrawals(entries, live).map(({ entry }) => entry)).toEqual(expected)
      }),
    )
  })

  test('have amounts that add up to the account’s, to the last unit', () => {
    fc.assert(
      fc.property(accountHistories, ({ entries, live }) => {
        const withdrawals = buildWithdrawals(entries, live)
        expect(total(withdrawals, 'pendingShares')).toBe(live.pendingRedeemShares)
        expect(total(withdrawals, 'claimableShares')).toBe(live.claimableRedeemShares)
        expect(sum(withdrawals.map(({ claimableAssets }) => claimableAssets))).toBe(live.claimableRedeemAssets)
        const paid = entries.flatMap((entry) => (entry.kind === 'withdraw' ? [entry] : []))
        expect(total(withdrawals, 'paidAssets')).toBe(sum(paid.map(({ assets }) => assets)))
        expect(total(withdrawals, 'paidShares')).toBe(sum(paid.map(({ shares }) => shares)))
        const cancelled = entries.flatMap((entry) => (entry.kind === 'cancelRedeem' ? [entry.shares] : []))
        expect(total(withdrawals, 'cancelledShares')).toBe(sum(cancelled))
        for (const { entry, pendingShares, claimableShares, paidShares, cancelledShares } of withdrawals) {
          expect(pendingShares + claimableShares + paidShares + cancelledShares).toBe(entry.shares)
        }
      }),
    )
  })

  test('have the status of their least advanced part, and assets once nothing is pending', () => {
    fc.assert(
      fc.property(accountHistories, ({ entries, live }) => {
        for (const withdrawal of buildWithdrawals(entries, live)) {
          const { status, assets, pendingShares, claimableShares, claimableAssets, paidShares, paidAssets } = withdrawal
          expect(pendingShares > 0n).toBe(status === 'pending')
          if (status !== 'pending') expect(claimableShares > 0n).toBe(status === 'claimable')
          if (status === 'completed' || status === 'cancelled') expect(paidShares > 0n).toBe(status === 'completed')
          expect(assets).toBe(status === 'pending' ? null : paidAssets + claimableAssets)
          expect(withdrawal.claimTransactionHash === null).toBe(paidShares === 0n)
        }
      }),
    )
  })

  test('are settled and paid in order', () => {
    fc.assert(
      fc.property(accountHistories, ({ entries, live }) => {
        const requests = buildWithdrawals(entries, live).filter(({ entry }) => entry.kind === 'redeem')
        for (const [index, { pendingShares, claimableShares }] of requests.entries()) {
          const later = requests.slice(index + 1)
          expect(pendingShares > 0n && total(later, 'claimableShares') > 0n).toBe(false)
          expect(pendingShares + claimableShares > 0n && total(later, 'paidShares') > 0n).toBe(false)
        }
      }),
    )
  })

  test('share a claim pro rata, and each names the transaction of its last payment', () => {
    const entries = [redeem(2n, 3n), redeem(2n, 7n), claim(2n, 21n), claim(5n, 53n), claim(3n, 30n)].map(
      (one, index) => ({ ...one, transactionHash: hashOf(index) }),
    )
    const build = (count: number, live: Partial<LiveAccount> = {}) =>
      buildWithdrawals(locateEntries(entries.slice(0, count)), { ...UNUSED_ACCOUNT, ...live }).map(
        ({ status, paidAssets, assets, claimTransactionHash }) => [status, paidAssets, assets, claimTransactionHash],
      )
    expect(build(3, { claimableRedeemShares: 8n, claimableRedeemAssets: 83n })).toEqual([
      ['claimable', 21n, 31n, hashOf(2)],
      ['claimable', 0n, 73n, null],
    ])
    expect(build(5)).toEqual([
      ['completed', 31n, 31n, hashOf(3)],
      ['completed', 73n, 73n, hashOf(4)],
    ])
  })

  test('can be settled in part, oldest first', () => {
    const entries = [redeem(0n, 10n), redeem(0n, 10n)]
    expect(
      summarizeWithdrawals(entries, {
        pendingRedeemShares: 5n,
        claimableRedeemShares: 15n,
        claimableRedeemAssets: 30n,
      }),
    ).toEqual([
      ['claimable', 20n, 0n, 10n, 0n, 0n],
      ['pending', null, 5n, 5n, 0n, 0n],
    ])
    const live = { pendingRedeemShares: 5n, claimableRedeemShares: 4n, claimableRedeemAssets: 8n }
    expect(summarizeWithdrawals([...entries, claim(11n, 22n)], live)).toEqual([
      ['completed', 20n, 0n, 0n, 10n, 0n],
      ['pending', null, 5n, 4n, 1n, 0n],
    ])
  })

  test('are cancelled as far as they are not settled, the latest of their id first', () => {
    const entries = [redeem(2n, 9n), claim(9n, 9n), redeem(4n, 5n), redeem(4n, 6n), cancel(4n, 11n), redeem(4n, 7n)]
    expect(summarizeWithdrawals(entries, { pendingRedeemShares: 7n })).toEqual([
      ['completed', 9n, 0n, 0n, 9n, 0n],
      ['cancelled', 0n, 0n, 0n, 0n, 5n],
      ['cancelled', 0n, 0n, 0n, 0n, 6n],
      ['pending', null, 7n, 0n, 0n, 0n],
    ])
    // Both requests of 10 shares have the same id. The vault settles 12 of the 20 shares and cancels the other 8.
    const partly = [redeem(0n, 10n), redeem(0n, 10n), cancel(0n, 8n)]
    expect(summarizeWithdrawals(partly, { claimableRedeemShares: 12n, claimableRedeemAssets: 24n })).toEqual([
      ['claimable', 20n, 0n, 10n, 0n, 0n],
      ['claimable', 4n, 0n, 2n, 0n, 8n],
    ])
    expect(summarizeWithdrawals([...partly, claim(12n, 24n)]).map(([status]) => status)).toEqual([
      'completed',
      'completed',
    ])
  })

  test('cancelled after a later payment are cancelled, and the payment belongs to the later one', () => {
    const entries = [redeem(1n, 10n), redeem(2n, 20n), claim(20n, 40n), cancel(1n, 10n)]
    expect(summarizeWithdrawals(entries)).toEqual([
      ['cancelled', 0n, 0n, 0n, 0n, 10n],
      ['completed', 40n, 0n, 0n, 20n, 0n],
    ])
    const [cancelled] = buildWithdrawals(locateEntries(entries), UNUSED_ACCOUNT)
    expect(cancelled?.claimTransactionHash).toBeNull()
  })

  test('match the vault’s pending shares and are fully cancelled after claims were rounded up', () => {
    const entries = [redeem(0n, 10n), redeem(0n, 20n), claim(6n, 12n), claim(5n, 10n)]
    expect(
      summarizeWithdrawals(entries, {
        pendingRedeemShares: 4n,
        claimableRedeemShares: 16n,
        claimableRedeemAssets: 32n,
      }),
    ).toEqual([
      ['completed', 20n, 0n, 0n, 10n, 0n],
      ['pending', null, 4n, 16n, 1n, 0n],
    ])
    expect(summarizeWithdrawals([...entries, cancel(0n, 20n)]).map((one) => one.at(-1))).toEqual([0n, 20n])
  })

  test('get nothing of an earlier payment, even if it was rounded up', () => {
    const entries = [redeem(0n, 10n), claim(6n, 12n), claim(6n, 12n), redeem(0n, 20n)]
    expect(summarizeWithdrawals(entries, { pendingRedeemShares: 20n })).toEqual([
      ['completed', 24n, 0n, 0n, 10n, 0n],
      ['pending', null, 20n, 0n, 0n, 0n],
    ])
    expect(buildWithdrawals(locateEntries(entries), UNUSED_ACCOUNT).at(-1)?.claimTransactionHash).toBeNull()
  })

  test('are pending while the vault neither shows nor paid anything of them', () => {
    expect(summarizeWithdrawals([redeem(2n, 9n)])).toEqual([['pending', null, 0n, 0n, 0n, 0n]])
    // The vault lost one of nine shares by rounding: no claim paid that share, and the vault does not report it as
    // pending.
    expect(summarizeWithdrawals([redeem(2n, 9n), claim(8n, 8n)])).toEqual([['completed', 8n, 0n, 0n, 8n, 0n]])
  })
})
