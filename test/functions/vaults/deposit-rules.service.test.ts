import { maxUint256, zeroAddress } from 'viem'
import { describe, expect } from 'vitest'
import type { LagoonGeneration } from '../../../sandbox/deploy.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { expectError, parseAmountLimits } from '../../support/errors.ts'
import { type Service, test, USERS } from '../../support/service.ts'
import { expectSuccess, openLagoonVault, openYieldVault, ROLES, type TestVault } from '../../support/vaults.ts'

const [ALICE, BOB] = USERS
const AMOUNT = 5_000_000n

const SELECTORS = {
  requestDeposit: '0x85b77f45',
  syncDeposit: '0xd01d073a',
  deposit: '0x6e553f65',
  claim: '0x2e2d2984',
}

const WITH_SYNC = (['0.5', '0.6'] as const).map((generation) => ({ generation }))
/** The first and the last Lagoon version, for rules that are the same in all versions. */
const ENDS = (['0.1', '0.6'] as const).map((generation) => ({ generation }))
const SYNC_MODES = { SyncRedeem: 2, None: 3 }

const openVault = (service: Service, options: Parameters<typeof openLagoonVault>[1]) =>
  service.restore(JSON.stringify(options), () => openLagoonVault(service, options))

async function expectDeposit(
  vault: TestVault,
  operation: 'requestDeposit' | 'syncDeposit' | 'deposit',
  amount = AMOUNT,
) {
  const reply = await vault.deposit(ALICE, amount)
  expect(reply.status).toBe(200)
  expect(reply.body).toMatchObject({
    operations: [{ to: vault.address, data: expect.stringMatching(`^${SELECTORS[operation]}`), value: '0' }],
    isAsync: operation === 'requestDeposit',
    simulation: { status: 'success' },
  })
  expectSuccess(await vault.send(ALICE, reply))
}

/** The result has the contract's error for each kind of deposit. An error is undefined if the call would succeed. */
async function refusalsOnChain(vault: TestVault, amount = AMOUNT) {
  await vault.mint(ALICE.address, amount)
  await vault.approve(ALICE.address, amount)
  const { address } = ALICE
  return {
    requestDeposit: await vault.refusal(address, 'requestDeposit', amount, address, address),
    syncDeposit: await vault.refusal(address, 'syncDeposit', amount, address, zeroAddress),
  }
}

function settleDeposit(vault: TestVault, generation: LagoonGeneration, totalAssets: bigint) {
  const valuation = generation === '0.1' ? [] : [totalAssets]
  return vault.refusal(ROLES.safe, 'settleDeposit', ...valuation)
}

function close(vault: TestVault, generation: LagoonGeneration, totalAssets: bigint) {
  // The function `close` of Lagoon v0.1 has no argument, because the contract uses the proposed valuation.
  return vault.act(ROLES.safe, 'close', ...(generation === '0.1' ? [] : [totalAssets]))
}

describe('a vault that is not open', () => {
  test.for(ENDS)(
    'A paused Lagoon $generation vault refuses deposits, as the contract does',
    async ({ generation }, { service }) => {
      const vault = await openVault(service, { generation })
      await vault.act(ROLES.admin, 'pause')
      expectError(await vault.deposit(ALICE, AMOUNT), 'vault_is_paused')
      expect((await refusalsOnChain(vault)).requestDeposit).toBe('EnforcedPause')
      expect((await refusalsOnChain(vault)).syncDeposit).toBeDefined()

      await vault.act(ROLES.admin, 'unpause')
      await expectDeposit(vault, 'requestDeposit')
    },
  )

  test.for(ENDS)(
    'A closing Lagoon $generation vault refuses deposits, which its contract would accept and never settle',
    async ({ generation }, { service }) => {
      const vault = await openVault(service, { generation })
      await vault.act(ROLES.valuationManager, 'updateNewTotalAssets', 0n)
      await vault.act(ROLES.admin, 'initiateClosing')
      expectError(await vault.deposit(ALICE, AMOUNT), 'vault_is_closed')

      await vault.request(ALICE.address, AMOUNT)
      expect(await settleDeposit(vault, generation, 0n)).toBe('NotOpen')
      await close(vault, generation, 0n)
      expect(await vault.read('pendingDepositRequest', 0n, ALICE.address)).toBe(AMOUNT)
      expect(await vault.refusal(ROLES.valuationManager, 'updateNewTotalAssets', 0n)).toBe('Closed')
      expect(await settleDeposit(vault, generation, 0n)).toBe('NotOpen')
    },
  )
})

