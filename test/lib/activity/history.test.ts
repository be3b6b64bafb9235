import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildDeposits } from '../../../lib/activity/history.ts'
import type { LiveAccount } from '../../../lib/protocols/protocol.ts'
import { accountHistories, locateEntries, UNUSED_ACCOUNT, type UnlocatedEntry } from '../../support/ledger-entries.ts'

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, amount) => total + amount, 0n)

const request = (requestId: bigint, assets: bigint): UnlocatedEntry => ({
  kind: 'deposit',
  requestId,
  assets,
  shares: null,
})
const claim = (assets: bigint, shares: bigint): UnlocatedEntry => ({ kind: 'claim', assets, shares })

const summarizeDeposits = (entries: readonly UnlocatedEntry[], live: Partial<LiveAccount>) =>
  buildDeposits(locateEntries(entries), { ...UNUSED_ACCOUNT, ...live }).map(
    ({ status, pendingDeposit, claimableShares, currentShares }) => [
      status,
      pendingDeposit,
      claimableShares,
      currentShares,
    ],
  )

describe('The deposits of a user in a vault', () => {
  test('are all listed once, in order', () => {
    fc.assert(
      fc.property(accountHistories, ({ entries, live }) => {
        const deposits = entries.filter(({ kind }) => kind === 'deposit')
        expect(buildDeposits(entries, live).map(({ entry }) => entry)).toEqual(deposits)
      }),
    )
  })

  test('have amounts that add up to the account’s, to the last unit', () => {
    fc.assert(
      fc.property(accountHistories, ({ entries, live }) => {
        const deposits = buildDeposits(entries, live)
        expect(sum(deposits.map(({ pendingDeposit }) => pendingDeposit))).toBe(live.pendingAssets)
        expect(sum(deposits.map(({ claimableShares }) => claimableShares))).toBe(live.claimableShares)
        const current = sum(deposits.map(({ currentShares }) => currentShares))
        const isReceived = entries.some(({ kind }) => kind === 'receive')
        if (isReceived) expect(current).toBeLessThanOrEqual(live.shares)
        else expect(current).toBe(live.shares)
      }),
    )
  })

  test('have amounts within their own size and status', () => {
    fc.assert(
      fc.property(accountHistories, ({ entries, live }) => {
        for (const { entry, status, pendingDeposit, claimableShares, currentShares } of buildDeposits(entries, live)) {
          expect(pendingDeposit).toBeLessThanOrEqual(entry.assets)
          for (const part of [pendingDeposit, claimableShares, currentShares]) expect(part).toBeGreaterThanOrEqual(0n)
          if (status === 'cancelled') expect([pendingDeposit, claimableShares, currentShares]).toEqual([0n, 0n, 0n])
          if (status === 'pending') expect([claimableShares, currentShares]).toEqual([0n, 0n])
          if (status !== 'pending') expect(pendingDeposit).toBe(0n)
          if (status !== 'claimable') expect(claimableShares).toBe(0n)
          if (entry.shares !== null) expect(currentShares).toBeLessThanOrEqual(entry.shares)
        }
      }),
    )
  })

  test('are spent oldest first: a deposit is reduced only if all older ones are empty', () => {
    fc.assert(
      fc.property(accountHistories, ({ entries, live }) => {
        const spent = entries.some(({ kind }) => kind === 'send' || kind === 'withdraw' || kind === 'redeem')
        const whole = buildDeposits(entries, { ...live, shares: 10n ** 30n })
        const deposits = buildDeposits(entries, live)
        if (!spent) expect(deposits).toEqual(whole)
        const touched = deposits.map(({ currentShares }, index) => currentShares < (whole[index]?.currentShares ?? 0n))
        // Shares of the oldest deposits leave first. All deposits before the last reduced one must therefore be
        // empty.
        const last = touched.lastIndexOf(true)
        for (const { currentShares } of deposits.slice(0, Math.max(0, last))) expect(currentShares).toBe(0n)
      }),
    )
  })

  test('before a cancelled request are not cancelled', () => {
    const entries = [request(1n, 5n), claim(5n, 50n), request(3n, 7n), { kind: 'cancel', requestId: 3n } as const]
    expect(summarizeDeposits(entries, { shares: 50n })).toEqual([
      ['completed', 0n, 0n, 50n],
      ['cancelled', 0n, 0n, 0n],
    ])
  })

  test('are not cancelled by a partial cancellation', () => {
    const cancel = { kind: 'cancel', requestId: 1n, assets: 4n } as const
    const entries = [request(1n, 10n), cancel]
    expect(summarizeDeposits(entries, { pendingAssets: 6n })).toEqual([['pending', 6n, 0n, 0n]])
    expect(summarizeDeposits(entries, { claimableAssets: 6n, claimableShares: 60n })).toEqual([
      ['claimable', 0n, 60n, 0n],
    ])
    expect(summarizeDeposits([...entries, claim(6n, 60n)], { shares: 60n })).toEqual([['completed', 0n, 0n, 60n]])
    expect(summarizeDeposits([request(1n, 10n), { ...cancel, assets: 10n }], {})).toEqual([['cancelled', 0n, 0n, 0n]])
  })

  test('get nothing of an earlier claim, even if it was rounded up', () => {
    const entries = [request(0n, 10n), claim(6n, 60n), claim(6n, 60n), request(0n, 20n)]
    expect(summarizeDeposits(entries, { pendingAssets: 20n, shares: 120n })).toEqual([
      ['completed', 0n, 0n, 120n],
      ['pending', 20n, 0n, 0n],
    ])
    expect(summarizeDeposits([claim(6n, 60n), request(1n, 6n)], { pendingAssets: 6n, shares: 60n })).toEqual([
      ['pending', 6n, 0n, 0n],
    ])
  })

  test('cancelled after a later claim are cancelled, and the claim belongs to the later deposit', () => {
    const cancel = { kind: 'cancel', requestId: 1n, assets: 10n } as const
    const entries = [request(1n, 10n), request(2n, 20n), claim(20n, 200n), cancel]
    expect(summarizeDeposits(entries, { shares: 200n })).toEqual([
      ['cancelled', 0n, 0n, 0n],
      ['completed', 0n, 0n, 200n],
    ])
  })

  test('match the vault’s pending assets and are fully cancelled after claims were rounded up', () => {
    const entries = [request(0n, 10n), request(0n, 20n), request(0n, 5n), claim(6n, 60n), claim(6n, 60n)]
    expect(summarizeDeposits(entries, { pendingAssets: 25n, shares: 120n }).map((one) => one.slice(0, 2))).toEqual([
      ['completed', 0n],
      ['pending', 20n],
      ['pending', 5n],
    ])
    const cancel = { kind: 'cancel', requestId: 0n, assets: 25n } as const
    expect(summarizeDeposits([...entries, cancel], { shares: 120n }).map(([status]) => status)).toEqual([
      'completed',
      'cancelled',
      'cancelled',
    ])
  })

  test('are spent in one order with shares received by transfer', () => {
    const entries: UnlocatedEntry[] = [
      { kind: 'deposit', requestId: 0n, assets: 10n, shares: 100n },
      { kind: 'receive', assets: 5n, shares: 50n },
      { kind: 'deposit', requestId: 0n, assets: 20n, shares: 200n },
    ]
    expect(summarizeDeposits(entries, { shares: 350n }).map(([, , , current]) => current)).toEqual([100n, 200n])
    expect(summarizeDeposits(entries, { shares: 240n }).map(([, , , current]) => current)).toEqual([0n, 200n])
    expect(summarizeDeposits(entries, { shares: 199n }).map(([, , , current]) => current)).toEqual([0n, 199n])
  })
})
