import { type Address, encodeFunctionData, parseAbi } from 'viem'
import { describe, expect } from 'vitest'
import { ACCOUNTS } from '../../../sandbox/accounts.ts'
import type { LagoonGeneration } from '../../../sandbox/deploy.ts'
import { transact } from '../../../sandbox/transactions.ts'
import { revertCalls } from '../../support/chain-answers.ts'
import { sendToCooldownVault } from '../../support/cooldown.ts'
import { test as base, createWithdrawalJourney } from '../../support/cross-chain.ts'
import { expectError, parseAmountLimits } from '../../support/errors.ts'
import { decodeBridgeDeposit } from '../../support/oracles.ts'
import { type Service, USERS } from '../../support/service.ts'
import {
  type Asset,
  expectFairGas,
  expectSuccess,
  openAsyncVault,
  openLagoonVault,
  openYieldVault,
  ROLES,
  type TestVault,
} from '../../support/vaults.ts'
import type { RecordingProxy } from '../../support/wire.ts'

const [ALICE, BOB] = USERS
const BLACKLIST = parseAbi(['function blacklist(address account)', 'function unBlacklist(address account)'])
const BASE_USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'

type Options = {
  readonly generation?: LagoonGeneration
  readonly asset?: Asset
  readonly chainId?: number
  readonly whitelisted?: boolean
}

/**
 * Opens a vault in which Alice can claim a third of her shares. They were redeemed at a share price that is not
 * round.
 */
async function openWithClaim(service: Service, { generation = '0.5', ...options }: Options = {}) {
  const fees = generation === '0.6' && { entryRate: 12, exitRate: 37, haircutRate: 1_234 }
  const vault = await openLagoonVault(service, { generation, ...options, ...fees })
  if (options.whitelisted) await vault.act(ROLES.admin, 'addToWhitelist', [ALICE.address, BOB.address])
  await vault.request(BOB.address, vault.units('777.7'))
  await vault.request(ALICE.address, vault.units('1000.000001'))
  await vault.settle()
  const claimable = await vault.read('claimableDepositRequest', 0n, ALICE.address)
  await vault.act(ALICE.address, 'deposit', claimable, ALICE.address, ALICE.address)
  await vault.settle(vault.units('33.333333'))
  await requestRedeem(vault, (await vault.read('balanceOf', ALICE.address)) / 3n)
  await vault.settle()
  return createWithdrawalJourney(vault, service)
}

const requestRedeem = (vault: TestVault, shares: bigint) =>
  vault.act(ALICE.address, 'requestRedeem', shares, ALICE.address, ALICE.address)
const redeemable = (vault: TestVault) => vault.read('claimableRedeemRequest', 0n, ALICE.address)

const test = base
  .extend('sharedJourney', { scope: 'file' }, ({ sharedService }) => openWithClaim(sharedService))
  /** A withdrawal of USDC from a Lagoon vault on Base to Arbitrum. Tests that change nothing in the vault share it. */
  .extend('journey', ({ service: _, sharedJourney }) => sharedJourney)