describe('the current mode of deposits', () => {
  test.for(WITH_SYNC)(
    'A Lagoon $generation vault takes only instant deposits while its valuation is valid, as the contract does',
    async ({ generation }, { service }) => {
      const vault = await openVault(service, { generation })
      await vault.settleForADay()
      expect(await refusalsOnChain(vault)).toEqual({ requestDeposit: 'OnlySyncDepositAllowed', syncDeposit: undefined })
      await expectDeposit(vault, 'syncDeposit')
    },
  )

  test.for([
    { generation: '0.5', syncRefusal: 'OnlyAsyncDepositAllowed' },
    { generation: '0.6', syncRefusal: 'TotalAssetsExpired' },
  ] as const)(
    'A Lagoon $generation vault takes only requests after its valuation has expired, as the contract does',
    async ({ generation, syncRefusal }, { service }) => {
      const vault = await openVault(service, { generation })
      await vault.settleForADay()
      await callRpc(vault.chain, [
        { method: 'evm_increaseTime', params: [86_401] },
        { method: 'evm_mine', params: [] },
      ])
      expect(await refusalsOnChain(vault)).toEqual({ requestDeposit: undefined, syncDeposit: syncRefusal })
      await expectDeposit(vault, 'requestDeposit')
    },
  )

  test('A Lagoon 0.6 vault in redemption sync mode refuses deposits while its valuation is valid, as the contract does', async ({
    service,
  }) => {
    const vault = await openVault(service, { generation: '0.6' })
    await vault.settleForADay()
    await vault.act(ROLES.safe, 'setSyncMode', SYNC_MODES.SyncRedeem)
    expectError(await vault.deposit(ALICE, AMOUNT), 'deposits_are_not_open')
    expect(await refusalsOnChain(vault)).toEqual({
      requestDeposit: 'OnlySyncDepositAllowed',
      syncDeposit: 'OnlyAsyncDepositAllowed',
    })
    await vault.act(ROLES.safe, 'expireTotalAssets')
    await expectDeposit(vault, 'requestDeposit')
  })
})

describe('an unsettled request', () => {
  test.for(ENDS)(
    "A Lagoon $generation vault refuses a deposit during the user's request in an earlier epoch, as the contract does",
    async ({ generation }, { service }) => {
      const vault = await openVault(service, { generation })
      await expectDeposit(vault, 'requestDeposit')
      await vault.act(ROLES.valuationManager, 'updateNewTotalAssets', 0n)
      expectError(await vault.deposit(ALICE, AMOUNT), 'previous_deposit_request_not_settled')
      expect((await refusalsOnChain(vault)).requestDeposit).toBe('OnlyOneRequestAllowed')

      await vault.settle()
      await expectDeposit(vault, 'requestDeposit')
    },
  )
})

async function expectRoom(vault: TestVault, room: bigint): Promise<void> {
  for (const amount of [room + 1n, 1_000n * room]) {
    const reply = await vault.deposit(ALICE, amount)
    expectError(reply, 'vault_cap_reached', ['amount'])
    expect(parseAmountLimits(reply).atMost).toBe(room)
  }
}

describe('the cap of a Lagoon 0.6 vault', () => {
  test('Requests may fill the cap to the last unit, including amounts in the silo, and not beyond', async ({
    service,
  }) => {
    const vault = await openVault(service, { generation: '0.6' })
    await vault.request(BOB.address, 2_000_000n)
    await vault.settle()
    await vault.request(BOB.address, 3_000_000n)
    await vault.act(ROLES.safe, 'updateMaxCap', 5_000_000n + AMOUNT)

    await expectRoom(vault, AMOUNT)
    expect((await refusalsOnChain(vault, AMOUNT + 1n)).requestDeposit).toBe('MaxCapReached')
    await expectDeposit(vault, 'requestDeposit', AMOUNT)
    expectError(await vault.deposit(ALICE, 1n), 'vault_cap_reached')
    expect((await refusalsOnChain(vault, 1n)).requestDeposit).toBe('MaxCapReached')
  })
})

