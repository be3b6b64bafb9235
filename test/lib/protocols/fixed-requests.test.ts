import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isFixedRequest, matchPayments, sumBurnedShares } from '../../../lib/protocols/fixed-requests.ts'
import { locateEntries, type UnlocatedEntry } from '../../support/ledger-entries.ts'

const request = (assets: bigint): UnlocatedEntry => ({ kind: 'redeem', requestId: 0n, assets, shares: assets * 3n })
const paid = (assets: bigint): UnlocatedEntry => ({ kind: 'paid', assets })

/** Groups of an account's requests. The vault pays all requests of a group in one sum. */
const lives = fc.array(fc.array(fc.bigInt({ min: 1n, max: 10n ** 9n }), { minLength: 1, maxLength: 5 }), {
  maxLength: 5,
})

test('Each payment ends the requests since the previous one', () => {
  fc.assert(
    fc.property(lives, (amounts) => {
      const entries = amounts.flatMap((life) => [...life.map(request), paid(life.reduce((sum, one) => sum + one))])
      const ended = [...matchPayments(locateEntries(entries)).values()].map((of) => of.map(({ assets }) => assets))
      expect(ended).toEqual(amounts)
    }),
  )
})

test('A payment smaller than the requested total is a gift, even if it equals one request', () => {
  const entries = locateEntries([
    paid(7n),
    request(5n),
    request(6n),
    paid(6n),
    paid(5n),
    paid(12n),
    paid(0n),
    paid(11n),
  ])
  const payments = [...matchPayments(entries)]
  expect(payments).toMatchObject([[{ assets: 11n }, [{ assets: 5n }, { assets: 6n }]]])
})

test('The shares of the pending assets belong to the latest requests', () => {
  const requests = locateEntries([request(5n), request(6n)]).filter(isFixedRequest)
  expect([0n, 6n, 11n].map((assets) => sumBurnedShares(requests, assets))).toEqual([0n, 18n, 33n])
})
