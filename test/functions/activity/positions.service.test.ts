import type { Address, Hash, Hex } from 'viem'
import { getBlock, getTransactionReceipt } from 'viem/actions'
import { describe, expect, onTestFinished } from 'vitest'
import type { ErrorCode } from '../../../lib/core/errors.ts'
import type { LocalAccount } from '../../../sandbox/accounts.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { createChainClient } from '../../support/chain-client.ts'
import { expectError } from '../../support/errors.ts'
import { createUserViews, recordAllBlocks, recordPrices } from '../../support/records.ts'
import { test as base, type Service, USERS } from '../../support/service.ts'
import { openLagoonVault, openYieldVault, ROLES, type TestVault } from '../../support/vaults.ts'
import { listRpcCalls, type RecordingProxy } from '../../support/wire.ts'

const [ALICE, BOB, CAROL] = USERS
const NOBODY = '0x00000000000000000000000000000000000000A1'
type User = Pick<LocalAccount, 'address'>

async function positionOf(service: Service, vault: TestVault, { address }: User) {
  const { status, body } = await createUserViews(service, vault.key).positions(address)
  expect(status).toBe(200)
  expect(body).toMatchObject({ userAddress: address, totalRecords: body.positions.length })
  return body.positions[0]
}

async function figuresOf(service: Service, vault: TestVault, user: User) {
  const position = await positionOf(service, vault, user)
  const figure = (name: string) => BigInt(position[name])
  return {
    deposited: figure('totalDepositedAssets'),
    withdrawn: figure('totalWithdrawnAssets'),
    value: figure('currentValue'),
    earned: figure('earnedAssets'),
    shares: figure('currentShares'),
  }
}

async function timeOf(vault: TestVault, hash: Hash | undefined): Promise<string> {
  const client = createChainClient(vault.chain)
  const { blockNumber } = await getTransactionReceipt(client, { hash: hash as Hash })
  return new Date(Number((await getBlock(client, { blockNumber })).timestamp) * 1000).toISOString()
}

const worth = (vault: TestVault, shares: bigint) => vault.read('convertToAssets', shares)
const sharesOf = (vault: TestVault, { address }: User) => vault.read('balanceOf', address)
const claim = (vault: TestVault, { address }: User, assets: bigint) =>
  vault.act(address, 'deposit', assets, address, address)

const test = base
  .extend('seasoned', ({ service }) => async (generation: '0.1' | '0.4' | '0.5' | '0.6' = '0.5') => {
    const vault = await openLagoonVault(service, { generation })
    await vault.request(BOB.address, vault.units('1000.000007'))
    await vault.settle()
    await vault.settle(vault.units('123.456789'))
    return vault
  })
  .extend('invested', ({ seasoned }) => async (assets: bigint, generation?: '0.1' | '0.4' | '0.5' | '0.6') => {
    const vault = await seasoned(generation)
    await vault.request(ALICE.address, assets)
    await vault.settle()
    await claim(vault, ALICE, assets)
    return vault
  })
  .extend('sync', ({ service }) => async (assets: bigint) => {
    const vault = await openYieldVault(service)
    await vault.mint(ALICE.address, assets)
    await vault.approve(ALICE.address, assets)
    await vault.act(ALICE.address, 'deposit', assets, ALICE.address)
    return vault
  })
  .extend('both', { scope: 'file' }, async ({ sharedService: service }) => {
    const vaults = [
      await openLagoonVault(service, { generation: '0.5' }),
      await openLagoonVault(service, { generation: '0.6', chainId: 42161 }),
    ] as const
    for (const vault of vaults) await vault.request(ALICE.address, 5_000_000n)
    const key = await service.createClient(vaults.map(({ chain, address }) => ({ chainId: chain.chainId, address })))
    return { vaults, views: createUserViews(service, key) }
  })

