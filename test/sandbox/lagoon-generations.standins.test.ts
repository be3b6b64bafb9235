import { type Address, type Hex, maxUint256, zeroAddress } from 'viem'
import { call, getCode } from 'viem/actions'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { compiledContract } from '../../sandbox/contracts.ts'
import { FEE_REGISTRY, type LagoonRates, upgradeLagoonVault } from '../../sandbox/deploy.ts'
import { ADMIN, ALICE, BOB, catchErrorName, FEE_RECEIVER, SAFE, startTokenChain, usdc, VALUER } from './harness.ts'

let session: Awaited<ReturnType<typeof startTokenChain>>
beforeAll(async () => {
  session = await startTokenChain()
})
afterAll(() => session.stop())

const IMPLEMENTATIONS = {
  '0.1': 'LagoonVaultV01',
  '0.2': 'LagoonVaultV02',
  '0.4': 'LagoonVaultV04',
  '0.5': 'LagoonVaultV05',
  '0.5.1': 'LagoonVaultV051',
  '0.6': 'LagoonVaultV06',
} as const

const GENERATIONS = ['0.1', '0.2', '0.4', '0.5', '0.5.1', '0.6'] as const

const NO_FEES = { managementRate: 0, performanceRate: 0, entryRate: 0, exitRate: 0, haircutRate: 0 }

/**
 * A Solidity dispatcher pushes each function's selector with PUSH4 (0x63). So bytecode that has the function contains 0x63 and
 * the selector.
 */
const dispatches = (code: Hex, selector: Hex) => code.includes(`63${selector.slice(2)}`)

const EVERYWHERE = {
  'requestDeposit(uint256,address,address)': '0x85b77f45',
  'requestDeposit(uint256,address,address,address)': '0xa5948c89',
  'cancelRequestDeposit()': '0x9c428921',
  'requestRedeem(uint256,address,address)': '0x7d41c86e',
  'redeem(uint256,address,address)': '0xba087652',
  'withdraw(uint256,address,address)': '0xb460af94',
  'deposit(uint256,address)': '0x6e553f65',
  'deposit(uint256,address,address)': '0x2e2d2984',
  'mint(uint256,address)': '0x94bf804d',
  'mint(uint256,address,address)': '0xda39b3e7',
  'pendingDepositRequest(uint256,address)': '0x26c6f96c',
  'claimableDepositRequest(uint256,address)': '0x995ea21a',
  'convertToShares(uint256)': '0xc6e6f592',
  'convertToShares(uint256,uint256)': '0xdb2088f4',
  'convertToAssets(uint256)': '0x07a2d13a',
  'convertToAssets(uint256,uint256)': '0x181e7b3b',
  'paused()': '0x5c975abb',
} as const

const SOMEWHERE = [
  ['version()', '0x54fd4d50', ['0.4', '0.5', '0.5.1', '0.6']],
  ['depositEpochId()', '0x65e08b23', ['0.1']],
  ['claimSharesAndRequestRedeem(uint256)', '0x5cfe2fe4', ['0.2', '0.4', '0.5', '0.5.1', '0.6']],
  ['claimSharesOnBehalf(address[])', '0xf15be6f9', ['0.4', '0.5', '0.5.1', '0.6']],
  ['pendingSilo()', '0xc6d8a074', ['0.1', '0.2', '0.4']],
  ['getRolesStorage()', '0x937147e3', ['0.1', '0.2', '0.4', '0.5', '0.5.1']],
  ['isWhitelisted(address)', '0x3af32abf', ['0.1', '0.2', '0.4', '0.5', '0.5.1']],
  ['syncDeposit(uint256,address,address)', '0xd01d073a', ['0.5', '0.5.1', '0.6']],
  ['isTotalAssetsValid()', '0x0c2b5b91', ['0.5', '0.5.1', '0.6']],
  ['safe()', '0x186f0354', ['0.5', '0.5.1', '0.6']],
  ['isAllowed(address)', '0xbabcc539', ['0.6']],
  ['maxCap()', '0x23548b8b', ['0.6']],
  ['syncMode()', '0x5b4b399c', ['0.6']],
  ['claimAssetsOnBehalf(address[])', '0x26d6c82f', ['0.6']],
  ['syncRedeem(uint256,address,uint256)', '0x19815ab1', ['0.6']],
  ['previewSyncRedeem(uint256)', '0x7a13aa35', ['0.6']],
  ['cancelRequestRedeem(address)', '0x0953d841', ['0.6']],
  ['cancelRequestDeposit(address)', '0x24248775', ['0.6']],
] as const

