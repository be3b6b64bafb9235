import { expect, test } from 'vitest'
import { feesOf, mayWait } from '../../wallet/src/vault-state.ts'

const UNKNOWN = { management: null, performance: null, entry: null, exit: null, haircut: null }
const FREE = { management: '0.00', performance: '0.00', entry: '0.00', exit: '0.00', haircut: '0.00' }

test('Money may wait in each vault but a plain ERC-4626 one, however it pays withdrawals now', () => {
  const protocols = ['lagoon', 'erc7540', 'cooldown', 'erc4626'] as const
  expect(protocols.filter((protocol) => mayWait({ protocol }))).toEqual(['lagoon', 'erc7540', 'cooldown'])
})

test('Fees are none only if the vault reports all of them as zero', () => {
  expect(feesOf(FREE)).toBe('None')
  expect(feesOf({ ...FREE, performance: '20.00' })).toBe('20.00 % of profits')
  expect(feesOf(UNKNOWN)).toBeUndefined()
})

test('Where a vault does not report a fee, those that it reports are named, zeros too', () => {
  expect(feesOf({ ...UNKNOWN, management: '2.00', exit: '0.00' })).toBe(
    '2.00 % a year, 0.00 % of withdrawals; others are not reported',
  )
  expect(feesOf({ ...FREE, haircut: null })).toMatch(/^0\.00 % a year.*; others are not reported$/)
})
