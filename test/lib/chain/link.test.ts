import fc from 'fast-check'
import { encodeFunctionData, getAddress, type Hex, parseAbi } from 'viem'
import { describe, expect, test } from 'vitest'
import { poolAbi } from '../../../lib/bridge/abi.ts'
import { encodeLink } from '../../../lib/chain/link.ts'
import { encodeOperation } from '../../../lib/protocols/calldata.ts'
import { OPERATIONS } from '../../../lib/protocols/operations.ts'
import { runs } from '../../support/runs.ts'

const anyAddress = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => getAddress(`0x${Buffer.from(bytes).toString('hex')}`))
const anyAmount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const everyOperation = Object.values(OPERATIONS).flatMap(({ abi, deposits, withdrawals, claims, cancels }) =>
  [...deposits, ...withdrawals, ...claims, ...Object.values(cancels).flat()].map((operation) => ({ abi, operation })),
)

/** What a link says, by the grammar of EIP-681 alone. */
function readLink(link: string): { to: string; chainId: number; data: Hex } {
  const [, to = '', chainId, name, query = ''] =
    /^ethereum:(0x[0-9a-fA-F]{40})@(\d+)\/([A-Za-z]\w*)(?:\?([^?]+))?$/.exec(link) ?? []
  const parameters = query === '' ? [] : query.split('&').map((parameter) => parameter.split('='))
  const abi = parseAbi([`function ${name}(${parameters.map(([type]) => type).join()})`])
  const args = parameters.map(([type, value = '']) => (type === 'address' ? value : BigInt(value)))
  // viem cannot know the arguments of a function that is read here.
  return { to, chainId: Number(chainId), data: encodeFunctionData({ abi, args } as never) }
}

describe('A link', () => {
  test('says exactly the call of every operation of every protocol', () => {
    const settings = [anyAddress, anyAddress, anyAddress, anyAmount, anyAmount, fc.integer({ min: 1 })] as const
    fc.assert(
      fc.property(fc.constantFrom(...everyOperation), ...settings, (of, address, asset, account, amount, other, id) => {
        const request = { vault: { address, asset }, account, amount, minimum: other, requestId: other }
        const transaction = encodeOperation({ operation: of.operation, request })
        const { data } = transaction
        expect(readLink(encodeLink(of.abi, id, transaction) ?? '')).toEqual({ to: address, chainId: id, data })
      }),
      { numRuns: runs(500) },
    )
  })

  test('is none for a call of something else, and for one that no link can say', () => {
    const to = getAddress(`0x${'1'.repeat(40)}`)
    const data = encodeFunctionData({
      abi: poolAbi,
      functionName: 'depositV3',
      args: [to, to, to, to, 1n, 1n, 1n, to, 1, 1, 1, '0x'],
    })
    expect(encodeLink(OPERATIONS.erc4626.abi, 1, { to, data })).toBeNull()
    expect(encodeLink(poolAbi, 1, { to, data })).toBeNull()
  })
})
