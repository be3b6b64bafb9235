import { type Address, type Hex, numberToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { originalCodes } from '../../../lib/chain/code-override.ts'

const CONTRACT: Address = '0x00000000000000000000000000000000000000A1'
const OTHER: Address = '0x00000000000000000000000000000000000000A2'
const CODE: Hex = '0x60006000fd'
/** Solidity's, of which nothing runs: a map of one short name, bytes that look like EXTCODEHASH, and the length. */
const METADATA = 'a1643f3f3f3f423f3f0009'

describe('The code of a contract', () => {
  test('is kept once for all that have the same, and asked for again after 500 reads', () => {
    const codes = originalCodes()
    expect(codes.get(CONTRACT, 1)).toBe('unknown')
    codes.remember(CONTRACT, CODE, 1)
    codes.remember(OTHER, CODE, 1)
    expect(codes.get(CONTRACT, 500)).toMatchObject({ code: CODE })
    expect(codes.get(OTHER, 500)).toBe(codes.get(CONTRACT, 500))
    expect(codes.get(CONTRACT, 501)).toBe('unknown')
  })

  test('is not kept while there is none', () => {
    const codes = originalCodes()
    codes.remember(CONTRACT, '0x', 1)
    expect(codes.get(CONTRACT, 1)).toBe('unknown')
  })

  test.for<[string, Hex | undefined, boolean]>([
    ['is too long', undefined, false],
    ['looks at the code of accounts', '0x3f', false],
    ['pushes a number that looks like it', '0x603f50', true],
    ['has it in its metadata alone', `${CODE}fe${METADATA}`, true],
  ])('that %s is movable: %s', ([, code, isMovable]) => {
    const codes = originalCodes()
    codes.remember(CONTRACT, code, 1)
    expect(codes.get(CONTRACT, 1) !== 'apart').toBe(isMovable)
  })

  test('is kept up to 4 MB, and beyond that stays where it is', () => {
    const codes = originalCodes()
    const address = (n: number) => numberToHex(n + 1, { size: 20 })
    const code = (n: number): Hex => `0x61${numberToHex(n, { size: 2 }).slice(2)}${'00'.repeat(3_997)}`
    for (let n = 0; n <= 1_000; n += 1) codes.remember(address(n), code(n), 1)
    expect(codes.get(address(999), 1)).toMatchObject({ code: code(999) })
    expect(codes.get(address(1_000), 1)).toBe('apart')
  })
})