describe('who may deposit', () => {
  test.for(ENDS)(
    'A Lagoon $generation vault with a whitelist takes only deposits of its accounts, as the contract does',
    async ({ generation }, { service }) => {
      const vault = await openVault(service, { generation, whitelisted: true })
      await vault.act(ROLES.admin, 'addToWhitelist', [BOB.address])
      expectError(await vault.deposit(ALICE, AMOUNT), 'depositor_not_allowed')
      expect((await refusalsOnChain(vault)).requestDeposit).toBe(
        generation === '0.1' ? 'NotWhitelisted' : 'AddressNotAllowed',
      )

      await vault.act(ROLES.admin, 'addToWhitelist', [ALICE.address])
      await expectDeposit(vault, 'requestDeposit')
    },
  )

  test('A whitelist that is switched off admits every account', async ({ service }) => {
    const vault = await openVault(service, { generation: '0.4', whitelisted: true })
    await vault.act(ROLES.admin, 'disableWhitelist')
    await expectDeposit(vault, 'requestDeposit')
  })
})

describe('a synchronous vault', () => {
  const refusal = async (vault: TestVault, amount: bigint) => {
    await vault.approve(ALICE.address, amount)
    return vault.refusal(ALICE.address, 'deposit', amount, ALICE.address)
  }

  test('A paused synchronous vault refuses deposits, as the contract does', async ({ service }) => {
    const vault = await openYieldVault(service)
    await vault.act(ROLES.admin, 'pause')
    expectError(await vault.deposit(ALICE, AMOUNT), 'vault_is_paused')
    expect(await refusal(vault, AMOUNT)).toBe('EnforcedPause')
    await vault.act(ROLES.admin, 'unpause')
    await expectDeposit(vault, 'deposit')
  })

  test('A synchronous vault that takes no deposits is reported as not open, and the contract refuses', async ({
    service,
  }) => {
    const vault = await openYieldVault(service)
    await vault.act(ROLES.admin, 'setDepositCap', 0n)
    expectError(await vault.deposit(ALICE, AMOUNT), 'deposits_are_not_open', ['vaultAddress'])
    expect(await refusal(vault, AMOUNT)).toBe('ERC4626ExceededMaxDeposit')
    expect(await refusal(vault, 1n)).toBe('ERC4626ExceededMaxDeposit')
  })

  test('Deposits may fill the cap of a synchronous vault to the last unit, and not one more', async ({ service }) => {
    const vault = await openYieldVault(service)
    await vault.act(ROLES.admin, 'setDepositCap', AMOUNT + 1_000_000n)
    await expectDeposit(vault, 'deposit', 1_000_000n)

    await expectRoom(vault, AMOUNT)
    expect(await refusal(vault, AMOUNT + 1n)).toBe('ERC4626ExceededMaxDeposit')
    await expectDeposit(vault, 'deposit', AMOUNT)
    expectError(await vault.deposit(ALICE, 1n), 'deposits_are_not_open', ['vaultAddress'])
    expect(await refusal(vault, 1n)).toBe('ERC4626ExceededMaxDeposit')
  })

  test('A synchronous vault with its daily limit used up reports a limit of 0 until the next day', async ({
    service,
  }) => {
    const vault = await openYieldVault(service, { make: 'dailyLimit' })
    await vault.act(ROLES.admin, 'setDailyLimit', AMOUNT + 1_000_000n)
    await expectDeposit(vault, 'deposit', AMOUNT)
    await expectRoom(vault, 1_000_000n)
    await expectDeposit(vault, 'deposit', 1_000_000n)
    const refused = await vault.deposit(ALICE, 1n)
    expectError(refused, 'deposits_are_not_open', ['vaultAddress'])
    expect(refused.body.details[0].issue).toBe('takes nothing from the user now: its limit (maxDeposit) is 0')
    expect(await refusal(vault, 1n)).toBe('ERC4626ExceededMaxDeposit')
    await callRpc(vault.chain, [
      { method: 'evm_increaseTime', params: [86_400] },
      { method: 'evm_mine', params: [] },
    ])
    await expectDeposit(vault, 'deposit', AMOUNT)
    await vault.act(ROLES.admin, 'pause')
    expectError(await vault.deposit(ALICE, 1n), 'vault_is_paused')
  })

  test('A synchronous vault has nothing to claim and no deposit status', async ({ service }) => {
    const vault = await openYieldVault(service)
    await expectDeposit(vault, 'deposit')
    expectError(await vault.claim(ALICE), 'claim_not_applicable')
    expectError(await vault.status(ALICE), 'deposit_status_not_applicable')
  })
})