describe('A position', () => {
  test('has every field of the interface, and is the same once it is recorded', async ({ service, seasoned }) => {
    const vault = await seasoned()
    const first = (await vault.request(ALICE.address, 5_000_000n)).at(-1)
    await vault.settle(7_000_000n)
    await claim(vault, ALICE, 5_000_000n)
    const last = (await vault.request(ALICE.address, 3_000_000n)).at(-1)
    const shares = await sharesOf(vault, ALICE)
    const value = 3_000_000n + (await worth(vault, shares))
    const position = {
      vaultAddress: vault.address,
      vaultName: 'Lagoon 0.5 USDC',
      userAddress: ALICE.address,
      chainId: 8453,
      apy: '0.00',
      annualYield: null,
      assetSymbol: 'USDC',
      assetDecimals: 6,
      shareDecimals: 18,
      totalDepositedAssets: '8000000',
      totalWithdrawnAssets: '0',
      currentShares: `${shares}`,
      sharePrice: `${await worth(vault, 10n ** 18n)}`,
      currentValue: `${value}`,
      earnedAssets: `${value - 8_000_000n}`,
      depositCount: 2,
      startDate: await timeOf(vault, first),
      lastDepositDate: await timeOf(vault, last),
      statusBreakdown: { pending: 1, claimable: 0, completed: 1 },
    }
    const views = createUserViews(service, vault.key)
    const live = await views.positions(ALICE.address)
    expect(live.body).toEqual({ userAddress: ALICE.address, totalRecords: 1, positions: [position] })
    expect(live.headers.get('cache-control')).toBe('no-store')
    const liveDetail = await views.position(ALICE.address, vault.address)
    expect(liveDetail.headers.get('cache-control')).toBe('no-store')
    const { deposits } = (await views.deposits(ALICE.address)).body
    const sharePrice = position.sharePrice
    expect(liveDetail.body).toEqual({
      ...position,
      amounts: {
        pendingDeposit: '3000000',
        claimableShares: '0',
        currentShares: `${shares}`,
        pendingRedeemShares: '0',
        claimableRedeemAssets: '0',
        cancelledDeposit: '0',
        cancelledRedeemShares: '0',
      },
      vault: {
        poolId: expect.stringMatching(/./),
        name: 'Lagoon 0.5 USDC',
        type: 'async',
        protocol: 'lagoon',
        apy: '0.00',
        annualYield: null,
        sharePrice,
        assetSymbol: 'USDC',
        assetDecimals: 6,
        shareDecimals: 18,
        depositEpochId: 5,
        isTotalAssetsValid: false,
      },
      rewards: null,
      deposits,
      hasMore: false,
      sharePriceHistory: expect.any(Array),
    })

    await recordAllBlocks(vault.chain)
    // Yields are not compared, because the blocks that `recordAllBlocks` mines advance the chain's time by an hour.
    const rest = ({
      apy: _,
      annualYield: _yield,
      vault: _vault,
      deposits: _deposits,
      ...body
    }: Record<string, unknown>) => body
    const recorded = (await views.positions(ALICE.address)).body.positions
    expect(recorded.map(rest)).toEqual([position].map(rest))
    const { sharePriceHistory, ...detail } = (await views.position(ALICE.address, vault.address)).body
    expect(rest(detail)).toEqual({ ...rest(liveDetail.body), sharePriceHistory: undefined })
    // The price history begins with the first recorded price and ends with the current price.
    expect(sharePriceHistory.length).toBeGreaterThan(1)
    expect(sharePriceHistory[0].sharePrice).toBe('1000000')
    expect(sharePriceHistory.at(-1).sharePrice).toBe(sharePrice)
    const times = sharePriceHistory.map(({ timestamp }: { timestamp: string }) => timestamp)
    expect(times).toEqual(times.toSorted())
  })

  test('in a synchronous vault has the type of its vault', async ({ service, sync }) => {
    const vault = await sync(5_000_000n)
    const { body } = await createUserViews(service, vault.key).position(ALICE.address, vault.address)
    expect(body).toMatchObject({
      totalDepositedAssets: '5000000',
      currentValue: '5000000',
      earnedAssets: '0',
      vault: { type: 'sync', protocol: 'erc4626', depositEpochId: null, isTotalAssetsValid: null },
      amounts: { pendingDeposit: '0', claimableShares: '0', pendingRedeemShares: '0', claimableRedeemAssets: '0' },
      deposits: [{ epochId: 0, status: 'completed' }],
    })
  })

  test.for(['0.1', '0.6'] as const)(
    'in a Lagoon %s vault counts all pending and claimable amounts in its value, and no gain too early',
    async (generation, { service, seasoned }) => {
      const vault = await seasoned(generation)
      const check = async (expected: { deposited: bigint; withdrawn?: bigint; value: bigint; shares: bigint }) => {
        const withdrawn = expected.withdrawn ?? 0n
        expect(await figuresOf(service, vault, ALICE)).toEqual({
          ...expected,
          withdrawn,
          earned: expected.value + withdrawn - expected.deposited,
        })
      }
      const deposited = 1_234_567_891n
      await vault.request(ALICE.address, deposited)
      await check({ deposited, value: deposited, shares: 0n })

      await vault.settle(3_141_593n)
      const all = await vault.read('convertToShares', deposited, 3n)
      await check({ deposited, value: await worth(vault, all), shares: 0n })
      await claim(vault, ALICE, 234_567_891n)
      const part = await sharesOf(vault, ALICE)
      const rest = await vault.read('convertToShares', 1_000_000_000n, 3n)
      await check({ deposited, value: await worth(vault, part + rest), shares: part })
      await claim(vault, ALICE, 1_000_000_000n)
      const shares = await sharesOf(vault, ALICE)
      await check({ deposited, value: await worth(vault, shares), shares })

      const redeemed = shares / 3n
      await vault.act(ALICE.address, 'requestRedeem', redeemed, ALICE.address, ALICE.address)
      await check({ deposited, value: await worth(vault, shares), shares: shares - redeemed })
      await vault.settle(5_000_000n)
      const assets = await vault.read('convertToAssets', redeemed, 2n)
      await check({
        deposited,
        value: (await worth(vault, shares - redeemed)) + assets,
        shares: shares - redeemed,
      })
      // An amount that is settled but not yet claimed has no part in this gain.
      await vault.settle(11_000_000n)
      await check({
        deposited,
        value: (await worth(vault, shares - redeemed)) + assets,
        shares: shares - redeemed,
      })
      await vault.act(ALICE.address, 'redeem', redeemed, ALICE.address, ALICE.address)
      await check({
        deposited,
        withdrawn: assets,
        value: await worth(vault, shares - redeemed),
        shares: shares - redeemed,
      })
    },
  )

  test('shows each pending and each claimable amount', async ({ service, invested }) => {
    const vault = await invested(9_000_000n)
    const shares = await sharesOf(vault, ALICE)
    const amounts = async () =>
      (await createUserViews(service, vault.key).position(ALICE.address, vault.address)).body.amounts
    const redeemed = shares / 2n
    await vault.act(ALICE.address, 'requestRedeem', redeemed, ALICE.address, ALICE.address)
    await vault.request(ALICE.address, 4_000_000n)
    expect(await amounts()).toEqual({
      pendingDeposit: '4000000',
      claimableShares: '0',
      currentShares: `${shares - redeemed}`,
      pendingRedeemShares: `${redeemed}`,
      claimableRedeemAssets: '0',
      cancelledDeposit: '0',
      cancelledRedeemShares: '0',
    })
    await vault.settle(2_000_000n)
    expect(await amounts()).toEqual({
      pendingDeposit: '0',
      claimableShares: `${await vault.read('maxMint', ALICE.address)}`,
      currentShares: `${shares - redeemed}`,
      pendingRedeemShares: '0',
      claimableRedeemAssets: `${await vault.read('maxWithdraw', ALICE.address)}`,
      cancelledDeposit: '0',
      cancelledRedeemShares: '0',
    })
  })

  test.for(['0.5', '0.6'] as const)(
    'in a Lagoon %s vault is the same while the vault is paused',
    async (generation, { service, invested }) => {
      const vault = await invested(9_000_000n, generation)
      const redeemed = (await sharesOf(vault, ALICE)) / 2n
      await vault.act(ALICE.address, 'requestRedeem', redeemed, ALICE.address, ALICE.address)
      await vault.request(ALICE.address, 4_000_000n)
      await vault.settle(2_000_000n)
      await claim(vault, ALICE, 1_500_000n)
      // The next settlement must not change the rate of the request that is settled already.
      await vault.settle(3_000_000n)
      const views = createUserViews(service, vault.key)
      const before = (await views.position(ALICE.address, vault.address)).body
      await vault.act(ROLES.admin, 'pause')
      // The times of the price history are not compared, because the last entry has the time of the current block.
      const { sharePriceHistory, ...position } = before
      const prices = sharePriceHistory.map(({ sharePrice }: { sharePrice: string }) => ({ sharePrice }))
      const paused = (await views.position(ALICE.address, vault.address)).body
      expect(paused).toMatchObject({ ...position, sharePriceHistory: prices })
      await recordAllBlocks(vault.chain)
      const { amounts, currentValue, earnedAssets } = (await views.position(ALICE.address, vault.address)).body
      expect({ amounts, currentValue, earnedAssets }).toEqual({
        amounts: before.amounts,
        currentValue: before.currentValue,
        earnedAssets: before.earnedAssets,
      })
    },
  )

  test('in a closed vault counts its shares once', async ({ service, invested }) => {
    const vault = await invested(9_000_000n)
    await vault.act(ROLES.admin, 'initiateClosing')
    const totalAssets = await vault.read('totalAssets')
    await vault.act(ROLES.valuationManager, 'updateNewTotalAssets', totalAssets)
    await vault.act(ROLES.safe, 'close', totalAssets)
    const shares = await sharesOf(vault, ALICE)
    expect(await figuresOf(service, vault, ALICE)).toMatchObject({ value: await worth(vault, shares), shares })

    const half = shares / 2n
    const assets = await worth(vault, half)
    await vault.act(ALICE.address, 'redeem', half, ALICE.address, ALICE.address)
    expect(await figuresOf(service, vault, ALICE)).toMatchObject({
      withdrawn: assets,
      value: await worth(vault, shares - half),
      shares: shares - half,
    })
  })

  test('leaves out cancelled deposits, and begins with the first other one', async ({ service, seasoned }) => {
    const vault = await seasoned()
    await vault.request(ALICE.address, 5_000_000n)
    await vault.act(ALICE.address, 'cancelRequestDeposit')
    const cancelled = await positionOf(service, vault, ALICE)
    expect(cancelled).toMatchObject({
      totalDepositedAssets: '0',
      currentValue: '0',
      earnedAssets: '0',
      depositCount: 0,
      statusBreakdown: { pending: 0, claimable: 0, completed: 0 },
    })
    const hash = (await vault.request(ALICE.address, 6_000_000n)).at(-1)
    expect(await positionOf(service, vault, ALICE)).toMatchObject({
      totalDepositedAssets: '6000000',
      currentValue: '6000000',
      depositCount: 1,
      startDate: await timeOf(vault, hash),
      lastDepositDate: await timeOf(vault, hash),
      statusBreakdown: { pending: 1, claimable: 0, completed: 0 },
    })
  })

  test.for(['a Lagoon vault', 'a synchronous vault'] as const)(
    'in %s has no gain or loss when its shares move to another user',
    async (kind, { service, invested, sync }) => {
      const vault = await (kind === 'a Lagoon vault' ? invested(9_000_000n) : sync(9_000_000n))
      const before = await figuresOf(service, vault, ALICE)
      const sent = before.shares / 3n
      const value = await worth(vault, sent)
      const [hash] = await vault.act(ALICE.address, 'transfer', CAROL.address, sent)
      const [alice, carol] = [await figuresOf(service, vault, ALICE), await figuresOf(service, vault, CAROL)]
      expect(alice).toMatchObject({ withdrawn: value, shares: before.shares - sent })
      expect(carol).toMatchObject({ deposited: value, withdrawn: 0n, shares: sent, value, earned: 0n })
      expect(alice.earned - before.earned).toBeGreaterThanOrEqual(-1n)
      expect(alice.earned - before.earned).toBeLessThanOrEqual(1n)
      expect(await positionOf(service, vault, CAROL)).toMatchObject({
        depositCount: 0,
        startDate: await timeOf(vault, hash),
        lastDepositDate: await timeOf(vault, hash),
      })
      if (kind === 'a Lagoon vault') {
        // Carol received the shares, so all later gains belong to her.
        await vault.settle(100_000_000n)
        expect((await figuresOf(service, vault, CAROL)).earned).toBe((await worth(vault, sent)) - value)
      }
    },
  )

  test('values transferred shares at an honest price, whatever price a trade of a few units has', async ({
    service,
    sync,
  }) => {
    const vault = await sync(900_000_000n)
    await vault.mint(vault.address, 123_456_789n)
    await vault.mint(ALICE.address, 100_000_003n)
    await vault.approve(ALICE.address, 100_000_003n)
    await vault.act(ALICE.address, 'deposit', 100_000_000n, ALICE.address)
    // Three units of the asset buy only two shares, because shares are rounded down. The price of this deposit is 50
    // % too high.
    await vault.act(ALICE.address, 'deposit', 3n, ALICE.address)
    const sent = 300_000_000n
    const value = await worth(vault, sent)
    await vault.act(ALICE.address, 'transfer', CAROL.address, sent)
    const { deposited, earned } = await figuresOf(service, vault, CAROL)
    expect(deposited).toBeGreaterThanOrEqual(value - 10n)
    expect(deposited).toBeLessThanOrEqual(value + 10n)
    expect(earned).toBe(value - deposited)
  })

  test('whose shares were claimed for another account is split between both', async ({ service, seasoned }) => {
    const vault = await seasoned()
    await vault.request(ALICE.address, 5_000_000n)
    await vault.settle()
    const shares = await vault.read('maxMint', ALICE.address)
    await vault.act(ALICE.address, 'deposit', 5_000_000n, CAROL.address, ALICE.address)
    const value = await worth(vault, shares)
    expect(await figuresOf(service, vault, ALICE)).toMatchObject({ deposited: 5_000_000n, withdrawn: value, value: 0n })
    expect(await figuresOf(service, vault, CAROL)).toMatchObject({ deposited: value, shares, value, earned: 0n })
  })

  test('shows the latest 20 deposits and reports that there are more', async ({ service }) => {
    const vault = await openYieldVault(service)
    await vault.mint(ALICE.address, 21_000_000n)
    await vault.approve(ALICE.address, 21_000_000n)
    const views = createUserViews(service, vault.key)
    for (let i = 0; i < 20; i += 1) await vault.act(ALICE.address, 'deposit', 1_000_000n, ALICE.address)
    const twenty = (await views.position(ALICE.address, vault.address)).body
    expect(twenty).toMatchObject({ hasMore: false, depositCount: 20 })
    await vault.act(ALICE.address, 'deposit', 999_999n, ALICE.address)
    const { body } = await views.position(ALICE.address, vault.address)
    expect(body).toMatchObject({ hasMore: true, depositCount: 21 })
    const history = await views.deposits(ALICE.address, '?limit=20')
    expect(body.deposits).toEqual(history.body.deposits)
    expect(body.deposits[0].amounts.depositedAssets).toBe('999999')
  })
})

