import { type AbiItem, type Hex, toFunctionSelector } from 'viem'
import { formatAbiItem } from 'viem/utils'
import { describe, expect, test } from 'vitest'
import { parseSimulation } from '../../../lib/chain/simulation.ts'
import { REVERT_ERRORS } from '../../../lib/protocols/known-errors.ts'

function reasonOf(data: Hex): unknown {
  const call = { status: '0x0', gasUsed: '0x5208', returnData: data, logs: [], error: { code: 3, message: '', data } }
  const [simulated] = parseSimulation({ result: [{ calls: [call] }] }, 1, REVERT_ERRORS) ?? []
  return simulated
}
const word = (value: bigint) => value.toString(16).padStart(64, '0')
const OWNER = '0x00000000000000000000000000000000000000A1'

describe('The reason of a revert names', () => {
  // The expected selectors come from block explorers and from the protocols' documentation.
  test.for<[Hex, string]>([
    ['0xf50a3b52', 'OperationNotAllowed'],
    ['0xd93c0665', 'EnforcedPause'],
    ['0x3ee5aeb5', 'ReentrancyGuardReentrantCall'],
    ['0xcadcefcf', 'OnlyOneRequestAllowed'],
    ['0x912d1a73', 'RequestIdNotClaimable'],
    ['0x39ff6cbe', 'TotalAssetsExpired'],
    ['0x83c244b5', 'SyncOperationNotAllowed'],
    ['0x584a7938', 'NotWhitelisted'],
    ['0x63a01f02', 'ERC7540InvalidOperator'],
    ['0x47bc4b2c', 'NotEnoughAvailableUserBalance'],
    [`0x4b0145f3${word(2n)}`, 'NotOpen'],
    [`0x6f1007e0${word(7n)}`, 'RequestNotCancelable'],
    [`0x14cf74c1${word(1n)}${word(5n)}`, 'BelowMinimumAssets'],
    [`0x51ee5ed5${word(BigInt(OWNER))}`, 'AddressNotAllowed'],
    [`0x118cdaa7${word(BigInt(OWNER))}`, 'OwnableUnauthorizedAccount'],
    [`0x5274afe7${word(BigInt(OWNER))}`, 'SafeERC20FailedOperation'],
    [`0xe450d38c${word(BigInt(OWNER))}${word(3n)}${word(4n)}`, 'ERC20InsufficientBalance'],
    [`0xfb8f41b2${word(BigInt(OWNER))}${word(3n)}${word(4n)}`, 'ERC20InsufficientAllowance'],
    [`0x79012fb2${word(BigInt(OWNER))}${word(4n)}${word(3n)}`, 'ERC4626ExceededMaxDeposit'],
    [`0xfe9cceec${word(BigInt(OWNER))}${word(4n)}${word(3n)}`, 'ERC4626ExceededMaxWithdraw'],
    [`0xb94abeec${word(BigInt(OWNER))}${word(4n)}${word(3n)}`, 'ERC4626ExceededMaxRedeem'],
  ])('%s', ([data, reason]) => {
    expect(reasonOf(data)).toMatchObject({ status: 'reverted', reason })
  })

  test('the text of a revert, and the first bytes of an unknown error', () => {
    const text = Buffer.from('exceed deposit limit')
    const data = `0x08c379a0${word(32n)}${word(BigInt(text.length))}${text.toString('hex').padEnd(64, '0')}` as const
    expect(reasonOf(data)).toMatchObject({ reason: 'exceed deposit limit' })
    expect(reasonOf('0x12345678')).toMatchObject({ reason: 'reverted with 0x12345678' })
  })

  test('each error once', () => {
    const selectors = REVERT_ERRORS.map((item: AbiItem) => toFunctionSelector(formatAbiItem(item as never)))
    expect(new Set(selectors).size).toBe(selectors.length)
  })
})