describe.each(GENERATIONS)('the interface of a Lagoon %s vault', (generation) => {
  test('has the functions of its version and no others', async () => {
    const { deployedBytecode } = await compiledContract(IMPLEMENTATIONS[generation])
    for (const [signature, selector] of Object.entries(EVERYWHERE)) {
      expect([signature, dispatches(deployedBytecode, selector)]).toEqual([signature, true])
    }
    for (const [signature, selector, generations] of SOMEWHERE) {
      const expected = generations.some((supported) => supported === generation)
      expect([signature, dispatches(deployedBytecode, selector)]).toEqual([signature, expected])
    }
  })

  test('declares asynchronous deposits and redemptions by ERC-165 and is its own share', async () => {
    const vault = await session.openVault(generation)
    for (const id of ['0x01ffc9a7', '0x2f0a18c5', '0xf815c03d', '0xce3bbe50', '0x620ee8e4', '0xe3bc4e65'] as const) {
      expect(await vault.read('supportsInterface', id)).toBe(true)
    }
    expect(await vault.read('supportsInterface', '0xffffffff')).toBe(false)
    expect(await vault.read('share')).toBe(vault.address)
    expect(await vault.read('decimals')).toBe(18)
  })

  test('reverts every preview', async () => {
    const vault = await session.openVault(generation)
    expect(await catchErrorName(vault.read('previewDeposit', 1n))).toBe('ERC7540PreviewDepositDisabled')
    expect(await catchErrorName(vault.read('previewMint', 1n))).toBe('ERC7540PreviewMintDisabled')
    expect(await catchErrorName(vault.read('previewRedeem', 1n))).toBe('ERC7540PreviewRedeemDisabled')
    expect(await catchErrorName(vault.read('previewWithdraw', 1n))).toBe('ERC7540PreviewWithdrawDisabled')
  })

  test('refuses ether', async () => {
    const vault = await session.openVault(generation)
    const { deployedBytecode } = await compiledContract('Proxy')
    expect(await getCode(session.client, { address: vault.address })).toBe(deployedBytecode)
    await expect(call(session.client, { to: vault.address, account: ALICE, value: 1n })).rejects.toThrow()
  })
})