describe('Positions', () => {
  test('of a user without deposits are empty', async ({ service }) => {
    const { status, body } = await createUserViews(service).positions(NOBODY)
    expect({ status, body }).toEqual({
      status: 200,
      body: { userAddress: NOBODY, totalRecords: 0, positions: [] },
    })
  })

  test('of a client without vaults are empty', async ({ service }) => {
    const key = await service.createClient([])
    for (const { status, body } of [
      await createUserViews(service, key).positions(ALICE.address),
      await createUserViews(service, key).deposits(ALICE.address),
    ]) {
      expect({ status, total: body.totalRecords }).toEqual({ status: 200, total: 0 })
    }
  })

  test('are only those in the vaults of the calling client', async ({ service, invested, seasoned }) => {
    const vault = await invested(5_000_000n)
    const other = await seasoned()
    const { body } = await createUserViews(service, other.key).positions(ALICE.address)
    expect(body).toMatchObject({ totalRecords: 0, positions: [] })
    const foreign = await createUserViews(service, other.key).position(ALICE.address, vault.address)
    expectError(foreign, 'vault_not_found')
  })

  test.for<[string, string, string, ErrorCode, string[] | undefined]>([
    ['0x1234', '', '', 'missing_or_invalid_user_address', ['userAddress']],
    [ALICE.address, '/0x12', '', 'missing_or_invalid_vault_address', ['vaultAddress']],
    [ALICE.address, `/${NOBODY}`, '?chainId=5', 'missing_or_invalid_chain_id', ['chainId']],
    [ALICE.address, `/${NOBODY}`, '', 'vault_not_found', undefined],
    ['0x12', '/0x12', '?chainId=x', 'missing_or_invalid_user_address', ['userAddress', 'vaultAddress', 'chainId']],
  ])('of %s%s%s are refused: %s', async ([user, vault, query, code, fields], { service }) => {
    expectError(await service.call('GET', `/defi-vaults/v1/defi/user/${user}/positions${vault}${query}`), code, fields)
  })

  test('that a user never had are not found', async ({ service, seasoned }) => {
    const vault = await seasoned()
    const views = createUserViews(service, vault.key)
    expectError(await views.position(ALICE.address, vault.address), 'position_not_found')
    expectError(await views.position(ALICE.address, vault.address, '?chainId=42161'), 'vault_not_found')
    expect((await views.position(BOB.address, vault.address, '?chainId=8453')).status).toBe(200)
    expect((await views.position(BOB.address.toLowerCase(), vault.address.toLowerCase())).status).toBe(200)
  })

  test('have the same yield of about seven days as the vault list', async ({ coldService: service, sync }) => {
    const vault = await sync(5_000_000n)
    const week = BigInt(Math.floor(Date.now() / 1000) - 8 * 86_400)
    const place = { chainId: 8453, address: vault.address }
    await recordPrices(service, place, [{ price: 999_000n, timestamp: week }])
    await recordAllBlocks(vault.chain)
    const expected = ((1000 / 999) ** (365 / 8) - 1) * 100
    const [{ apy, annualYield }] = (await createUserViews(service, vault.key).positions(ALICE.address)).body.positions
    expect(Math.abs(Number(apy) - expected)).toBeLessThan(0.02)
    const { body } = await createUserViews(service, vault.key).position(ALICE.address, vault.address)
    const yields = { apy, annualYield }
    expect(body).toMatchObject({ ...yields, vault: yields, deposits: [{ vault: yields }] })
    const [listed] = (await service.call('GET', '/defi-vaults/v1/vaults', { key: vault.key })).body.data
    expect(listed.APY).toBe(apy)
    expect(listed.annualYield).toMatchObject({ percent: apy, days: annualYield.days })
    expect(annualYield.percent).toBe(apy)
  })
})

