import type { Vault } from '@vaultline/client'
import { expect, test } from 'vitest'
import {
  canHaveRequests,
  describeWay,
  explainUnknownTerm,
  formatFees,
  sortVaults,
} from '../../wallet/src/vault-state.ts'

const UNKNOWN = { management: null, performance: null, entry: null, exit: null, haircut: null }
const FREE = { management: '0.00', performance: '0.00', entry: '0.00', exit: '0.00', haircut: '0.00' }
const TERMS: Vault['terms'] = {
  ...{ entry: 'instant', exit: 'instant', fees: UNKNOWN, room: null, liquidity: null, missing: [] },
  ...{ settlement: null, valuation: null, cooldownSeconds: null },
}

test('Every vault except a plain ERC-4626 one may have pending requests', () => {
  const protocols = ['lagoon', 'erc7540', 'cooldown', 'erc4626'] as const
  expect(protocols.filter((protocol) => canHaveRequests({ protocol }))).toEqual(['lagoon', 'erc7540', 'cooldown'])
})

test('Fees are listed as rates, and as none only if the vault reports all as zero', () => {
  expect(formatFees(FREE)).toBe('None')
  expect(formatFees({ ...FREE, entry: '0.50', performance: '10.00', management: '2.00' })).toBe(
    '0.5% to deposit, 10% of profit, 2% a year',
  )
  expect(formatFees(UNKNOWN)).toBeUndefined()
})

test('If a vault does not report every fee, the reported ones are listed, including zeros', () => {
  expect(formatFees({ ...UNKNOWN, management: '2.00', exit: '0.00' })).toBe(
    '0% to withdraw, 2% a year; others are not reported',
  )
  expect(formatFees({ ...FREE, haircut: null })).toMatch(/^0% to deposit.*; others are not reported$/)
})

test('A way to deposit or withdraw names its usual duration only if it is known', () => {
  const settlement = { medianSeconds: 7200, p90Seconds: 9000, samples: 5 }
  expect(describeWay('instant', { ...TERMS, settlement })).toBe('Instant')
  expect(describeWay('request', { ...TERMS, settlement })).toBe('After settlement, usually 2 h')
  expect(describeWay('request', TERMS)).toBe('After settlement')
  expect(describeWay('cooldown', { ...TERMS, cooldownSeconds: 604_800 })).toBe('Cooldown of 7 days')
  expect(describeWay('cooldown', TERMS)).toBe('After a cooldown')
  expect(describeWay('none', TERMS)).toBe('Not possible now')
})

test('An unknown term has a reason: the vault does not report it, or its chain cannot be read', () => {
  const terms = { ...TERMS, missing: ['room'] }
  const asOf = { blockNumber: 1, blockHash: '0x', timestamp: '2026-01-01T00:00:00.000Z' } as const
  const vault = (stale: boolean) => ({ terms, stateAsOf: { ...asOf, stale } })
  expect(explainUnknownTerm(vault(false), 'room')).toBe('The vault does not report it.')
  expect(explainUnknownTerm(vault(true), 'room')).toBe('The chain cannot be read at the moment.')
  expect(explainUnknownTerm({ terms, stateAsOf: null }, 'room')).toBe('The chain cannot be read at the moment.')
  expect(explainUnknownTerm(vault(false), 'liquidity')).toBeUndefined()
})

test('Vaults are sorted by yield, total or name; unknown figures come last in either direction', () => {
  const vaults = [
    { name: 'A', annualYield: null, total: 3 },
    { name: 'B', annualYield: { percent: '4.00' }, total: null },
    { name: 'C', annualYield: { percent: '10.00' }, total: 20 },
  ]
  const namesBy = (order: 'yield' | 'total' | 'name', isReversed = false) =>
    sortVaults(vaults, order, { isReversed, totalOf: ({ total }) => total })
      .map(({ name }) => name)
      .join('')
  expect([namesBy('yield'), namesBy('yield', true)]).toEqual(['CBA', 'BCA'])
  expect([namesBy('total'), namesBy('total', true)]).toEqual(['CAB', 'ACB'])
  expect([namesBy('name'), namesBy('name', true)]).toEqual(['ABC', 'CBA'])
})