describe('the events of a Lagoon vault', () => {
  const topics = (events: readonly { topics: readonly Hex[] }[]) => events.map((event) => event.topics[0])

  test('have the documented topics from request to claim', async () => {
    const vault = await session.openVault('0.6')
    const requested = await session.request(vault, ALICE, usdc('10'))
    expect(topics(requested)).toEqual(['0xbb58420bb8ce44e11b84e214cc0de10ce5e7c24d0355b2815c3d758b514cae72'])
    const proposed = await vault.act(VALUER, 'updateNewTotalAssets', [0n])
    expect(topics(proposed)).toEqual(['0x3809c8827d04fcf6537fe5af7a5e42a8ec939c3556096ca7107842a2d44efca5'])
    const settled = await vault.act(SAFE, 'settleDeposit', [0n])
    expect(topics(settled)).toEqual([
      '0xf306601d1bd9ff6895ca817f568f68463b269e4b0cf4710e5f1003592ad29f5c',
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
      '0x26be8b1af887e484fec2868840869fd162e136268c24803bede886ab91aa29bc',
    ])
    const claimed = await vault.act(ALICE, 'deposit', [usdc('10'), ALICE, ALICE])
    expect(topics(claimed)).toContain('0xdcbc1c05240f31ff3ad067ef1ee35ce4997762752e3a095284754544f4c709d7')
  })

  test('have the documented topics for redemptions and cancellations', async () => {
    const vault = await session.openVault('0.6')
    await session.request(vault, ALICE, usdc('10'))
    await session.settle(vault, 0n)
    const requested = await vault.act(ALICE, 'claimSharesAndRequestRedeem', [10n ** 18n])
    expect(topics(requested).at(-1)).toBe('0x1fdc681a13d8c5da54e301c7ce6542dcde4581e4725043fdab2db12ddc574506')
    const settled = await session.settle(vault, usdc('10'))
    expect(topics(settled).at(-1)).toBe('0xa8fe241e26fead168e608ab85aa4e059a34552bad0fc6d98961122cb5a0abefd')
    const redeemed = await vault.act(ALICE, 'redeem', [10n ** 18n, ALICE, ALICE])
    expect(topics(redeemed).at(-1)).toBe('0xfbde797d201c681b91056529119e0b02407c7bb96a4a2c75c01fc9667232c8db')

    await vault.act(ALICE, 'requestRedeem', [10n ** 18n, ALICE, ALICE])
    const canceledRedeem = await vault.act(ALICE, 'cancelRequestRedeem', [ALICE])
    expect(topics(canceledRedeem).at(-1)).toBe('0x12e3d44ed24a4a32b9dc1baff08b5cccac3d5ba0508e634f789c3302f59de73a')
    await session.request(vault, ALICE, usdc('1'))
    const canceledDeposit = await vault.act(ALICE, 'cancelRequestDeposit', [ALICE])
    expect(topics(canceledDeposit)).toEqual(['0xf3df774413906479e4aa6d20ad2ad938e10990d517dc9d29909f6eaa4981ad43'])
  })

  test('have the documented topics for instant deposits and redemptions', async () => {
    const vault = await openSyncVault('0.6')
    await session.pay(ALICE, vault, usdc('10'))
    const deposited = await vault.act(ALICE, 'syncDeposit', [usdc('10'), ALICE, BOB])
    expect(topics(deposited)).toEqual([
      '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
      '0xc7fa05bbaa7a6c46527c364d2da9fbafe81091552e9cfa35b7fd69c27878afbc',
      '0x90f46099733ed637df811df4fcc5cae4961192ca04f36da9ab64b4dd8dc9b7f5',
    ])
    const redeemed = await vault.act(ALICE, 'syncRedeem', [10n ** 18n, ALICE, 0n])
    expect(topics(redeemed).at(-1)).toBe('0xd17e062511cadeb30fc2e7fa0db6f76c15c474af86d39edfdea4f79dd9effb5a')
  })

  test('always name a referral up to 0.5, and on 0.6 only if there is one', async () => {
    const referred = async (generation: '0.5' | '0.6', referral: Address) => {
      const vault = await session.openVault(generation)
      await session.pay(ALICE, vault, 1n)
      const events = await vault.act(ALICE, 'requestDeposit', [1n, ALICE, ALICE, referral])
      return events.filter(({ eventName }) => eventName === 'Referral').length
    }
    expect(await referred('0.5', zeroAddress)).toBe(1)
    expect(await referred('0.6', zeroAddress)).toBe(0)
    expect(await referred('0.6', BOB)).toBe(1)
  })
})

/** Opens a vault whose valuation is valid for an hour. So deposits are synchronous. */
async function openSyncVault(generation: '0.5' | '0.6', options: Partial<LagoonRates> = {}) {
  const vault = await session.openVault(generation, options)
  await vault.act(SAFE, 'updateTotalAssetsLifespan', [3600n])
  await session.settle(vault, 0n)
  return vault
}

