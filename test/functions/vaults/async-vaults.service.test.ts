import { type Address, decodeFunctionData, numberToHex } from 'viem'
import { describe, expect } from 'vitest'
import { callRpc } from '../../../sandbox/rpc.ts'
import { ASYNC_VAULT_ABI } from '../../sandbox/async-vault-abi.ts'
import { rewriteResults } from '../../support/chain-answers.ts'
import { expectError } from '../../support/errors.ts'
import { createUserViews, recordAllBlocks } from '../../support/records.ts'
import { type HttpReply, type Service, test, USERS } from '../../support/service.ts'
import {
  expectFairGas,
  expectSuccess,
  openAsyncVault,
  overrideFunction,
  ROLES,
  type TestAsyncVault,
} from '../../support/vaults.ts'

const [ALICE, BOB] = USERS
const MAKES = ['aggregated', 'counted', 'redemptions'] as const
const ASYNC_MAKES = ['aggregated', 'counted'] as const
const ONE = 10n ** 6n

const callsIn = ({ body }: HttpReply) =>
  [...body.approval, ...body.operations].map(({ to, data }) => {
    const { functionName, args } = decodeFunctionData({ abi: ASYNC_VAULT_ABI, data })
    return [to, functionName, ...(args ?? [])]
  })

async function send(vault: TestAsyncVault, reply: HttpReply) {
  const receipts = await vault.send(ALICE, reply)
  expectSuccess(receipts)
  expectFairGas(reply, receipts)
}

/**
 * Makes Alice a holder of `shares`. If the vault takes deposits only by request, the deposit is also settled and
 * claimed.
 */
async function depositInto(vault: TestAsyncVault, assets: bigint, shares: bigint) {
  await vault.mint(ALICE.address, assets)
  await vault.approve(ALICE.address, assets)
  if ((await vault.share) === vault.address) {
    await vault.act(ALICE.address, 'deposit', assets, ALICE.address)
    return
  }
  const id = await requestId(vault, 'deposit', () =>
    vault.act(ALICE.address, 'requestDeposit', assets, ALICE.address, ALICE.address),
  )
  await vault.act(ROLES.safe, 'fulfillDeposit', id, ALICE.address, assets, shares)
  await vault.act(ALICE.address, 'mint', shares, ALICE.address, ALICE.address)
}

/** Makes a request and returns its id, which is the highest id with a pending amount. */
async function requestId(vault: TestAsyncVault, kind: 'deposit' | 'redeem', request: () => Promise<unknown>) {
  await request()
  const view = kind === 'deposit' ? 'pendingDepositRequest' : 'pendingRedeemRequest'
  // Some vaults give all requests the id 0. They report the pending amount for any id.
  if ((await vault.read(view, 0n, ALICE.address)) > 0n) return 0n
  for (let id = 9n; id > 0n; id -= 1n) if ((await vault.read(view, id, ALICE.address)) > 0n) return id
  return 0n
}

function withoutSimulation(service: Service, { chain }: TestAsyncVault) {
  const wire = service.rpc[chain.chainId]
  if (!wire) throw new Error('The chain has no wire.')
  rewriteResults(wire, (result, { method }) => (method === 'eth_simulateV1' ? null : result))
  return wire
}

