import type { Address, Hex } from 'viem'
import { call, readContract } from 'viem/actions'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { deployTether, deployYieldVault } from '../../sandbox/deploy.ts'
import { transact } from '../../sandbox/transactions.ts'
import { encodeCall, TOKEN_ABI, VAULT_ABI } from '../support/oracles.ts'
import { ADMIN, ALICE, BOB, startTokenChain, usdc } from './harness.ts'

let session: Awaited<ReturnType<typeof startTokenChain>>
beforeAll(async () => {
  session = await startTokenChain()
})
afterAll(() => session.stop())

const send = (from: Address, to: Address, data: Hex) => transact(session.chain, [{ label: 'call', from, to, data }])
const approve = (spender: Address, amount: bigint) => encodeCall('approve', [spender, amount])

describe('the USDT-like token', () => {
  test('refuses to change a non-zero allowance except to zero', async () => {
    const tether = await deployTether(session.chain)
    await send(ALICE, tether, approve(BOB, 5n))
    await expect(send(ALICE, tether, approve(BOB, 6n))).rejects.toThrow('Reverted')
    await send(ALICE, tether, approve(BOB, 0n))
    await send(ALICE, tether, approve(BOB, 6n))
    const args = [ALICE, BOB] as const
    expect(
      await readContract(session.client, { address: tether, abi: TOKEN_ABI, functionName: 'allowance', args }),
    ).toBe(6n)
  })

  test('returns nothing from approve, transfer and transferFrom', async () => {
    const tether = await deployTether(session.chain)
    await send(ALICE, tether, encodeCall('mint', [ALICE, 10n]))
    await send(ALICE, tether, approve(BOB, 5n))
    const transfer = encodeCall('transfer', [BOB, 1n])
    const transferFrom = encodeCall('transferFrom', [ALICE, BOB, 1n])
    for (const [account, data] of [
      [ALICE, transfer],
      [BOB, transferFrom],
      [BOB, approve(ALICE, 1n)],
    ] as const) {
      expect((await call(session.client, { account, to: tether, data })).data).toBeUndefined()
      await send(account, tether, data)
    }
    expect(await readContract(session.client, { address: tether, abi: TOKEN_ABI, functionName: 'decimals' })).toBe(6)
  })

  test('works as the asset of an async vault', async () => {
    const tether = await deployTether(session.chain)
    const vault = session.vaultAt(await session.deployVaultOn(tether))
    await send(ALICE, tether, encodeCall('mint', [ALICE, usdc('10')]))
    await send(ALICE, tether, approve(vault.address, usdc('10')))
    await vault.act(ALICE, 'requestDeposit', [usdc('10'), ALICE, ALICE])
    await session.settle(vault, 0n)
    await vault.act(ALICE, 'claimSharesAndRequestRedeem', [10n ** 19n])
    await session.settle(vault, usdc('10'))
    await vault.act(ALICE, 'redeem', [10n ** 19n, ALICE, ALICE])
    const args = [ALICE] as const
    const balance = await readContract(session.client, {
      address: tether,
      abi: TOKEN_ABI,
      functionName: 'balanceOf',
      args,
    })
    expect(balance).toBe(usdc('10'))
  })
})

describe('the synchronous vault', () => {
  const openYieldVault = () =>
    deployYieldVault(session.chain, { asset: session.token, name: 'Savings', symbol: 'SV', owner: ADMIN })

  const depositNow = async (vault: Address, amount: bigint) => {
    await session.pay(ALICE, { address: vault }, amount)
    await send(ALICE, vault, encodeCall('deposit', [amount, ALICE]))
  }
  const maxDeposit = (vault: Address) =>
    readContract(session.client, { address: vault, abi: VAULT_ABI, functionName: 'maxDeposit', args: [ALICE] })

  test('issues shares instantly, worth more after it receives yield', async () => {
    const vault = await openYieldVault()
    await depositNow(vault, usdc('100'))
    await send(ALICE, session.token, encodeCall('mint', [vault, usdc('10')]))
    const args = [usdc('100')] as const
    const worth = await readContract(session.client, {
      address: vault,
      abi: VAULT_ABI,
      functionName: 'convertToAssets',
      args,
    })
    expect(worth).toBeGreaterThan(usdc('109'))
  })

  test('takes no deposit while paused, and says so', async () => {
    const vault = await openYieldVault()
    await send(ADMIN, vault, encodeCall('pause'))
    expect(await maxDeposit(vault)).toBe(0n)
    await session.pay(ALICE, { address: vault }, 1n)
    const data = encodeCall('deposit', [1n, ALICE])
    // The selector belongs to the error EnforcedPause().
    await expect(call(session.client, { account: ALICE, to: vault, data })).rejects.toThrow('0xd93c0665')
  })

  test('takes deposits up to its cap', async () => {
    const vault = await openYieldVault()
    await send(ADMIN, vault, encodeCall('setDepositCap', [usdc('50')]))
    await depositNow(vault, usdc('20'))
    expect(await maxDeposit(vault)).toBe(usdc('30'))
    await expect(depositNow(vault, usdc('31'))).rejects.toThrow('Reverted')
  })
})