describe('a vault whose code changes while the service runs', () => {
  const stateOf = async (vault: TestVault) => (await vault.list()).body.data[0].vaultState

  test('A vault upgraded from 0.5 to 0.6 and rolled back is treated as its current version', async ({ service }) => {
    const vault = await openVault(service, { generation: '0.5' })
    await vault.settleForADay()
    await expectDeposit(vault, 'syncDeposit')

    await vault.upgrade('0.6')
    // The upgraded vault has a cap of 0, because nothing has been written to the cap's storage slot.
    expectError(await vault.deposit(ALICE, AMOUNT), 'vault_cap_reached')
    expect((await refusalsOnChain(vault)).syncDeposit).toBe('MaxCapReached')
    await vault.act(ROLES.safe, 'updateMaxCap', maxUint256)
    await expectDeposit(vault, 'syncDeposit')
    await vault.act(ROLES.safe, 'setSyncMode', SYNC_MODES.None)
    expectError(await vault.deposit(ALICE, AMOUNT), 'deposits_are_not_open')
    expect(await stateOf(vault)).toMatchObject({ missing: [], isTotalAssetsValid: true })

    await vault.upgrade('0.5')
    await expectDeposit(vault, 'syncDeposit')
    await vault.upgrade('0.4')
    await expectDeposit(vault, 'requestDeposit')
    expect(await stateOf(vault)).toMatchObject({ missing: [], isTotalAssetsValid: false })
  })

  test('A deposit requested under 0.4 and settled under 0.5 is claimed under 0.6', async ({ service }) => {
    const vault = await openVault(service, { generation: '0.4' })
    await expectDeposit(vault, 'requestDeposit')
    await vault.upgrade('0.5')
    expect((await vault.status(ALICE)).body).toMatchObject({
      status: 'pending',
      amounts: { pendingDeposit: `${AMOUNT}` },
    })
    await vault.settle()
    const { claimableShares } = (await vault.status(ALICE)).body.amounts
    await vault.upgrade('0.6')
    expect((await vault.status(ALICE)).body.amounts.claimableShares).toBe(claimableShares)

    const reply = await vault.claim(ALICE)
    expect(reply.body.claimable).toEqual({ assets: `${AMOUNT}`, shares: claimableShares })
    expectSuccess(await vault.send(ALICE, reply))
    expect(await vault.read('balanceOf', ALICE.address)).toBe(BigInt(claimableShares))
  })

  test('A vault of an unknown version is listed with what it reports, refuses deposits and pays claims', async ({
    service,
  }) => {
    const vault = await openVault(service, { generation: '0.6', entryRate: 50 })
    await expectDeposit(vault, 'requestDeposit')
    await vault.settle()
    const before = await stateOf(vault)
    await vault.upgrade('unknown')

    const list = await vault.list()
    expect(list.status).toBe(200)
    const { missing, ...state } = list.body.data[0].vaultState
    const hidden = [
      'valuationManager',
      'feeReceiver',
      'pendingSilo',
      'pendingDeposits',
      'pendingRedeems',
      'newTotalAssets',
      'depositEpochId',
      'redeemEpochId',
    ]
    expect([...missing].sort()).toEqual(hidden.sort())
    const { missing: _, ...otherState } = before
    expect(state).toEqual({ ...otherState, ...Object.fromEntries(hidden.map((name) => [name, null])) })

    expectError(await vault.deposit(ALICE, AMOUNT), 'unsupported_vault_version')
    const status = await vault.status(ALICE)
    expect(status.status).toBe(200)
    expect(status.body).toMatchObject({
      status: 'claimable',
      vault: { depositEpochId: null, isTotalAssetsValid: false },
    })

    const claim = await vault.claim(ALICE)
    expect(claim.status).toBe(200)
    expect(claim.body.claimable.shares).toBe(status.body.amounts.claimableShares)
    expectSuccess(await vault.send(ALICE, claim))
    expect(await vault.read('balanceOf', ALICE.address)).toBe(BigInt(claim.body.claimable.shares))
    expect((await vault.status(ALICE)).body.status).toBe('deposited')
    expectError(await vault.claim(ALICE), 'no_claimable_deposit')
  })

  test('A Lagoon vault without code is a bad upstream response, and does not break the list', async ({ service }) => {
    const [vault, other] = [
      await openLagoonVault(service, { generation: '0.5' }),
      await openLagoonVault(service, { generation: '0.5' }),
    ]
    await vault.destroy()
    for (const reply of [await vault.deposit(ALICE, AMOUNT), await vault.claim(ALICE), await vault.status(ALICE)]) {
      expectError(reply, 'upstream_bad_answer')
    }
    const key = await service.createClient([{ chainId: 8453, address: other.address }])
    const reply = await service.call('GET', '/defi-vaults/v1/vaults', { key })
    const list = await vault.list()
    expect(list.status).toBe(200)
    expect(list.body.data).toMatchObject([{ poolAddress: vault.address, stateAsOf: { stale: false } }])
    expect(list.body.data[0].vaultState).toHaveProperty('totalAssets', null)
    expect(list.body.data[0].vaultState.missing).toContain('totalAssets')
    expect(reply.body.data[0].vaultState.missing).toEqual([])
  })

  test('A synchronous vault without code is a bad upstream response, and does not break the list', async ({
    service,
  }) => {
    const vault = await openYieldVault(service)
    await vault.destroy()
    expectError(await vault.deposit(ALICE, AMOUNT), 'upstream_bad_answer')
    const list = await vault.list()
    expect(list.status).toBe(200)
    expect(list.body.data).toMatchObject([{ poolAddress: vault.address, type: 'sync', APY: '0.00' }])
  })
})

