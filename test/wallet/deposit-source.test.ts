import { expect, test } from 'vitest'
import { findSource } from '../../wallet/src/parts/deposit-source.ts'

const base = { decimals: 6 }
const bsc = { decimals: 18 }
const whole = (count: bigint, { decimals }: { decimals: number }) => count * 10n ** BigInt(decimals)

test.for([
  { holds: 'enough on its own chain', own: 10n, other: 500n, typed: '10', from: base },
  { holds: 'too little on its own chain and more on another', own: 10n, other: 500n, typed: '11', from: bsc },
  { holds: 'too little everywhere, and most on its own chain', own: 10n, other: 5n, typed: '11', from: base },
  { holds: 'something on its own chain, before an amount is typed', own: 1n, other: 500n, typed: '', from: base },
  { holds: 'nothing on its own chain, before an amount is typed', own: 0n, other: 1n, typed: '', from: bsc },
  { holds: 'nothing at all', own: 0n, other: 0n, typed: '', from: base },
])('A deposit comes from the chain that has the money: $holds', ({ own, other, typed, from }) => {
  expect(findSource([base, bsc], [whole(own, base), whole(other, bsc)], typed)).toBe(from)
})

test('A deposit comes from the vault’s own chain while balances are unknown', () => {
  expect(findSource([base, bsc], [undefined, undefined], '5')).toBe(base)
})