describe('an ERC-7540 vault with only the standard interface', () => {
  test.for(MAKES)('is registered and listed with the data of the standard: %s', async (make, { service }) => {
    const vault = await openAsyncVault(service, { make, shareDecimals: 8 })
    const { body } = await vault.list()
    const shareDecimals = make === 'redemptions' ? 6 : 8
    expect(body.data).toMatchObject([
      {
        poolAddress: vault.address,
        yieldTokenAddress: vault.share,
        shareDecimals,
        name: 'Async USDC',
        type: make === 'redemptions' ? 'sync' : 'async',
        MaxCap: false,
        totalAssets: '0',
      },
    ])
    expect(vault.share === vault.address).toBe(make === 'redemptions')
    if (make === 'redemptions') return
    const { vaultState, protocol, ...listed } = body.data[0]
    expect(protocol).toBe('erc7540')
    expect(listed).toMatchObject({ curatorAddress: null, valuationManager: null })
    expect(vaultState).toEqual({
      symbol: 'AV',
      decimals: 8,
      asset: vault.token,
      assetSymbol: 'USDC',
      assetDecimals: 6,
      totalAssets: '0',
      totalSupply: '0',
      sharePrice: `${ONE}`,
      // Values that ERC-7540 vaults do not have are null. `missing` lists only values that could not be read.
      ...Object.fromEntries(
        [
          ...['owner', 'safe', 'valuationManager', 'feeReceiver', 'paused', 'pendingSilo', 'pendingDeposits'],
          ...['pendingRedeems', 'isTotalAssetsValid', 'newTotalAssets', 'depositEpochId', 'redeemEpochId'],
        ].map((name) => [name, null]),
      ),
      missing: [],
    })
  })

  test.for(MAKES)('takes a deposit by the call that it supports: %s', async (make, { service }) => {
    const vault = await openAsyncVault(service, { make })
    await vault.mint(ALICE.address, 100n * ONE)
    const reply = await vault.deposit(ALICE, 100n * ONE)
    expect(reply.body).toMatchObject({ protocol: 'erc7540', isAsync: make !== 'redemptions' })
    const call =
      make === 'redemptions'
        ? ['deposit', 100n * ONE, ALICE.address]
        : ['requestDeposit', 100n * ONE, ALICE.address, ALICE.address]
    expect(callsIn(reply)).toEqual([
      [vault.token, 'approve', vault.address, 100n * ONE],
      [vault.address, ...call],
    ])
    await send(vault, reply)
  })

  test.for(ASYNC_MAKES)('shows a partly settled deposit as pending and claimable: %s', async (make, { service }) => {
    const vault = await openAsyncVault(service, { make })
    await vault.mint(ALICE.address, 100n * ONE)
    const reply = await vault.deposit(ALICE, 100n * ONE)
    await send(vault, reply)
    const id = make === 'counted' ? 1n : 0n
    const status = async () => {
      const { body } = await vault.status(ALICE)
      return [body.status, body.amounts]
    }
    expect(await status()).toEqual([
      'pending',
      { pendingDeposit: `${100n * ONE}`, claimableShares: '0', currentShares: '0', cancelledDeposit: '0' },
    ])
    await vault.act(ROLES.safe, 'fulfillDeposit', id, ALICE.address, 60n * ONE, 50n * ONE)
    expect(await status()).toEqual([
      'claimable',
      { pendingDeposit: `${40n * ONE}`, claimableShares: `${50n * ONE}`, currentShares: '0', cancelledDeposit: '0' },
    ])
  })
})