describe('claims', () => {
  const claimOnChain = (vault: TestVault, by: string, amount: bigint, controller = by) =>
    vault.refusal(by as typeof ALICE.address, 'deposit', amount, by, controller)

  test.for(ENDS)(
    'A user without a deposit has nothing to claim from a Lagoon $generation vault, as in the contract',
    async ({ generation }, { service }) => {
      const vault = await openVault(service, { generation })
      expectError(await vault.claim(ALICE), 'no_claimable_deposit')
      expect((await vault.status(ALICE)).body).toMatchObject({
        status: 'no_active_deposit',
        statusDescription: 'No pending or claimable deposit found for the user.',
        amounts: { pendingDeposit: '0', claimableShares: '0', currentShares: '0' },
      })
      expect(await claimOnChain(vault, ALICE.address, 1n)).toBe('Panic')
    },
  )

  test.for(ENDS)(
    "Another account's deposit cannot be claimed from a Lagoon $generation vault, as in the contract",
    async ({ generation }, { service }) => {
      const vault = await openVault(service, { generation })
      await expectDeposit(vault, 'requestDeposit')
      await vault.settle()
      expectError(await vault.claim(BOB), 'no_claimable_deposit')
      expect(await claimOnChain(vault, BOB.address, AMOUNT, ALICE.address)).toBe('ERC7540InvalidOperator')
      expect(await claimOnChain(vault, BOB.address, AMOUNT)).toBe('Panic')
      expect((await vault.claim(ALICE)).status).toBe(200)
    },
  )

  test('A claim can be made only once', async ({ service }) => {
    const vault = await openVault(service, { generation: '0.5' })
    await expectDeposit(vault, 'requestDeposit')
    await vault.settle()
    const reply = await vault.claim(ALICE)
    expect(reply.body.operations[0].data).toMatch(new RegExp(`^${SELECTORS.claim}`))
    expectSuccess(await vault.send(ALICE, reply))
    expectError(await vault.claim(ALICE), 'no_claimable_deposit')
    expect((await vault.send(ALICE, reply)).map(({ status }) => status)).toEqual(['reverted'])
  })

  test('A deposit that the safe claimed for the user is deposited and no longer claimable', async ({ service }) => {
    const vault = await openVault(service, { generation: '0.6' })
    await expectDeposit(vault, 'requestDeposit')
    await vault.settle()
    const { claimableShares } = (await vault.status(ALICE)).body.amounts
    await vault.act(ROLES.safe, 'claimSharesOnBehalf', [ALICE.address])

    expectError(await vault.claim(ALICE), 'no_claimable_deposit')
    expect(await claimOnChain(vault, ALICE.address, AMOUNT)).toBe('Panic')
    expect((await vault.status(ALICE)).body).toMatchObject({
      status: 'deposited',
      amounts: { pendingDeposit: '0', claimableShares: '0', currentShares: claimableShares },
    })
  })

  test('A deposit whose shares were all transferred is not an active deposit', async ({ service }) => {
    const vault = await openVault(service, { generation: '0.5' })
    await vault.settleForADay()
    await expectDeposit(vault, 'syncDeposit')
    const shares = await vault.read('balanceOf', ALICE.address)
    await vault.act(ALICE.address, 'transfer', BOB.address, shares)
    expect((await vault.status(ALICE)).body.status).toBe('no_active_deposit')
    expect((await vault.status(BOB)).body).toMatchObject({
      status: 'deposited',
      amounts: { currentShares: `${shares}` },
    })
  })

  test.for([
    { label: '0.1', generation: '0.1', entryRate: 0 },
    { label: '0.6 with an entry fee', generation: '0.6', entryRate: 37 },
  ] as const)(
    'A paused Lagoon $label vault refuses claims, as the contract does, and shows the exact claimable amount',
    async ({ generation, entryRate }, { service }) => {
      const vault = await openVault(service, { generation, entryRate })
      await vault.request(BOB.address, 1_000_007n)
      await vault.settle()
      await vault.settle(31_415n)
      await expectDeposit(vault, 'requestDeposit')
      await vault.settle()

      await vault.act(ROLES.admin, 'pause')
      expectError(await vault.claim(ALICE), 'vault_is_paused')
      expect(await claimOnChain(vault, ALICE.address, AMOUNT)).toBe('EnforcedPause')
      const { body } = await vault.status(ALICE)
      expect(body.status).toBe('claimable')

      await vault.act(ROLES.admin, 'unpause')
      expectSuccess(await vault.send(ALICE, await vault.claim(ALICE)))
      expect(await vault.read('balanceOf', ALICE.address)).toBe(BigInt(body.amounts.claimableShares))
    },
  )

  test('A blacklisted user cannot claim from a Lagoon 0.6 vault, as in the contract', async ({ service }) => {
    const vault = await openVault(service, { generation: '0.6' })
    await expectDeposit(vault, 'requestDeposit')
    await vault.settle()
    await vault.act(ROLES.admin, 'addToBlacklist', [ALICE.address])
    expectError(await vault.claim(ALICE), 'depositor_not_allowed')
    expect(await claimOnChain(vault, ALICE.address, AMOUNT)).toBe('AddressNotAllowed')
    expect((await vault.status(ALICE)).body.status).toBe('claimable')

    await vault.act(ROLES.admin, 'revokeFromBlacklist', [ALICE.address])
    expectSuccess(await vault.send(ALICE, await vault.claim(ALICE)))
  })

  test('A user removed from the whitelist of a Lagoon 0.5 vault can still claim, as in the contract', async ({
    service,
  }) => {
    const vault = await openVault(service, { generation: '0.5', whitelisted: true })
    await vault.act(ROLES.admin, 'addToWhitelist', [ALICE.address])
    await expectDeposit(vault, 'requestDeposit')
    await vault.settle()
    await vault.act(ROLES.admin, 'revokeFromWhitelist', [ALICE.address])

    expect(await claimOnChain(vault, ALICE.address, AMOUNT)).toBeUndefined()
    const reply = await vault.claim(ALICE)
    expect(reply.status).toBe(200)
    expectSuccess(await vault.send(ALICE, reply))
  })
})

