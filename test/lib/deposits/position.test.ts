import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildPosition } from '../../../lib/deposits/position.ts'
import { lives } from '../../support/movements.ts'

const amount = fc.bigInt({ min: 0n, max: 10n ** 24n })

describe('A position', () => {
  test('is none without a movement, and one with any', () => {
    fc.assert(
      fc.property(lives, ({ movements, live }) => {
        expect(buildPosition([], live)).toBeNull()
        if (movements.length > 0) expect(buildPosition(movements, live)).not.toBeNull()
      }),
    )
  })

  test('earned what it is worth and what came out, less what went in', () => {
    fc.assert(
      fc.property(lives, amount, amount, ({ movements, live }, pendingRedeemShares, claimableRedeemAssets) => {
        const position = buildPosition(movements, { ...live, pendingRedeemShares, claimableRedeemAssets })
        if (!position) return
        const { totalDepositedAssets, totalWithdrawnAssets, currentValue, earnedAssets } = position
        expect(earnedAssets).toBe(currentValue + totalWithdrawnAssets - totalDepositedAssets)
        expect(currentValue).toBe(
          live.pendingAssets +
            live.worth(live.shares + live.claimableShares + pendingRedeemShares) +
            claimableRedeemAssets,
        )
      }),
    )
  })

  test('counts in and out what was not taken back', () => {
    fc.assert(
      fc.property(lives, ({ movements, live }) => {
        const position = buildPosition(movements, live)
        if (!position) return
        let [deposited, withdrawn] = [0n, 0n]
        let sinceSettled: bigint[] = []
        let lastRequest = 0n
        for (const movement of movements) {
          if (movement.kind === 'deposit' && movement.requestId > 0n) {
            if (movement.requestId !== lastRequest) sinceSettled = []
            lastRequest = movement.requestId
            sinceSettled.push(movement.assets)
          }
          if (movement.kind === 'cancel') {
            deposited -= sinceSettled.reduce((total, assets) => total + assets, 0n)
            sinceSettled = []
          } else if (movement.kind === 'deposit' || movement.kind === 'receive') deposited += movement.assets
          else if (movement.kind !== 'claim') withdrawn += movement.assets
        }
        expect([position.totalDepositedAssets, position.totalWithdrawnAssets]).toEqual([deposited, withdrawn])
      }),
    )
  })

  test('counts and dates its deposits without the cancelled ones', () => {
    fc.assert(
      fc.property(lives, ({ movements, live }) => {
        const position = buildPosition(movements, live)
        if (!position) return
        const { entries, depositCount, startDate, lastDepositDate, statusBreakdown } = position
        const standing = entries
          .filter(({ status }) => status !== 'cancelled')
          .map(({ movement }) => movement.timestamp)
        const { pending, claimable, completed } = statusBreakdown
        expect(depositCount).toBe(standing.length)
        expect(pending + claimable + completed).toBe(depositCount)
        expect([startDate, lastDepositDate]).toEqual(
          standing.length > 0 ? [standing[0], standing.at(-1)] : [movements[0]?.timestamp, movements[0]?.timestamp],
        )
      }),
    )
  })
})