describe('a withdrawal from an ERC-7540 vault', () => {
  test.for(MAKES)(
    'is a request of shares for a number of shares, an amount or the maximum: %s',
    async (make, { service }) => {
      for (const field of ['shares', 'amount', 'max'] as const) {
        const vault = await openAsyncVault(service, { make })
        await depositInto(vault, 100n * ONE, 100n * ONE)
        await vault.act(ROLES.safe, 'updatePrice', 1_234_567_890_123_456_789n)
        const body = { shares: { shares: `${7n * ONE}` }, amount: { amount: `${20n * ONE}` }, max: { max: true } }[
          field
        ]
        const reply = await vault.withdraw(ALICE, body)
        const shares = BigInt(reply.body.withdrawal.shares)
        expect(reply.body).toMatchObject({ isAsync: true, withdrawal: { fee: '0', haircut: '0', isEstimate: true } })
        expect(callsIn(reply)).toEqual([[vault.address, 'requestRedeem', shares, ALICE.address, ALICE.address]])
        expect(reply.body.withdrawal.assets).toBe(`${await vault.read('convertToAssets', shares)}`)
        if (field === 'shares') expect(shares).toBe(7n * ONE)
        if (field === 'max') expect(shares).toBe(100n * ONE)
        if (field === 'amount') {
          // The withdrawal must use the smallest number of shares that is worth the amount.
          expect(await vault.read('convertToAssets', shares)).toBeGreaterThanOrEqual(20n * ONE)
          expect(await vault.read('convertToAssets', shares - 1n)).toBeLessThan(20n * ONE)
        }
        await send(vault, reply)
        expect(await vault.sharesOf(ALICE.address)).toBe(100n * ONE - shares)
      }
    },
  )

  test.for(ASYNC_MAKES)('of the maximum claims the shares of settled deposits first: %s', async (make, { service }) => {
    const vault = await openAsyncVault(service, { make })
    await depositInto(vault, 100n * ONE, 90n * ONE)
    await vault.mint(ALICE.address, 10n * ONE)
    await vault.approve(ALICE.address, 10n * ONE)
    const id = await requestId(vault, 'deposit', () =>
      vault.act(ALICE.address, 'requestDeposit', 10n * ONE, ALICE.address, ALICE.address),
    )
    await vault.act(ROLES.safe, 'fulfillDeposit', id, ALICE.address, 10n * ONE, 3_333_333n)
    const reply = await vault.withdraw(ALICE, { max: true })
    expect(callsIn(reply)).toEqual([
      [vault.address, 'mint', 3_333_333n, ALICE.address, ALICE.address],
      [vault.address, 'requestRedeem', 93_333_333n, ALICE.address, ALICE.address],
    ])
    await send(vault, reply)
    expect(await vault.sharesOf(ALICE.address)).toBe(0n)
  })

  test('approves the shares only if the vault takes them by allowance', async ({ service }) => {
    const vault = await openAsyncVault(service, { make: 'aggregated' })
    await depositInto(vault, 100n * ONE, 100n * ONE)
    await vault.act(ROLES.safe, 'setPullsSharesByAllowance', true)
    for (const [body, shares] of [
      [{ shares: `${40n * ONE}` }, 40n * ONE],
      [{ max: true }, 100n * ONE],
    ] as const) {
      expect(callsIn(await vault.withdraw(ALICE, body))).toEqual([
        [vault.share, 'approve', vault.address, shares],
        [vault.address, 'requestRedeem', shares, ALICE.address, ALICE.address],
      ])
    }
    await vault.actOnShare(ALICE.address, 'approve', vault.address, 40n * ONE)
    expect((await vault.withdraw(ALICE, { shares: `${40n * ONE}` })).body.approval).toEqual([])
    await send(vault, await vault.withdraw(ALICE, { max: true }))
  })

  test.for(MAKES)('takes one round trip for a number of shares: %s', async (make, { service }) => {
    const vault = await openAsyncVault(service, { make })
    await depositInto(vault, 100n * ONE, 100n * ONE)
    const wire = service.rpc[vault.chain.chainId]
    const before = wire?.bodies.length ?? 0
    await vault.withdraw(ALICE, { shares: `${ONE}` })
    expect((wire?.bodies.length ?? 0) - before).toBe(1)
  })

  test('of more than the user has is refused with the amounts that the vault reports as pending', async ({
    service,
  }) => {
    const vault = await openAsyncVault(service, { make: 'aggregated' })
    await depositInto(vault, 100n * ONE, 100n * ONE)
    const { body: more } = await vault.withdraw(ALICE, { amount: `${101n * ONE}` })
    const [{ atMost: most }] = more.details
    expect((await vault.withdraw(ALICE, { amount: most })).body.withdrawal.assets).toBe(most)
    const { body: moreShares } = await vault.withdraw(ALICE, { shares: `${101n * ONE}` })
    expect(moreShares.details[0]).toMatchObject({ field: 'shares', atMost: `${100n * ONE}` })
    await expect(vault.withdraw(ALICE, { shares: moreShares.details[0].atMost })).resolves.toMatchObject({
      status: 200,
    })
    await send(vault, await vault.withdraw(ALICE, { max: true }))
    const refused = await vault.withdraw(ALICE, { max: true })
    expectError(refused, 'amount_exceeds_balance', ['max'])
    expect(refused.body.details[0].issue).toContain(`${100n * ONE} in redemptions not settled`)
    await vault.act(ALICE.address, 'cancelRedeemRequest', 0n, ALICE.address)
    await vault.act(ROLES.safe, 'fulfillCancelRedeem', 0n, ALICE.address)
    const { body } = await vault.withdraw(ALICE, { max: true })
    expect(body.details[0].issue).toContain(`${100n * ONE} in cancelled redemptions not returned yet`)
  })

  test('is refused with the reason from the vault', async ({ service }) => {
    const vault = await openAsyncVault(service, { make: 'aggregated' })
    await depositInto(vault, 100n * ONE, 100n * ONE)
    expectError(await vault.withdraw(ALICE, { shares: `${101n * ONE}` }), 'amount_exceeds_balance', ['shares'])
    await vault.actOnShare(ALICE.address, 'restrict', ALICE.address, true)
    const refused = await vault.withdraw(ALICE, { max: true })
    expectError(refused, 'withdrawal_refused', ['vaultAddress'])
    expect(refused.body.details[0].issue).toBe('refuses: TransferNotAllowed')
    await vault.actOnShare(ALICE.address, 'restrict', ALICE.address, false)
    await send(vault, await vault.withdraw(ALICE, { shares: `${ONE}` }))
  })

  test('is added to an earlier request for the user if the dry run shows that both add up', async ({ service }) => {
    const vault = await openAsyncVault(service, { make: 'aggregated' })
    await depositInto(vault, 100n * ONE, 100n * ONE)
    await vault.actOnShare(ALICE.address, 'transfer', BOB.address, 1n)
    await vault.act(BOB.address, 'requestRedeem', 1n, ALICE.address, BOB.address)
    await send(vault, await vault.withdraw(ALICE, { shares: `${ONE}` }))
    expect(await vault.read('pendingRedeemRequest', 0n, ALICE.address)).toBe(ONE + 1n)
    await send(vault, await vault.withdraw(ALICE, { max: true }))
    expect(await vault.read('pendingRedeemRequest', 0n, ALICE.address)).toBe(100n * ONE)
  })

  test('is refused during an earlier one unless the dry run shows that both add up', async ({ service }) => {
    const vault = await openAsyncVault(service, { make: 'aggregated' })
    await depositInto(vault, 100n * ONE, 100n * ONE)
    await send(vault, await vault.withdraw(ALICE, { shares: '5' }))
    const wire = withoutSimulation(service, vault)
    expectError(await vault.withdraw(ALICE, { shares: `${ONE}` }), 'previous_withdrawal_request_not_settled')
    wire.rewrite = undefined
    // The vault's changed bytecode reports five pending shares for every request id.
    await overrideFunction(vault, 'f5a23d8d', '60055f5260205ff3')
    expectError(await vault.withdraw(ALICE, { shares: `${ONE}` }), 'previous_withdrawal_request_not_settled')
  })

  test('is returned without a simulation if no node supports it', async ({ service }) => {
    const vault = await openAsyncVault(service, { make: 'aggregated' })
    await depositInto(vault, 100n * ONE, 100n * ONE)
    withoutSimulation(service, vault)
    const { status, body } = await vault.withdraw(ALICE, { max: true })
    expect([status, body.simulation]).toEqual([200, { status: 'unavailable' }])
  })
})