describe('When one chain is to', () => {
  test('fail, the response has the data of the other and names the failing one', async ({ service, both }) => {
    const { vaults, views } = both
    const failing = service.rpc[42161] as RecordingProxy
    failing.behaviour = 'refuse connections'
    const [positions, deposits] = await Promise.all([views.positions(ALICE.address), views.deposits(ALICE.address)])
    for (const { status, body } of [positions, deposits]) {
      expect({ status, total: body.totalRecords, errors: Object.keys(body.errors) }).toEqual({
        status: 200,
        total: 1,
        errors: ['42161'],
      })
      expect(body.errors['42161']).not.toMatch(/https?:|127\.0|\.ts|hunter2/)
    }
    expect(positions.body.positions[0].vaultAddress).toBe(vaults[0].address)
    expect(deposits.body.deposits[0].vaultAddress).toBe(vaults[0].address)
    failing.reset()
    expect((await views.positions(ALICE.address)).body).toMatchObject({ totalRecords: 2 })
    expect((await views.positions(ALICE.address)).body).not.toHaveProperty('errors')
  })

  test('fail, and the other too, the response is their error', async ({ service, both }) => {
    const { vaults, views } = both
    for (const wire of Object.values(service.rpc)) wire.behaviour = 'answer results of the wrong type'
    const replies = await Promise.all([
      views.positions(ALICE.address),
      views.deposits(ALICE.address),
      views.position(ALICE.address, vaults[1].address),
    ])
    for (const reply of replies) expectError(reply, 'upstream_bad_answer')
  })

  test('fail, a position on the other is read without it', async ({ service, both }) => {
    const { vaults, views } = both
    const failing = service.rpc[42161] as RecordingProxy
    failing.behaviour = 'never answer'
    expect((await views.position(ALICE.address, vaults[0].address)).status).toBe(200)
    expect((await views.deposits(ALICE.address, '?chainId=8453')).body).toMatchObject({ totalRecords: 1 })
    expect(failing.bodies).toEqual([])
  })
})

