import { expect, test } from 'vitest'
import { networkOf } from '../../lib/core/network.ts'

test.for([
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
  ['2001:db8::1', '2001:0db8:0:0:5::'],
  ['fe80::1%eth0', 'fe80::2'],
  ['::1', '::2'],
])('%s and %s are in the same network', ([one = '', other = '']) => {
  expect(networkOf(one)).toBe(networkOf(other))
})

test.for([
  ['2001:db8:1:2::1', '2001:db8:1:3::1'],
  ['2001:db8::1', '2001:db9::1'],
  ['192.0.2.1', '192.0.2.2'],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.2'],
])('%s and %s are in different networks', ([one = '', other = '']) => {
  expect(networkOf(one)).not.toBe(networkOf(other))
})