describe('claims and cancellations of an ERC-7540 vault', () => {
  test.for(MAKES)('A claim pays the whole settled amount, to the unit: %s', async (make, { service }) => {
    const vault = await openAsyncVault(service, { make })
    const alice = ALICE.address
    if (make !== 'redemptions') {
      await vault.mint(alice, 10n * ONE)
      await vault.approve(alice, 10n * ONE)
      const id = await requestId(vault, 'deposit', () => vault.act(alice, 'requestDeposit', 10n * ONE, alice, alice))
      expectError(await vault.claim(ALICE), 'no_claimable_deposit')
      await vault.act(ROLES.safe, 'fulfillDeposit', id, alice, 7n * ONE, 3_333_333n)
      const claim = await vault.claim(ALICE)
      expect(claim.body.claimable.shares).toBe('3333333')
      await send(vault, claim)
      expect(await vault.sharesOf(alice)).toBe(3_333_333n)
    }
    await depositInto(vault, 100n * ONE, 100n * ONE)
    expectError(await vault.claimWithdrawal(ALICE), 'no_claimable_withdrawal')
    const id = await requestId(vault, 'redeem', () => vault.act(alice, 'requestRedeem', 50n * ONE, alice, alice))
    await vault.mint(ROLES.safe, 100n * ONE)
    // The two settlements have different prices, so their average price is not exact. The claim must still pay the
    // exact sum.
    await vault.act(ROLES.safe, 'fulfillRedeem', id, alice, 7n * ONE, 11_111_111n)
    await vault.act(ROLES.safe, 'fulfillRedeem', id, alice, 13n * ONE, 17_777_777n)
    const before = await vault.balanceOf(alice)
    const claim = await vault.claimWithdrawal(ALICE)
    expect(claim.body.claimable.assets).toBe('28888888')
    await send(vault, claim)
    expect((await vault.balanceOf(alice)) - before).toBe(28_888_888n)
    expect(await vault.read('maxWithdraw', alice)).toBe(0n)
  })

  test.for(ASYNC_MAKES)(
    'A request is cancelled in two steps, and no new one is accepted in between: %s',
    async (make, { service }) => {
      const vault = await openAsyncVault(service, { make })
      const alice = ALICE.address
      await depositInto(vault, 100n * ONE, 100n * ONE)
      await vault.mint(alice, 10n * ONE)
      await vault.approve(alice, 10n * ONE)
      const before = await vault.balanceOf(alice)
      for (const kind of ['deposit', 'withdrawal'] as const) {
        const isDeposit = kind === 'deposit'
        const amount = 10n * ONE
        expectError(await vault.cancel(ALICE, kind), 'no_pending_request')
        const id = await requestId(vault, isDeposit ? 'deposit' : 'redeem', () =>
          vault.act(alice, isDeposit ? 'requestDeposit' : 'requestRedeem', amount, alice, alice),
        )
        const cancellation = await vault.cancel(ALICE, kind)
        expect(cancellation.body).toMatchObject({
          isAsync: true,
          cancelled: { [isDeposit ? 'assets' : 'shares']: `${amount}` },
        })
        expect(callsIn(cancellation)).toEqual([
          [vault.address, isDeposit ? 'cancelDepositRequest' : 'cancelRedeemRequest', id, alice],
        ])
        await send(vault, cancellation)
        expectError(await vault.cancel(ALICE, kind), 'request_can_no_longer_be_cancelled')

        await vault.act(ROLES.safe, isDeposit ? 'fulfillCancelDeposit' : 'fulfillCancelRedeem', id, alice)
        const { status, statusDescription, amounts, nextPollAfterMs } = (
          await (isDeposit ? vault.status(ALICE) : vault.withdrawStatus(ALICE))
        ).body
        expect({ status, statusDescription, nextPollAfterMs }).toEqual({
          status: 'cancelled',
          statusDescription: expect.stringContaining('cancel once more'),
          nextPollAfterMs: null,
        })
        expect(amounts).toMatchObject(
          isDeposit
            ? { pendingDeposit: '0', cancelledDeposit: `${amount}` }
            : { pendingRedeemShares: '0', cancelledRedeemShares: `${amount}` },
        )
        const claim = await vault.cancel(ALICE, kind)
        expect(claim.body).toMatchObject({
          isAsync: false,
          cancelled: { [isDeposit ? 'assets' : 'shares']: `${amount}` },
        })
        expect(callsIn(claim)).toEqual([
          [vault.address, isDeposit ? 'claimCancelDepositRequest' : 'claimCancelRedeemRequest', id, alice, alice],
        ])
        await send(vault, claim)
      }
      expect([await vault.balanceOf(alice), await vault.sharesOf(alice)]).toEqual([before, 100n * ONE])
    },
  )

  test('A vault that does not report support for cancellations cancels nothing', async ({ service }) => {
    const vault = await openAsyncVault(service, { make: 'redemptions' })
    await depositInto(vault, 100n * ONE, 100n * ONE)
    await vault.act(ALICE.address, 'requestRedeem', ONE, ALICE.address, ALICE.address)
    expectError(await vault.cancel(ALICE, 'withdrawal'), 'request_can_no_longer_be_cancelled')
    expectError(await vault.cancel(ALICE, 'deposit'), 'cancel_not_applicable')
    expectError(await vault.claim(ALICE), 'claim_not_applicable')
  })

  test.for(MAKES)('A partly settled withdrawal is pending, then claimable: %s', async (make, { service }) => {
    const vault = await openAsyncVault(service, { make })
    await depositInto(vault, 100n * ONE, 100n * ONE)
    const alice = ALICE.address
    const id = await requestId(vault, 'redeem', () => vault.act(alice, 'requestRedeem', 50n * ONE, alice, alice))
    expect((await vault.withdrawStatus(ALICE)).body).toMatchObject({
      status: 'pending',
      amounts: { pendingRedeemShares: `${50n * ONE}`, claimableAssets: '0' },
      epochId: null,
    })
    await vault.act(ROLES.safe, 'fulfillRedeem', id, alice, 20n * ONE, 20n * ONE)
    expect((await vault.withdrawStatus(ALICE)).body).toMatchObject({
      status: 'claimable',
      amounts: { pendingRedeemShares: `${30n * ONE}`, claimableAssets: `${20n * ONE}` },
    })
  })
})