describe.each(['0.5', '0.6'] as const)('a Lagoon %s vault with a valid valuation', (generation) => {
  test('issues shares for a deposit instantly and refuses requests and valuations', async () => {
    const vault = await openSyncVault(generation)
    expect(await vault.read('isTotalAssetsValid')).toBe(true)
    expect(await catchErrorName(session.request(vault, ALICE, usdc('1')))).toBe('OnlySyncDepositAllowed')
    expect(await catchErrorName(vault.act(VALUER, 'updateNewTotalAssets', [0n]))).toBe('ValuationUpdateNotAllowed')

    await session.pay(ALICE, vault, usdc('10'))
    const before = await session.tokensOf(SAFE)
    await vault.act(ALICE, 'syncDeposit', [usdc('10'), BOB, zeroAddress])
    expect(await vault.read('balanceOf', BOB)).toBe(10n * 10n ** 18n)
    expect(await vault.read('totalAssets')).toBe(usdc('10'))
    expect((await session.tokensOf(SAFE)) - before).toBe(usdc('10'))
  })

  test('takes only requests after the safe ends the valuation', async () => {
    const vault = await openSyncVault(generation)
    await vault.act(SAFE, 'expireTotalAssets', [])
    await session.pay(ALICE, vault, usdc('1'))
    const refusal = generation === '0.6' ? 'TotalAssetsExpired' : 'OnlyAsyncDepositAllowed'
    expect(await catchErrorName(vault.act(ALICE, 'syncDeposit', [usdc('1'), ALICE, zeroAddress]))).toBe(refusal)
    await session.request(vault, ALICE, usdc('1'))
    expect(await vault.read('pendingDepositRequest', 0n, ALICE)).toBe(usdc('1'))
  })
})

