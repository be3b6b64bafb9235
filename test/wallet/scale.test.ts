import { expect, test } from 'vitest'
import { labelValues } from '../../wallet/src/scale.ts'

test('A scale has as many decimals as its steps need', () => {
  expect(labelValues([1.04, 1.042, 1.044], 0.002)).toEqual(['1.040', '1.042', '1.044'])
  expect(labelValues([0, 5, 10], 5)).toEqual(['0', '5', '10'])
  expect(labelValues([4.25, 4.5], 0.25)).toEqual(['4.25', '4.50'])
})

test('A scale of large values has short labels that differ', () => {
  expect(labelValues([260_000, 260_500, 261_000], 500)).toEqual(['260.0K', '260.5K', '261.0K'])
  expect(labelValues([9000, 10_000, 11_000], 1000)).toEqual(['9K', '10K', '11K'])
  expect(labelValues([1_000_000, 1_250_000], 250_000)).toEqual(['1.00M', '1.25M'])
  expect(labelValues([0], 1e-15)).toEqual(['0.000000000000000'])
})
