import fc from 'fast-check'
import { expect, test } from 'vitest'
import { matchPayments, sharesBehind } from '../../../lib/protocols/fixed-requests.ts'
import { type Given, inOrder } from '../../support/ledger-entries.ts'

const request = (assets: bigint): Given => ({ kind: 'redeem', requestId: 0n, assets, shares: assets * 3n })
const paid = (assets: bigint): Given => ({ kind: 'paid', assets })

/** One of an account's steps, or a payment of another account's. */
const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant('request'), amount: fc.bigInt({ min: 0n, max: 10n ** 9n }) }),
    fc.record({ do: fc.constantFrom('take', 'takeElsewhere'), amount: fc.constant(0n) }),
  ),
  { maxLength: 12 },
)

test('Every payment ends the requests that it pays, and those that were paid to another account before', () => {
  fc.assert(
    fc.property(steps, (life) => {
      const given: Given[] = []
      let open: { index: number; isElsewhere: boolean }[] = []
      const expected: (readonly [index: number, isElsewhere: boolean])[] = []
      let waits = 0n
      for (const step of life) {
        if (step.do === 'request') {
          waits += step.amount
          open.push({ index: given.length, isElsewhere: false })
          given.push(request(step.amount))
        } else if (waits > 0n) {
          if (step.do === 'take') {
            expected.push(...open.map(({ index, isElsewhere }) => [index, isElsewhere] as const))
            open = []
            given.push(paid(waits))
          } else open = open.map((one) => ({ ...one, isElsewhere: true }))
          waits = 0n
        }
      }
      const entries = inOrder(given)
      const { paid: found, open: left } = matchPayments(entries)
      expect([...found.values()].flat().map(({ request }) => entries.indexOf(request))).toEqual(
        expected.map(([index]) => index),
      )
      expect(left.map((one) => entries.indexOf(one))).toEqual(open.map(({ index }) => index))
      // Requests of nothing may count to either side.
      const worth = [...found.values()].flat().filter(({ request }) => request.assets > 0n)
      expect(worth.map(({ transactionHash }) => transactionHash === null)).toEqual(
        expected.flatMap(([index, isElsewhere]) => {
          const entry = entries[index]
          return entry?.kind === 'redeem' && (entry.assets ?? 0n) > 0n ? [isElsewhere] : []
        }),
      )
    }),
  )
})

test('A payment that is the sum of no latest requests is of another account', () => {
  const entries = inOrder([paid(7n), request(5n), request(6n), paid(5n), paid(7n), paid(12n)])
  expect(matchPayments(entries)).toMatchObject({ paid: new Map(), open: [{ assets: 5n }, { assets: 6n }] })
})

test('The shares behind what waits are those of the latest requests', () => {
  const { open } = matchPayments(inOrder([request(5n), request(6n)]))
  expect([0n, 6n, 11n].map((assets) => sharesBehind(open, assets))).toEqual([0n, 18n, 33n])
})