describe('A vault that cannot be read', () => {
  test('and that the user never used does not hide the others', async ({ service, invested, seasoned }) => {
    const [vault, broken] = [await invested(5_000_000n), await seasoned()]
    const key = await service.createClient([vault, broken].map(({ address }) => ({ chainId: 8453, address })))
    await broken.destroy()
    const { status, body } = await createUserViews(service, key).positions(ALICE.address)
    expect(status).toBe(200)
    expect(body.positions).toHaveLength(1)
    expect((await createUserViews(service, key).deposits(ALICE.address)).body).toMatchObject({ totalRecords: 1 })
  })

  test.for<[string, Hex]>([
    ['burns all gas', '0xfe'],
    ['returns a million bytes for each call', '0x620f42405ff3'],
  ])('because it %s removes no other from the response', async ([, code], { service, invested, sync }) => {
    const [good, broken] = [await invested(5_000_000n), await sync(5_000_000n)]
    const key = await service.createClient([broken, good].map(({ address }) => ({ chainId: 8453, address })))
    const views = createUserViews(service, key)
    await callRpc(broken.chain, [{ method: 'anvil_setCode', params: [broken.address, code] }])
    for (const record of [async () => {}, () => recordAllBlocks(broken.chain)]) {
      await record()
      const errors = { 8453: expect.any(String) }
      const { body } = await views.positions(ALICE.address)
      expect(body).toMatchObject({ positions: [{ vaultAddress: good.address }], totalRecords: 1, errors })
      // The response for Bob has no error, because he never used the unreadable vault.
      expect((await views.positions(BOB.address)).body).not.toHaveProperty('errors')
      const deposits = await views.deposits(ALICE.address)
      expect(deposits.body).toMatchObject({ deposits: [{ vaultAddress: good.address }], totalRecords: 1, errors })
      expectError(await views.position(ALICE.address, broken.address), 'upstream_bad_answer')
    }
  })
})

