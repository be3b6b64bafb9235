import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { agreeOnReply, toReply } from '../../../lib/prepare/reply.ts'
import { someVault } from '../../support/clients.ts'

const ACCOUNT = '0x0000000000000000000000000000000000000016'
const VAULT = someVault({ chainId: 8453 })
// The cast is safe, because `toReply` reads only the number and the time of the block.
const evidence = { chainId: 8453, blockNumber: 7, blockHash: '0x07', timestamp: new Date(7), nodes: 2 } as never

type Change = Partial<Parameters<typeof toReply>[2]>

const replyOf = (change: Change = {}) =>
  toReply(VAULT, ACCOUNT, {
    approval: [{ to: VAULT.asset, data: '0x01', value: 0n }],
    operations: [{ to: VAULT.address, data: '0x02', value: 0n }],
    ...{ estimatedGas: 196_800n, simulation: { status: 'success' }, evidence: [evidence] },
    ...change,
  })
const withdrawalOf = (change: object = {}) => ({
  ...replyOf(),
  isAsync: false,
  withdrawal: {
    ...{ shares: 1_000_000n, assets: 2_000_000n, fee: 10_000n, haircut: 0n, claimedAssets: 0n, isEstimate: false },
    ...change,
  },
})

describe('Two replies of hosts agree', () => {
  test('with the result of the older block', () => {
    const newer = replyOf({ evidence: [{ ...(evidence as object), blockNumber: 9 } as never] })
    expect(agreeOnReply(newer, replyOf())).toEqual(replyOf())
  })

  test.for<[string, Change]>([
    ['an approval is of another amount', { approval: [{ to: VAULT.asset, data: '0x11', value: 0n }] }],
    ['an approval is missing', { approval: [] }],
    ['an operation has other calldata', { operations: [{ to: VAULT.address, data: '0x03', value: 0n }] }],
    ['an operation goes to another contract', { operations: [{ to: ACCOUNT, data: '0x02', value: 0n }] }],
    ['an operation sends coins', { operations: [{ to: VAULT.address, data: '0x02', value: 1n }] }],
    ['a dry run reverts', { simulation: { status: 'reverted', reason: 'No' } }],
    ['gas is less than half', { estimatedGas: 98_399n }],
    ['gas is more than twice', { estimatedGas: 393_601n }],
    ['gas is more than a block', { estimatedGas: 2n ** 63n }],
  ])('but not if %s', ([, change]) => {
    expect(agreeOnReply(replyOf(), replyOf(change))).toBeUndefined()
    expect(agreeOnReply(replyOf(change), replyOf())).toBeUndefined()
  })

  test('with the larger gas', () => {
    for (const [one, other] of [
      [196_800n, 190_000n],
      [100_000n, 196_800n],
    ] as const) {
      const agreed = agreeOnReply(replyOf({ estimatedGas: one }), replyOf({ estimatedGas: other }))
      expect(agreed?.estimatedGas).toBe(196_800n)
    }
  })

  test('with the only dry run, and with at least the gas without one', () => {
    const untried = replyOf({ simulation: { status: 'unavailable' }, estimatedGas: 570_000n })
    for (const both of [
      [untried, replyOf()],
      [replyOf(), untried],
    ] as const) {
      expect(agreeOnReply(...both)).toMatchObject({ simulation: { status: 'success' }, estimatedGas: 570_000n })
    }
    expect(agreeOnReply(untried, replyOf({ estimatedGas: 2n ** 63n }))).toBeUndefined()
  })
})

describe('Figures of a withdrawal from two hosts', () => {
  test('are not estimates if they are equal', () => {
    expect(agreeOnReply(withdrawalOf(), withdrawalOf())).toEqual(withdrawalOf())
  })

  test('that differ by less than half a percent are the worse ones, as an estimate', () => {
    fc.assert(
      fc.property(fc.bigInt(-5_000n, 5_000n), fc.bigInt(-9_000n, 9_000n), (shares, assets) => {
        fc.pre(shares !== 0n || assets !== 0n)
        const other = { shares: 1_000_000n + shares, assets: 2_000_000n + assets }
        const expected = {
          shares: shares > 0n ? other.shares : 1_000_000n,
          assets: assets < 0n ? other.assets : 2_000_000n,
          isEstimate: true,
        }
        expect(agreeOnReply(withdrawalOf(), withdrawalOf(other))?.withdrawal).toMatchObject(expected)
        expect(agreeOnReply(withdrawalOf(other), withdrawalOf())?.withdrawal).toMatchObject(expected)
      }),
    )
  })

  test.for<[string, object]>([
    ['shares differ by more', { shares: 1_006_000n }],
    ['assets differ by more', { assets: 1_980_000n }],
    ['fees differ by more', { fee: 10_100n }],
    ['one host does not know the assets', { assets: null }],
    ['one host reports a remainder', { remainder: 1n }],
  ])('disagree if %s', ([, change]) => {
    expect(agreeOnReply(withdrawalOf(), withdrawalOf(change))).toBeUndefined()
    expect(agreeOnReply(withdrawalOf(change), withdrawalOf())).toBeUndefined()
  })
})