describe('A settled withdrawal is claimed to another chain', () => {
  const cases = [
    { generation: '0.1', asset: 'USDC', chainId: 8453 },
    { generation: '0.4', asset: 'DAI', chainId: 42161 },
    { generation: '0.5', asset: 'DAI', chainId: 8453 },
    { generation: '0.6', asset: 'USDC', chainId: 42161 },
  ] as const

  test.for(cases)(
    'Lagoon $generation of $asset on $chainId: the promised amount arrives, to the unit, and the status shows it',
    async (options, { service, bridge }) => {
      const journey = await openWithClaim(service, options)
      const { vault, destination } = journey
      const shares = await redeemable(vault)
      const promised = (await vault.claimWithdrawal(ALICE)).body.claimable.assets
      const [here, there] = [await vault.balanceOf(ALICE.address), await journey.arrivedFor(ALICE.address)]

      const reply = await journey.askForClaim(ALICE)
      const { approval, operations, quote, claimable } = reply.body
      expect(reply).toMatchObject({ status: 200, body: { isCrossChain: true, isAsync: true, protocol: 'lagoon' } })
      expect(claimable).toEqual({ assets: promised, shares: `${shares}`, remainder: '0' })
      const { offer } = bridge.quoteBehind(reply)
      expect(quote).toMatchObject({ inputAmount: promised, outputAmount: offer.outputAmount })
      expect(approval).toHaveLength(1)
      expect(operations.map(({ to }: { to: Address }) => to)).toEqual([vault.address, journey.pool])
      expect(decodeBridgeDeposit(operations.at(-1).data)).toMatchObject({
        depositor: ALICE.address,
        recipient: ALICE.address,
        outputToken: journey.token.address,
        destinationChainId: BigInt(destination.chainId),
        message: '0x',
      })

      const receipts = await vault.send(ALICE, reply)
      expectSuccess(receipts)
      expectFairGas(reply, receipts)
      const askStatus = async () => {
        const path = `/defi-vaults/v1/defi/cross-chain/${receipts.at(-1)?.transactionHash}/status`
        return (await service.call('GET', `${path}?srcChainId=${options.chainId}`, { key: vault.key })).body
      }
      expect(await askStatus()).toMatchObject({ status: 'bridging', terminal: false })
      await journey.fill(receipts)
      expect(await askStatus()).toMatchObject({ status: 'completed', terminal: true })

      expect(await vault.balanceOf(ALICE.address)).toBe(here)
      expect(`${(await journey.arrivedFor(ALICE.address)) - there}`).toBe(quote.outputAmount)
      expect(await redeemable(vault)).toBe(0n)
      expect(await journey.allowance(ALICE.address)).toBe(0n)
    },
  )

  test('An ERC-7540 vault that pays more by amount than by shares: exactly that amount arrives', async ({
    service,
  }) => {
    const vault = await openAsyncVault(service, { make: 'aggregated' })
    const journey = createWithdrawalJourney(vault, service)
    const [user, safe] = [ALICE.address, ROLES.safe]
    await vault.mint(user, 100_000_000n)
    await vault.approve(user, 100_000_000n)
    await vault.act(user, 'requestDeposit', 100_000_000n, user, user)
    await vault.act(safe, 'fulfillDeposit', 0n, user, 100_000_000n, 100_000_000n)
    await vault.act(user, 'mint', 100_000_000n, user, user)
    await vault.act(user, 'requestRedeem', 50_000_000n, user, user)
    await vault.mint(safe, 100_000_000n)
    // The two settlements have different prices, so their average price is not exact. The claim must still pay the
    // exact sum.
    await vault.act(safe, 'fulfillRedeem', 0n, user, 7_000_000n, 11_111_111n)
    await vault.act(safe, 'fulfillRedeem', 0n, user, 13_000_000n, 17_777_777n)
    const [here, there] = [await vault.balanceOf(user), await journey.arrivedFor(user)]

    const reply = await journey.askForClaim(ALICE)
    const { claimable, quote } = reply.body
    expect(claimable).toMatchObject({ assets: '28888888', remainder: '0' })
    expect(quote.inputAmount).toBe('28888888')
    const receipts = await vault.send(ALICE, reply)
    expectSuccess(receipts)
    await journey.fill(receipts)
    expect(await vault.balanceOf(user)).toBe(here)
    expect(`${(await journey.arrivedFor(user)) - there}`).toBe(quote.outputAmount)
  })

  test('A cooldown vault, whose claim returns no value: the whole pending amount arrives', async ({ service }) => {
    const vault = await openYieldVault(service, { make: 'cooldown' })
    const journey = createWithdrawalJourney(vault, service)
    const user = ALICE.address
    await vault.mint(user, 100_000_000n)
    await vault.approve(user, 100_000_000n)
    await vault.act(user, 'deposit', 100_000_000n, user)
    expectError(await journey.ask(ALICE, { max: true }), 'cross_chain_not_available', ['dstChainId'])
    await sendToCooldownVault(vault, user, 'cooldownShares', 77_777_777n)
    expectError(await journey.askForClaim(ALICE), 'no_claimable_withdrawal', ['vaultAddress'])
    await sendToCooldownVault(vault, ROLES.admin, 'setCooldownDuration', 0)
    const [here, there] = [await vault.balanceOf(user), await journey.arrivedFor(user)]

    const reply = await journey.askForClaim(ALICE)
    const { claimable, quote } = reply.body
    expect(claimable).toEqual({ assets: '77777777', shares: null, remainder: '0' })
    expect(quote.inputAmount).toBe('77777777')
    const receipts = await vault.send(ALICE, reply)
    expectSuccess(receipts)
    await journey.fill(receipts)
    expect(await vault.balanceOf(user)).toBe(here)
    expect(`${(await journey.arrivedFor(user)) - there}`).toBe(quote.outputAmount)
  })

  test("The vault's own chain as the destination makes a claim without a transfer", async ({ service }) => {
    const { vault, askForClaim } = await openWithClaim(service)
    const { body } = await askForClaim(ALICE, { dstChainId: 8453, dstToken: BASE_USDC })
    expect(body).toMatchObject({ isCrossChain: false, approval: [], operations: [{ to: vault.address }] })
    expect(body.quote ?? body.claimable.remainder).toBeUndefined()
  })
})