describe('A vault that reports impossible amounts', () => {
  /** Bytecode of a contract that returns 2^256 - 1 for every call. */
  const ALL_ONES: Hex = `0x7f${'ff'.repeat(32)}60005260206000f3`

  test('removes no other from the response, and is reported as unreadable', async ({ service, invested, sync }) => {
    const [good, bad] = [await invested(5_000_000n), await sync(5_000_000n)]
    const key = await service.createClient([good, bad].map(({ address }) => ({ chainId: 8453, address })))
    const views = createUserViews(service, key)
    const [{ body: positions }, { body: history }] = [
      await views.positions(ALICE.address),
      await views.deposits(ALICE.address),
    ]
    const inGood = (listed: { vaultAddress: string }[]) =>
      listed.filter(({ vaultAddress }) => vaultAddress === good.address)
    await callRpc(bad.chain, [{ method: 'anvil_setCode', params: [bad.address, ALL_ONES] }])
    const errors = { 8453: expect.any(String) }
    const now = await views.positions(ALICE.address)
    expect(now).toMatchObject({ status: 200, body: { positions: inGood(positions.positions), errors } })
    expect(now.body.positions).toHaveLength(1)
    const nowHistory = await views.deposits(ALICE.address)
    expect(nowHistory).toMatchObject({ status: 200, body: { deposits: inGood(history.deposits), errors } })
    expectError(await views.position(ALICE.address, bad.address), 'upstream_bad_answer')
    expect((await views.position(ALICE.address, good.address)).status).toBe(200)
  })
})

