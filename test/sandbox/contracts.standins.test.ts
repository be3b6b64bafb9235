import { expect, test } from 'vitest'
import { areContractsCompiled } from '../../sandbox/contracts.ts'

test('The compiled contracts record the hash of these sources, this compiler and this library', async () => {
  expect(await areContractsCompiled()).toBe(true)
})