describe('a Lagoon 0.6 vault', () => {
  test('takes no deposit while its valuation is valid and its mode forbids instant deposits', async () => {
    const vault = await openSyncVault('0.6')
    await vault.act(SAFE, 'setSyncMode', [3])
    expect(await vault.read('previewSyncDeposit', usdc('1'))).toBe(0n)
    await session.pay(ALICE, vault, usdc('1'))
    expect(await catchErrorName(vault.act(ALICE, 'syncDeposit', [usdc('1'), ALICE, zeroAddress]))).toBe(
      'OnlyAsyncDepositAllowed',
    )
    expect(await catchErrorName(session.request(vault, ALICE, usdc('1')))).toBe('OnlySyncDepositAllowed')
  })

  test('refuses a request that would exceed its cap, including pending requests', async () => {
    const vault = await session.openVault('0.6')
    expect(await vault.read('maxCap')).toBe(maxUint256)
    await vault.act(SAFE, 'updateMaxCap', [usdc('100')])
    await session.request(vault, ALICE, usdc('60'))
    expect(await catchErrorName(session.request(vault, BOB, usdc('41')))).toBe('MaxCapReached')
    await session.request(vault, BOB, usdc('40'))
  })

  test('mints exactly maxMint on a claim, net of the entry fee', async () => {
    const vault = await session.openVault('0.6', { entryRate: 137 })
    const assets = 98_765_431n
    await session.request(vault, ALICE, assets)
    await session.settle(vault, 0n)
    const gross = assets * 10n ** 12n
    const net = gross - (gross * 137n + 9_999n) / 10_000n
    expect(await vault.read('maxMint', ALICE)).toBe(net)
    await vault.act(ALICE, 'deposit', [assets, ALICE, ALICE])
    expect(await vault.read('balanceOf', ALICE)).toBe(net)
    expect(await feesOf(vault)).toEqual([gross - net, (gross - net + 9n) / 10n])
    expect(await vault.read('totalSupply')).toBe(gross)
  })

  test('lets all of maxMint be minted', async () => {
    const vault = await session.openVault('0.6', { entryRate: 137 })
    await session.request(vault, ALICE, 98_765_431n)
    await session.settle(vault, 0n)
    await vault.act(ALICE, 'mint', [await vault.read('maxMint', ALICE), ALICE, ALICE])
    expect(await vault.read('maxDeposit', ALICE)).toBe(0n)
  })

  test('applies the settlement’s fee to a claim even if the fee changes later', async () => {
    const vault = await session.openVault('0.6', { entryRate: 100 })
    await session.request(vault, ALICE, usdc('100'))
    await session.settle(vault, 0n)
    await vault.act(ADMIN, 'updateRates', [{ ...NO_FEES, entryRate: 0 }])
    expect(await vault.read('maxMint', ALICE)).toBe(99n * 10n ** 18n)
  })

  test('takes the entry fee from an instant deposit, as previewed', async () => {
    const vault = await openSyncVault('0.6', { entryRate: 50 })
    const preview = await vault.read('previewSyncDeposit', usdc('200'))
    expect(preview).toBe(199n * 10n ** 18n)
    await session.pay(ALICE, vault, usdc('200'))
    await vault.act(ALICE, 'syncDeposit', [usdc('200'), ALICE, zeroAddress])
    expect(await vault.read('balanceOf', ALICE)).toBe(preview)
    expect(await feesOf(vault)).toEqual([10n ** 18n, 10n ** 17n])
  })

  test('checks the owner, the controller and the sender against its blacklist or whitelist', async () => {
    const vault = await session.openVault('0.6')
    await session.request(vault, BOB, 1n)
    await vault.act(ADMIN, 'addToBlacklist', [[BOB]])
    expect(await vault.read('isAllowed', BOB)).toBe(false)
    expect(await catchErrorName(vault.act(BOB, 'cancelRequestDeposit', []))).toBe(`AddressNotAllowed ${BOB}`)
    expect(await catchErrorName(session.request(vault, BOB, 1n))).toBe(`AddressNotAllowed ${BOB}`)
    await session.pay(ALICE, vault, 1n)
    expect(await catchErrorName(vault.act(ALICE, 'requestDeposit', [1n, BOB, ALICE]))).toBe(`AddressNotAllowed ${BOB}`)

    await vault.act(ADMIN, 'switchAccessMode', [1])
    expect(await catchErrorName(session.request(vault, ALICE, 1n))).toBe(`AddressNotAllowed ${ALICE}`)
    await vault.act(ADMIN, 'addToWhitelist', [[ALICE]])
    await session.request(vault, ALICE, 1n)
  })

  test('lets an operator cancel for the controller', async () => {
    const vault = await session.openVault('0.6')
    await session.request(vault, ALICE, usdc('5'))
    expect(await catchErrorName(vault.act(BOB, 'cancelRequestDeposit', [ALICE]))).toBe('ERC7540InvalidOperator')
    await vault.act(ALICE, 'setOperator', [BOB, true])
    await vault.act(BOB, 'cancelRequestDeposit', [ALICE])
    expect(await vault.read('pendingDepositRequest', 0n, ALICE)).toBe(0n)
  })

  test('can be set permanently to requests only', async () => {
    const vault = await openSyncVault('0.6')
    await vault.act(ADMIN, 'activateAsyncOnly', [])
    expect(await vault.read('isAsyncOnly')).toBe(true)
    expect(await vault.read('isTotalAssetsValid')).toBe(false)
    await session.settle(vault, 0n)
    expect(await vault.read('isTotalAssetsValid')).toBe(false)
    expect(await catchErrorName(vault.act(SAFE, 'updateTotalAssetsLifespan', [1n]))).toBe('AsyncOnly')
  })
})

/**
 * Returns the number of all shares that a vault has minted as fees, and the number of those for the Lagoon protocol.
 */