describe('A user for whom a third party made thousands of ledger entries in one vault', () => {
  /** Adds 25,001 ledger entries of a user, which is more than the service reads of a vault for one response. */
  const flood = ({ tables }: Service, { chain, address }: TestVault, user: User) => {
    const prefix = `EVENT#${chain.chainId}#${address}#`
    const pk = `ACCOUNT#${user.address}`
    const entries = Array.from({ length: 25_001 }, (_, index) => {
      const sk = `${prefix}${String(index).padStart(12, '0')}`
      return { pk, sk, chainId: chain.chainId, vault: address, events: [{}] }
    })
    onTestFinished(() => tables.deposits.deleteMany(entries))
    return tables.deposits.putMany(entries)
  }

  test('sees all of them within the limit, however many pages they take', async ({ service, invested, sync }) => {
    const vaults = [await invested(5_000_000n), await sync(5_000_000n)]
    const key = await service.createClient(vaults.map(({ address }) => ({ chainId: 8453, address })))
    for (const vault of vaults) await recordAllBlocks(vault.chain)
    const ask = async () => (await createUserViews(service, key).deposits(ALICE.address)).body
    const before = await ask()
    expect(before.totalRecords).toBe(2)
    // The table returns one ledger entry per page.
    service.table.reset()
    service.table.maxPage = 1
    expect(await ask()).toEqual(before)
    expect(service.table.tries.length).toBeGreaterThan(4)
  })

  test('sees all other vaults, and an error that names the omission', async ({ service, invested, sync }) => {
    const [one, other] = [await invested(5_000_000n), await sync(5_000_000n)]
    const key = await service.createClient([one, other].map(({ address }) => ({ chainId: 8453, address })))
    await recordAllBlocks(one.chain)
    const views = createUserViews(service, key)
    const [flooded, quiet] = [one, other].toSorted((left, right) => (left.address < right.address ? -1 : 1)) as [
      TestVault,
      TestVault,
    ]
    const inQuiet = (listed: { vaultAddress: string }[]) =>
      listed.filter(({ vaultAddress }) => vaultAddress === quiet.address)
    const detailOf = async ({ address }: TestVault) => await views.position(ALICE.address, address)
    const [before, detail] = [(await views.positions(ALICE.address)).body, await detailOf(quiet)]
    await flood(service, flooded, ALICE)
    const { body } = await views.positions(ALICE.address)
    expect(body.positions).toEqual(inQuiet(before.positions))
    expect(body.errors).toEqual({ 8453: expect.stringMatching(/too many events in a vault/) })
    expect((await detailOf(quiet)).body).toEqual(detail.body)
    expectError(await detailOf(flooded), 'upstream_unavailable')
  })
})

