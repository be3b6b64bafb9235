import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasPending, settleRequests, startCurator } from '../../sandbox/curator.ts'
import { ADMIN, ALICE, BOB, SAFE, startTokenChain, usdc } from './harness.ts'

let session: Awaited<ReturnType<typeof startTokenChain>>
beforeAll(async () => {
  session = await startTokenChain()
})
afterAll(() => session.stop())

describe.each(['0.1', '0.2', '0.4', '0.5', '0.5.1', '0.6', 'unknown'] as const)(
  'settling a Lagoon %s vault',
  (generation) => {
    test('makes pending requests claimable, at a valuation with the gain', async () => {
      const vault = await session.openVault(generation)
      expect(await hasPending(session.chain, vault.address)).toBe(false)
      await session.request(vault, ALICE, usdc('100'))
      expect(await hasPending(session.chain, vault.address)).toBe(true)
      await settleRequests(session.chain, vault.address)
      expect(await hasPending(session.chain, vault.address)).toBe(false)
      expect(await vault.read('claimableDepositRequest', 0n, ALICE)).toBe(usdc('100'))

      await vault.act(ALICE, 'deposit', [usdc('100'), ALICE, ALICE])
      await vault.act(ALICE, 'requestRedeem', [10n ** 18n, ALICE, ALICE])
      expect(await hasPending(session.chain, vault.address)).toBe(true)
      const before = await session.tokensOf(SAFE)
      const { totalAssets } = await settleRequests(session.chain, vault.address, { gain: usdc('10') })
      expect(totalAssets).toBe(usdc('110'))
      expect(await vault.read('claimableRedeemRequest', 0n, ALICE)).toBe(10n ** 18n)
      // The vault's safe received the gain and paid the redemption, which is rounded down.
      expect((await session.tokensOf(SAFE)) - before).toBe(usdc('10') - usdc('1.1') + 1n)
    })
  },
)

describe.each(['aggregated', 'counted'] as const)('settling an ERC-7540 vault with %s request ids', (make) => {
  test('fulfils every request at the new price and returns cancelled amounts', async () => {
    const vault = await session.openAsyncVault(make)
    const requestId = (count: bigint) => (make === 'counted' ? count : 0n)
    expect(await hasPending(session.chain, vault.address)).toBe(false)
    for (const user of [ALICE, BOB]) {
      await session.pay(user, vault, usdc('100'))
      await vault.act(user, 'requestDeposit', [usdc('100'), user, user])
    }
    await vault.act(BOB, 'cancelDepositRequest', [requestId(2n), BOB])
    expect(await hasPending(session.chain, vault.address)).toBe(true)
    await settleRequests(session.chain, vault.address)
    expect(await hasPending(session.chain, vault.address)).toBe(false)
    expect(await vault.read('claimableCancelDepositRequest', requestId(2n), BOB)).toBe(usdc('100'))

    await vault.act(ALICE, 'mint', [usdc('100'), ALICE, ALICE])
    await vault.act(ALICE, 'requestRedeem', [usdc('50'), ALICE, ALICE])
    const { totalAssets } = await settleRequests(session.chain, vault.address, { gain: usdc('10') })
    expect(totalAssets).toBe(usdc('110'))
    expect(await vault.read('maxWithdraw', ALICE)).toBe(usdc('55'))
    expect(await vault.read('totalAssets')).toBe(usdc('55'))
    await vault.act(ALICE, 'requestRedeem', [usdc('20'), ALICE, ALICE])
    await vault.act(ALICE, 'cancelRedeemRequest', [requestId(4n), ALICE])
    await settleRequests(session.chain, vault.address)
    expect(await vault.read('claimableCancelRedeemRequest', requestId(4n), ALICE)).toBe(usdc('20'))
  })
})

test('settling an ERC-7540 vault that has only redemption requests fulfils those', async () => {
  const vault = await session.openAsyncVault('redemptions')
  await session.pay(ALICE, vault, usdc('100'))
  await vault.act(ALICE, 'deposit', [usdc('100'), ALICE])
  await vault.act(ALICE, 'requestRedeem', [usdc('100'), ALICE, ALICE])
  expect(await hasPending(session.chain, vault.address)).toBe(true)
  await settleRequests(session.chain, vault.address, { gain: usdc('1') })
  expect(await vault.read('maxWithdraw', ALICE)).toBe(usdc('101'))
})

test('a valid valuation is ended before the next one', async () => {
  const vault = await session.openVault('0.5')
  await session.request(vault, ALICE, usdc('1'))
  await vault.act(SAFE, 'updateTotalAssetsLifespan', [3600n])
  await settleRequests(session.chain, vault.address)
  expect(await vault.read('isTotalAssetsValid')).toBe(true)
  await settleRequests(session.chain, vault.address, { gain: 5n })
  expect(await vault.read('totalAssets')).toBe(usdc('1') + 5n)
})

test('a curator settles pending requests and continues after a chain or a vault fails', async () => {
  const [pending, paused] = [await session.openVault('0.5'), await session.openVault('0.4')]
  for (const vault of [paused, pending]) await session.request(vault, ALICE, usdc('1'))
  await paused.act(ADMIN, 'pause', [])
  const vaults = [paused.address, pending.address]
  const unreachable = { chainId: 5, rpcUrl: 'http://127.0.0.1:1', blockSeconds: undefined }
  const errors: unknown[] = []
  const curator = startCurator({
    chains: [
      { chain: unreachable, vaults },
      { chain: session.chain, vaults },
    ],
    everySeconds: 0.05,
    onError: (error) => errors.push(error),
  })
  const claimable = () => pending.read('claimableDepositRequest', 0n, ALICE)
  await expect.poll(claimable).toBe(usdc('1'))
  await session.request(pending, ALICE, usdc('2'))
  await expect.poll(claimable).toBe(usdc('2'))
  await curator.stop()
  expect(errors.length).toBeGreaterThan(1)
})