async function feesOf(vault: Awaited<ReturnType<typeof session.openVault>>) {
  const [receiver, protocol] = await Promise.all(
    [FEE_RECEIVER, FEE_REGISTRY].map((account) => vault.read('balanceOf', account)),
  )
  return [(receiver ?? 0n) + (protocol ?? 0n), protocol]
}

describe('the fees of a Lagoon vault', () => {
  test.each(GENERATIONS)('are minted after the valuation on %s, even if nothing is settled', async (generation) => {
    const vault = await session.openVault(generation, { managementRate: 200, performanceRate: 2_000 })
    await session.request(vault, ALICE, usdc('1000'))
    await session.settle(vault, 0n)
    await session.pass(365 * 86_400)
    const events = await session.settle(vault, usdc('1100'))
    const feeEvents = generation === '0.6' ? ['FeeTaken'] : []
    expect(events.map(({ eventName }) => eventName)).toEqual([
      'TotalAssetsUpdated',
      ...['Transfer', 'Transfer', ...feeEvents],
      ...['Transfer', 'Transfer', ...feeEvents],
    ])
    // The management fee for a year is 2 % of 1,100. The performance fee is a fifth of the remaining gain of 78. Prices
    // have six decimals.
    const left = await vault.read('convertToAssets', 1_000n * 10n ** 18n)
    expect(left / 1_000n).toBe(usdc('1062.4') / 1_000n)
    const [fees, protocol] = await feesOf(vault)
    const taken = await vault.read('convertToAssets', fees ?? 0n)
    expect(usdc('1100') - left - taken).toBeLessThanOrEqual(1n)
    expect(protocol).toBeGreaterThanOrEqual((fees ?? 0n) / 10n)
  })

  test('on exit are taken at settlement, and a claim pays by the settlement’s record', async () => {
    const vault = await session.openVault('0.6', { exitRate: 100 })
    await session.request(vault, ALICE, usdc('1000'))
    await session.settle(vault, 0n)
    await vault.act(ALICE, 'claimSharesAndRequestRedeem', [100n * 10n ** 18n])
    const settled = await session.settle(vault, usdc('1000'))
    expect(settled.map(({ eventName }) => eventName)).toEqual([
      ...['TotalAssetsUpdated', 'Transfer', 'Transfer', 'Transfer', 'FeeTaken', 'SettleRedeem'],
    ])
    expect(await vault.read('totalAssets')).toBe(usdc('901'))
    await vault.act(ADMIN, 'updateRates', [NO_FEES])
    expect(await vault.read('maxWithdraw', ALICE)).toBe(usdc('99'))
    const before = await session.tokensOf(ALICE)
    await vault.act(ALICE, 'redeem', [100n * 10n ** 18n, ALICE, ALICE])
    expect((await session.tokensOf(ALICE)) - before).toBe(usdc('99'))
  })

  test('on exit and a haircut are taken from an instant redemption, as previewed', async () => {
    const vault = await openSyncVault('0.6', { exitRate: 100, haircutRate: 1_000 })
    await session.pay(ALICE, vault, usdc('1000'))
    await vault.act(ALICE, 'syncDeposit', [usdc('1000'), ALICE, zeroAddress])
    expect(await vault.read('previewSyncRedeem', 100n * 10n ** 18n)).toBe(usdc('89.1'))
    expect(await catchErrorName(vault.act(ALICE, 'syncRedeem', [100n * 10n ** 18n, ALICE, usdc('89.2')]))).toBe(
      `BelowMinimumAssets ${usdc('89.1')} ${usdc('89.2')}`,
    )
    const events = await vault.act(ALICE, 'syncRedeem', [100n * 10n ** 18n, ALICE, usdc('89.1')])
    expect(events.map(({ eventName }) => eventName)).toEqual([
      ...['Transfer', 'Transfer', 'Transfer', 'FeeTaken', 'HaircutTaken', 'WithdrawSync'],
    ])
    expect(events.at(-1)?.args).toMatchObject({ assets: usdc('89.1'), shares: 100n * 10n ** 18n })
    // The vault's total assets drop by the payment and the haircut. The next valuation counts the haircut as assets again.
    expect(await vault.read('totalAssets')).toBe(usdc('901'))
    await vault.act(SAFE, 'setSyncMode', [1])
    expect(await catchErrorName(vault.act(ALICE, 'syncRedeem', [1n, ALICE, 0n]))).toBe('SyncOperationNotAllowed')
  })

  test('on exit are taken from a redemption of a closed vault', async () => {
    const vault = await session.openVault('0.6', { exitRate: 100 })
    await session.request(vault, ALICE, usdc('1000'))
    await session.settle(vault, 0n)
    await vault.act(ALICE, 'deposit', [usdc('1000'), ALICE, ALICE])
    await vault.act(ADMIN, 'initiateClosing', [])
    await vault.act(VALUER, 'updateNewTotalAssets', [usdc('1000')])
    await vault.act(SAFE, 'close', [usdc('1000')])
    const events = await vault.act(ALICE, 'redeem', [100n * 10n ** 18n, ALICE, ALICE])
    expect(events.map(({ eventName }) => eventName)).toEqual([
      ...['Transfer', 'Transfer', 'Transfer', 'FeeTaken', 'Withdraw'],
    ])
    expect(events.at(-1)?.args).toMatchObject({ assets: usdc('99') })
    expect(await vault.read('totalAssets')).toBe(usdc('901'))
    expect(await vault.read('maxWithdraw', ALICE)).toBe(usdc('891'))
  })
})