test("Third-party requests for the user neither hide the user's own nor raise the cost of the status", async ({
  service,
}) => {
  const vault = await openAsyncVault(service, { make: 'counted' })
  await depositInto(vault, 100n * ONE, 100n * ONE)
  await vault.actOnShare(ALICE.address, 'transfer', BOB.address, 50n * ONE)
  const wire = service.rpc[vault.chain.chainId]
  const stranger = (shares: bigint) => vault.act(BOB.address, 'requestRedeem', shares, ALICE.address, BOB.address)
  await vault.act(ALICE.address, 'requestRedeem', 1n, ALICE.address, ALICE.address)
  for (let less = 0n; less < 110n; less += 1n) await stranger(200n - less)
  wire?.reset()
  const { body } = await vault.withdrawStatus(ALICE)
  const requestedShares = Array.from({ length: 110 }, (_, index) => 200n - BigInt(index)).toSpliced(50, 10)
  const shown = requestedShares.reduce((total, shares) => total + shares, 1n)
  expect(body).toMatchObject({ status: 'pending', amounts: { pendingRedeemShares: `${shown}` } })
  // The service reads 102 request ids: the 50 largest requests, the 50 newest ones, the user's own, and the id 0.
  expect((wire?.bodies ?? []).join().split('f5a23d8d').length - 1).toBe(102)
  expect((await vault.cancel(ALICE, 'withdrawal')).status).toBe(200)
})

