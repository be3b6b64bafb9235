import fc from 'fast-check'
import { getAddress, numberToHex } from 'viem'
import { expect, test } from 'vitest'
import { buildClaimableNotice } from '../../../functions/jobs/refresh-rewards/publish-claimable.ts'

const ACCOUNT = getAddress(numberToHex(1n, { size: 20 }))
const [TOKEN, OTHER] = [2n, 3n].map((number) => getAddress(numberToHex(number, { size: 20 })))
const AT = new Date(Date.UTC(2026, 10, 27))

const amounts = fc.bigInt({ min: 1n, max: 2n ** 200n })

type Reward = Parameters<typeof buildClaimableNotice>[1]
const rewardOf = (reward: Partial<Reward>): Reward => ({
  ...{ chainId: 8453, token: TOKEN ?? ACCOUNT, symbol: 'MORPHO', decimals: 18, amount: 1n, pending: 0n, claimed: 0n },
  ...{ usd: 1, claimableAt: null, recipient: ACCOUNT, ...reward },
})
const keyOf = (reward: Partial<Reward>) => buildClaimableNotice(ACCOUNT, rewardOf(reward), AT)?.key

test('The key of a notice contains the total ever earned, whatever was claimed before', () => {
  fc.assert(
    fc.property(amounts, amounts, amounts, (amount, claimed, more) => {
      expect(keyOf({ amount: amount + more, claimed })).toBe(keyOf({ amount, claimed: claimed + more }))
      expect(keyOf({ amount: amount + more, claimed })).not.toBe(keyOf({ amount, claimed }))
    }),
  )
})

test('Notices of other accounts, tokens and chains have other keys', () => {
  const of = buildClaimableNotice(OTHER ?? ACCOUNT, rewardOf({ recipient: OTHER ?? ACCOUNT }), AT)?.key
  const keys = [keyOf({}), keyOf({ token: OTHER ?? ACCOUNT }), keyOf({ chainId: 1 }), of]
  expect(new Set(keys).size).toBe(4)
})

test('A reward is reported if it is worth at least one dollar', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, noNaN: true }), amounts, (usd, amount) => {
      const notice = buildClaimableNotice(ACCOUNT, rewardOf({ usd, amount }), AT)
      expect(notice?.data).toEqual(
        usd < 1
          ? undefined
          : { chainId: 8453, userAddress: ACCOUNT, token: TOKEN, symbol: 'MORPHO', decimals: 18, amount, usd },
      )
    }),
  )
})

test('A reward without a price, without decimals or for another recipient is not reported', () => {
  const rewards = [{ usd: null }, { decimals: null }, { recipient: OTHER ?? ACCOUNT }]
  for (const reward of rewards) expect(keyOf(reward)).toBeUndefined()
  expect(keyOf({ symbol: null })).toBeDefined()
})