describe('Over ten vaults on two chains', () => {
  const ask = (service: Service, address: Address) => createUserViews(service).positions(address)

  test('positions and a page of the history take two parallel requests to each chain and one to the table', async ({
    service,
  }) => {
    const views = createUserViews(service)
    const user = ALICE.address
    await ask(service, user)
    for (const read of [() => views.positions(user), () => views.deposits(user)]) {
      await read()
      for (const wire of [...Object.values(service.rpc), service.table]) wire.reset()
      const { status } = await read()
      expect(status).toBe(200)
      // Each chain gets one request for balances and one for events. A node that refuses the block range of events
      // must not prevent reading balances.
      expect(Object.values(service.rpc).map(({ bodies }) => bodies.length)).toEqual([2, 2])
      for (const batch of Object.values(service.rpc).flatMap(listRpcCalls)) expect(batch.length).toBeLessThanOrEqual(4)
      // Table requests for the API key's quota lease are excluded, because they can occur at any time.
      const requests = service.table.tries.filter(({ body }) => !body.includes('rate#'))
      const queries = requests.filter(({ action }) => action === 'Query')
      expect(queries.map(({ body }) => body)).toEqual([expect.stringContaining(`ACCOUNT#${user}`)])
      expect(requests).toHaveLength(1)
    }
  })
})