describe('a whitelisted vault up to 0.5', () => {
  test.each(['0.1', '0.2', '0.4', '0.5'] as const)(
    'of version %s checks the owner of the assets',
    async (generation) => {
      const vault = await session.openVault(generation, { whitelisted: true })
      expect(await vault.read('isWhitelisted', ALICE)).toBe(false)
      expect(await catchErrorName(session.request(vault, ALICE, 1n))).toBe('NotWhitelisted')
      await vault.act(ADMIN, 'addToWhitelist', [[ALICE]])
      expect(await vault.read('isWhitelisted', ALICE)).toBe(true)
      await session.pay(ALICE, vault, 1n)
      await vault.act(ALICE, 'requestDeposit', [1n, BOB, ALICE])
      expect(await vault.read('pendingDepositRequest', 0n, BOB)).toBe(1n)
    },
  )
})

describe('a Lagoon 0.1 vault', () => {
  test('settles without repeating the valuation and reports no limit as maxMint', async () => {
    const vault = await session.openVault('0.1')
    await session.request(vault, ALICE, usdc('3'))
    expect(await vault.read('depositEpochId')).toBe(1)
    await vault.act(VALUER, 'updateNewTotalAssets', [0n])
    expect(await vault.read('depositEpochId')).toBe(3)
    await vault.act(SAFE, 'settleDeposit', [])
    expect(await vault.read('maxDeposit', ALICE)).toBe(usdc('3'))
    expect(await vault.read('maxMint', ALICE)).toBe(maxUint256)
    await expect(vault.read('version')).rejects.toThrow()
  })
})

test('an upgraded vault has another version and the same requests', async () => {
  const vault = await session.openVault('0.4')
  await session.request(vault, ALICE, usdc('12'))
  expect(await vault.read('version')).toBe('v0.4.0')
  await upgradeLagoonVault(session.chain, vault.address, '0.5')
  expect(await vault.read('version')).toBe('v0.5.0')
  expect(await vault.read('pendingDepositRequest', 0n, ALICE)).toBe(usdc('12'))
  await upgradeLagoonVault(session.chain, vault.address, 'unknown')
  expect(await vault.read('version')).toBe('v0.7.0')
  await session.settle(vault, 0n)
  expect(await vault.read('maxDeposit', ALICE)).toBe(usdc('12'))
})