describe('Nothing is claimed to another chain', () => {
  test.for([
    { more: { kind: 'deposit' }, code: 'missing_or_invalid_dst_chain_id', fields: ['dstChainId'] },
    { more: { kind: undefined }, code: 'missing_or_invalid_dst_chain_id', fields: ['dstChainId'] },
    {
      more: { kind: 'deposit', dstChainId: 8453, dstToken: BASE_USDC },
      code: 'missing_or_invalid_dst_chain_id',
      fields: ['dstChainId'],
    },
    { more: { kind: 'all' }, code: 'invalid_kind', fields: ['kind'] },
    {
      more: { kind: 'deposit', dstToken: undefined },
      code: 'missing_or_invalid_dst_chain_id',
      fields: ['dstToken', 'dstChainId'],
    },
    { more: { dstToken: undefined }, code: 'missing_or_invalid_dst_token', fields: ['dstToken'] },
    { more: { dstToken: 'USDC' }, code: 'missing_or_invalid_dst_token', fields: ['dstToken'] },
    { more: { dstChainId: undefined }, code: 'missing_or_invalid_dst_chain_id', fields: ['dstChainId'] },
    { more: { dstChainId: '42161' }, code: 'missing_or_invalid_dst_chain_id', fields: ['dstChainId'] },
    { more: { dstChainId: 2 }, code: 'unsupported_destination_chain', fields: ['dstChainId'] },
    { more: { dstChainId: 100 }, code: 'unsupported_destination_chain', fields: undefined },
    { more: { dstToken: BASE_USDC }, code: 'unsupported_destination_token', fields: undefined },
    { more: { dstChainId: 8453 }, code: 'unsupported_destination_token', fields: undefined },
  ] as const)(
    'with $more: $code, without a request to a chain',
    async ({ more, code, fields }, { service, journey }) => {
      for (const wire of Object.values(service.rpc)) wire.reset()
      expectError(await journey.askForClaim(ALICE, more), code, fields)
      expect(Object.values(service.rpc).flatMap(({ bodies }) => bodies)).toEqual([])
    },
  )

  test('from a synchronous vault', async ({ service }) => {
    const { askForClaim } = createWithdrawalJourney(await openYieldVault(service), service)
    expectError(await askForClaim(ALICE), 'claim_not_applicable')
  })

  test('if it is not settled, if the vault is paused, or if it is too little', async ({ service }) => {
    const { vault, askForClaim } = await openWithClaim(service)
    await vault.act(ROLES.admin, 'pause')
    expectError(await askForClaim(ALICE), 'vault_is_paused')
    await vault.act(ROLES.admin, 'unpause')
    expectSuccess(await vault.send(ALICE, await vault.claimWithdrawal(ALICE)))
    expectError(await askForClaim(ALICE), 'no_claimable_withdrawal')

    await requestRedeem(vault, 10n ** 17n)
    expectError(await askForClaim(ALICE), 'no_claimable_withdrawal')
    await vault.settle()
    const { assets } = (await vault.claimWithdrawal(ALICE)).body.claimable
    const reply = await askForClaim(ALICE)
    expectError(reply, 'amount_too_low_for_bridge', ['dstChainId'])
    expect(parseAmountLimits(reply).atLeast).toBeGreaterThan(BigInt(assets))
  })

  test('if only dust is left', async ({ service }) => {
    const { vault, askForClaim } = await openWithClaim(service, { generation: '0.6' })
    const assets = await vault.read('maxWithdraw', ALICE.address)
    await vault.act(ALICE.address, 'withdraw', assets, ALICE.address, ALICE.address)
    expectError(await vault.claimWithdrawal(ALICE), 'no_claimable_withdrawal')
    expectError(await askForClaim(ALICE), 'no_claimable_withdrawal')
  })

  test('for an account no longer on the list of Lagoon 0.6', async ({ service }) => {
    const { vault, askForClaim } = await openWithClaim(service, { generation: '0.6', whitelisted: true })
    await vault.act(ROLES.admin, 'revokeFromWhitelist', [ALICE.address])
    expectError(await askForClaim(ALICE), 'depositor_not_allowed')
  })

  test('if the vault cannot pay the user, with the reason', async ({ journey }) => {
    const act = (functionName: 'blacklist' | 'unBlacklist') =>
      transact(journey.vault.chain, [
        {
          label: functionName,
          from: ACCOUNTS.admin.address,
          to: journey.vault.token,
          data: encodeFunctionData({ abi: BLACKLIST, functionName, args: [ALICE.address] }),
        },
      ])
    await act('blacklist')
    const reply = await journey.askForClaim(ALICE)
    await act('unBlacklist')
    expectError(reply, 'withdrawal_refused', ['vaultAddress'])
  })

  test('while a pool takes or pays nothing, or above the limit of the bridge', async ({ service, bridge, journey }) => {
    const { relayer } = service.backends
    for (const [chainId, what] of [
      [8453, 'deposits'],
      [42161, 'fills'],
    ] as const) {
      await relayer.pause(chainId, what, true)
      expectError(await journey.askForClaim(ALICE), 'cross_chain_not_available')
      await relayer.pause(chainId, what, false)
    }
    bridge.changeQuote((offer) => ({ ...offer, limits: { ...(offer['limits'] as object), maxDeposit: '19999999' } }))
    expectError(await journey.askForClaim(ALICE), 'amount_too_high_for_bridge', ['dstChainId'])
  })

  test('if no dry run shows the amount', async ({ coldService: service, journey }) => {
    // The node has no eth_simulateV1, so no dry run shows the amount. The cast is safe, because each of the service's
    // chains has an RPC proxy.
    revertCalls(service.rpc[8453] as RecordingProxy, [])
    expectError(await createWithdrawalJourney(journey.vault, service).askForClaim(ALICE), 'cross_chain_not_available', [
      'dstChainId',
    ])
  })
})