describe("another account's request for the user", () => {
  test.for(ENDS)(
    "Another account's request for a Lagoon $generation user claims for her, then blocks her until she claims it",
    async ({ generation }, { service }) => {
      const vault = await openVault(service, { generation })
      await expectDeposit(vault, 'requestDeposit')
      await vault.settle()
      const { claimableShares } = (await vault.status(ALICE)).body.amounts
      const epoch = (await vault.status(ALICE)).body.vault.depositEpochId

      await vault.request(BOB.address, 1n, ALICE.address)
      expect((await vault.status(ALICE)).body).toMatchObject({
        status: 'pending',
        amounts: { pendingDeposit: '1', claimableShares: '0', currentShares: claimableShares },
        vault: { depositEpochId: epoch },
      })
      expect((await vault.status(BOB)).body.status).toBe('no_active_deposit')
      expectError(await vault.claim(ALICE), 'no_claimable_deposit')
      await expectDeposit(vault, 'requestDeposit', 7n)

      await vault.act(ROLES.valuationManager, 'updateNewTotalAssets', AMOUNT)
      expectError(await vault.deposit(ALICE, AMOUNT), 'previous_deposit_request_not_settled')
      expect((await refusalsOnChain(vault)).requestDeposit).toBe('OnlyOneRequestAllowed')

      await vault.settle()
      const reply = await vault.claim(ALICE)
      expect(reply.body.claimable.assets).toBe('8')
      expectSuccess(await vault.send(ALICE, reply))
      const shares = BigInt(claimableShares) + BigInt(reply.body.claimable.shares)
      expect(await vault.read('balanceOf', ALICE.address)).toBe(shares)
    },
  )
})
