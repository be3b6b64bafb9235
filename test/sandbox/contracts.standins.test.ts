import { expect, test } from 'vitest'
import { areContractsCompiled } from '../../sandbox/contracts.ts'

test('The compiled contracts say that they are of these sources, this compiler and this library', async () => {
  expect(await areContractsCompiled()).toBe(true)
})