/**
 * Returns the API's data of both users. Asserts that they are the same before and after the job records the vault's
 * events.
 */
async function shownOf(service: Service, vault: TestAsyncVault) {
  const views = createUserViews(service, vault.key)
  const show = async () => ({
    positions: await Promise.all(
      [ALICE, BOB].map(async ({ address }) => (await views.positions(address)).body.positions[0]),
    ),
    position: (await views.position(ALICE.address, vault.address)).body,
    deposits: (await views.deposits(ALICE.address)).body.deposits,
    withdrawals: (await views.withdrawals(ALICE.address)).body.withdrawals,
  })
  const live = await show()
  await recordAllBlocks(vault.chain)
  const recorded = await show()
  // Price histories are not compared, because only the job stores past prices.
  recorded.position.sharePriceHistory = live.position.sharePriceHistory
  expect(recorded).toEqual(live)
  return live
}

describe('the history of an ERC-7540 vault', () => {
  test.for(MAKES)(
    'shows deposits, partial redemptions and transfers, live and recorded: %s',
    async (make, { service }) => {
      const vault = await openAsyncVault(service, { make, asset: 'DAI', shareDecimals: 18 })
      const unit = 10n ** 18n
      const act = (user: Address, ...call: [Parameters<typeof vault.act>[1], ...unknown[]]) => vault.act(user, ...call)
      await depositInto(vault, 100n * unit, 100n * unit)
      const id = await requestId(vault, 'redeem', () =>
        act(ALICE.address, 'requestRedeem', 40n * unit, ALICE.address, ALICE.address),
      )
      await vault.actOnShare(ALICE.address, 'transfer', BOB.address, 10n * unit)
      await act(ROLES.safe, 'updatePrice', 2n * unit)
      // The position's value includes the pending amount. Without it, the position would show a loss.
      const requested = await shownOf(service, vault)
      expect(requested.positions).toMatchObject([
        {
          totalDepositedAssets: `${100n * unit}`,
          totalWithdrawnAssets: `${10n * unit}`,
          currentValue: `${180n * unit}`,
        },
        {
          totalDepositedAssets: `${10n * unit}`,
          currentShares: `${10n * unit}`,
          currentValue: `${20n * unit}`,
          depositCount: 0,
        },
      ])
      expect(requested.position.amounts).toMatchObject({ pendingRedeemShares: `${40n * unit}` })
      expect(requested.withdrawals).toMatchObject([{ status: 'pending' }])

      await vault.mint(ROLES.safe, 100n * unit)
      await act(ROLES.safe, 'fulfillRedeem', id, ALICE.address, 15n * unit, 33n * unit)
      const settled = await shownOf(service, vault)
      expect(settled.position).toMatchObject({
        currentValue: `${50n * 2n * unit + 25n * 2n * unit + 33n * unit}`,
        amounts: { pendingRedeemShares: `${25n * unit}`, claimableRedeemAssets: `${33n * unit}` },
      })
      await act(ALICE.address, 'withdraw', 33n * unit, ALICE.address, ALICE.address)
      const paid = await shownOf(service, vault)
      expect(paid.position).toMatchObject({
        totalWithdrawnAssets: `${43n * unit}`,
        currentValue: `${150n * unit}`,
        deposits: [
          { status: 'completed', amounts: { depositedAssets: `${100n * unit}`, currentShares: `${50n * unit}` } },
        ],
      })
      expect(paid.withdrawals).toMatchObject([{ status: 'pending' }])
    },
  )

  test.for(ASYNC_MAKES)('shows cancellations from their request to their claim: %s', async (make, { service }) => {
    const vault = await openAsyncVault(service, { make })
    const alice = ALICE.address
    await depositInto(vault, 50n * ONE, 50n * ONE)
    await vault.mint(alice, 100n * ONE)
    await vault.approve(alice, 100n * ONE)
    const deposit = await requestId(vault, 'deposit', () =>
      vault.act(alice, 'requestDeposit', 100n * ONE, alice, alice),
    )
    await vault.act(ROLES.safe, 'fulfillDeposit', deposit, alice, 60n * ONE, 60n * ONE)
    await vault.act(alice, 'cancelDepositRequest', deposit, alice)
    const redeem = await requestId(vault, 'redeem', () => vault.act(alice, 'requestRedeem', 20n * ONE, alice, alice))
    await vault.act(alice, 'cancelRedeemRequest', redeem, alice)
    const whole = { totalDepositedAssets: `${150n * ONE}`, currentValue: `${150n * ONE}`, earnedAssets: '0' }
    expect((await shownOf(service, vault)).position).toMatchObject(whole)

    await vault.act(ROLES.safe, 'fulfillCancelDeposit', deposit, alice)
    await vault.act(ROLES.safe, 'fulfillCancelRedeem', redeem, alice)
    const granted = await shownOf(service, vault)
    expect(granted.position).toMatchObject({
      ...whole,
      amounts: {
        pendingDeposit: '0',
        pendingRedeemShares: '0',
        cancelledDeposit: `${40n * ONE}`,
        cancelledRedeemShares: `${20n * ONE}`,
      },
    })
    expect(granted.deposits).toMatchObject([{ status: 'claimable' }, { status: 'completed' }])
    expect(granted.withdrawals).toMatchObject([{ status: 'cancelled' }])

    await vault.act(alice, 'claimCancelDepositRequest', deposit, alice, alice)
    await vault.act(alice, 'claimCancelRedeemRequest', redeem, alice, alice)
    const shown = await shownOf(service, vault)
    expect(shown.position).toMatchObject({
      totalDepositedAssets: `${110n * ONE}`,
      currentValue: `${110n * ONE}`,
      earnedAssets: '0',
      amounts: {
        pendingDeposit: '0',
        claimableShares: `${60n * ONE}`,
        currentShares: `${50n * ONE}`,
        pendingRedeemShares: '0',
      },
    })
    expect(shown.deposits).toMatchObject([{ status: 'claimable' }, { status: 'completed' }])
    expect(shown.withdrawals).toMatchObject([{ status: 'cancelled' }])
  })

  test('recognizes a cancellation whose event names the receiver first', async ({ service }) => {
    const vault = await openAsyncVault(service, { make: 'redemptions' })
    const alice = ALICE.address
    await depositInto(vault, 100n * ONE, 100n * ONE)
    await vault.act(alice, 'requestRedeem', 30n * ONE, alice, alice)
    await vault.act(alice, 'cancelRedeemRequest', 0n, alice)
    await vault.act(ROLES.safe, 'fulfillCancelRedeem', 0n, alice)
    await vault.act(alice, 'claimCancelRedeemRequest', 0n, BOB.address, alice)
    const { positions, withdrawals } = await shownOf(service, vault)
    expect(positions).toMatchObject([
      { totalWithdrawnAssets: `${30n * ONE}`, currentShares: `${70n * ONE}`, earnedAssets: '0' },
      { totalDepositedAssets: `${30n * ONE}`, currentShares: `${30n * ONE}`, earnedAssets: '0' },
    ])
    expect(withdrawals).toMatchObject([{ status: 'cancelled' }])
  })
})

test('A request whose id exceeds a safe integer is in history and status, live and recorded', async ({ service }) => {
  const vault = await openAsyncVault(service, { make: 'counted' })
  await depositInto(vault, 100n * ONE, 100n * ONE)
  const counter = { slot: numberToHex(7, { size: 32 }), value: numberToHex(2n ** 60n, { size: 32 }) }
  await callRpc(vault.chain, [{ method: 'anvil_setStorageAt', params: [vault.address, counter.slot, counter.value] }])
  await send(vault, await vault.withdraw(ALICE, { shares: '2000000' }))
  const path = `/defi-vaults/v1/defi/user/${ALICE.address}/withdrawals`
  for (const record of [async () => {}, () => recordAllBlocks(vault.chain)]) {
    await record()
    const { body } = await service.call('GET', path, { key: vault.key })
    expect(body).toMatchObject({ withdrawals: [{ epochId: null, status: 'pending', shares: '2000000' }] })
    expect((await vault.withdrawStatus(ALICE)).body.amounts.pendingRedeemShares).toBe('2000000')
  }
})
