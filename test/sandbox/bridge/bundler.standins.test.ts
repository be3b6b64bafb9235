import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readDeposits, spokePoolAbi } from '../../../sandbox/bridge.ts'
import { createBundler, type SmartAccount } from '../../support/bundler.ts'
import { encodeAddressWord, encodeApproval, openBridge, RELAYER, STRANGER } from './harness.ts'

let bridge: Awaited<ReturnType<typeof openBridge>>
let bundler: Awaited<ReturnType<typeof createBundler>>
beforeAll(async () => {
  bridge = await openBridge()
  bundler = await createBundler(bridge.origin.chain)
})
afterAll(() => bridge.stop())

const depositing = async ({ address }: SmartAccount, inputAmount: bigint) => {
  const { pool, usdc } = bridge.origin
  const args = await bridge.argsOf({ depositor: address, inputAmount, outputAmount: inputAmount - 60_000n })
  return [
    { target: usdc, callData: encodeApproval(pool, inputAmount) },
    { target: pool, callData: encodeFunctionData({ abi: spokePoolAbi, functionName: 'depositV3', args }) },
  ]
}
const depositsIn = async (hash: string) =>
  (await readDeposits(bridge.origin.chain)).filter(({ transactionHash }) => transactionHash === hash)

test('The real EntryPoint takes the deposits of two accounts in one transaction of any bundler', async () => {
  const { origin, relayer } = bridge
  const [alice, bob] = bundler.accounts
  await origin.mint(alice.address, 222_000_000n)
  await origin.mint(bob.address, 444_000_000n)
  // The first bundle of user operations deploys the smart accounts; the second bundle uses them.
  for (const [by, other] of [
    [STRANGER, RELAYER],
    [RELAYER, STRANGER],
  ] as const) {
    const operations = [
      await bundler.sign(alice, await depositing(alice, 111_000_000n)),
      await bundler.sign(bob, await depositing(bob, 222_000_000n)),
    ]
    const hash = await bundler.include(operations, by)
    expect(await bundler.outcomesOf(hash)).toEqual([
      { userOpHash: operations[0]?.userOpHash, sender: alice.address, success: true },
      { userOpHash: operations[1]?.userOpHash, sender: bob.address, success: true },
    ])
    expect(await depositsIn(hash)).toMatchObject([
      { depositor: encodeAddressWord(alice.address), inputAmount: 111_000_000n },
      { depositor: encodeAddressWord(bob.address), inputAmount: 222_000_000n },
    ])
    expect(await relayer.listDeposits({ transactionHash: hash })).toHaveLength(2)
    await expect(bundler.include(operations, other)).rejects.toThrow('Reverted')
  }
})

test('A failing operation does not affect the other one of its bundle', async () => {
  const { origin } = bridge
  const [alice, bob] = bundler.accounts
  await origin.mint(bob.address, 5_000_000n)
  const operations = [
    // Alice's deposit exceeds her balance, so her user operation reverts.
    await bundler.sign(alice, await depositing(alice, 10n ** 15n)),
    await bundler.sign(bob, await depositing(bob, 5_000_000n)),
  ]
  const hash = await bundler.include(operations)
  expect(await bundler.outcomesOf(hash)).toMatchObject([
    { userOpHash: operations[0]?.userOpHash, sender: alice.address, success: false },
    { userOpHash: operations[1]?.userOpHash, sender: bob.address, success: true },
  ])
  expect(await depositsIn(hash)).toMatchObject([{ depositor: encodeAddressWord(bob.address), inputAmount: 5_000_000n }])
})
