import { expect, test } from 'vitest'
import type {
  Balance,
  GetTransferStatusResponse,
  ListBalancesResponse,
  ListCoinsResponse,
  Position,
  Vault,
} from '../../client/src/index.ts'
import {
  groupByCoin,
  isBetweenChains,
  keyOfToken,
  listHoldings,
  listMissingChains,
  listRequestActions,
  sharesOf,
  sumHistories,
  sumValues,
  valuePositions,
  valueTransfers,
  yieldOf,
} from '../../wallet/src/portfolio.ts'

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const VAULT = '0xF2ea27c7b2e586B61af27223A7707356F685F718'
const USER = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65'
const UNKNOWN = { quote_24h_variation: 0, quote_rate_24h_variation: 0, price_updated_at: null, logo_url: '' }

function balance(changes: Partial<Balance>): Balance {
  return {
    ...UNKNOWN,
    balance: '25000000',
    contract_address: USDC,
    contract_decimals: 6,
    contract_name: 'USD Coin',
    contract_ticker_symbol: 'USDC',
    is_spam: false,
    quote: 25,
    chainName: 'base-mainnet',
    quote_24h: 24,
    quote_rate: 1,
    quote_rate_24h: 0.96,
    native_token: false,
    defi: false,
    price_available: true,
    ...changes,
  }
}

function balancesOf(...base: Balance[]): ListBalancesResponse {
  const tokens = { 'base-mainnet': base }
  const none = { smartgaz: 0, smartgaz_available: true, solana_rent: 0, kyc: { status: 'none' } } as const
  return { addresses: [], updated_at: {}, tokens, ...none }
}

const position: Position = {
  vaultAddress: VAULT,
  vaultName: 'Harbor USDC',
  userAddress: USER,
  chainId: 8453,
  apy: '6.45',
  annualYield: null,
  shareDecimals: 18,
  assetSymbol: 'USDC',
  assetDecimals: 6,
  totalDepositedAssets: '100000000',
  totalWithdrawnAssets: '0',
  currentShares: '100000000000000000000',
  sharePrice: '1050000',
  currentValue: '105000000',
  earnedAssets: '5000000',
  depositCount: 1,
  startDate: '2026-11-01T00:00:00.000Z',
  lastDepositDate: '2026-11-01T00:00:00.000Z',
  statusBreakdown: { pending: 0, claimable: 0, completed: 1 },
}

const vault: Vault = {
  ...{ poolId: '', chainId: 8453, name: 'Harbor USDC', logo_url: '', riskProfile: '', riskProtocol: '' },
  ...{ poolAddress: VAULT, depositTokenAddress: USDC, yieldTokenAddress: VAULT, type: 'async', MaxCap: false },
  protocol: 'lagoon',
  ...{
    description: '',
    APY: '',
    annualYield: null,
    annualYields: { '7d': null, '30d': null, '90d': null },
    growth: null,
    asset: { symbol: 'USDC', decimals: 6 },
    shareDecimals: 18,
  },
  terms: {
    ...{ entry: 'request', exit: 'request', room: null, liquidity: null },
    ...{ settlement: null, valuation: null, cooldownSeconds: null, missing: ['room', 'liquidity'] },
    fees: { management: null, performance: null, entry: null, exit: null, haircut: null },
  },
  ...{ totalAssets: null, totalAssetsUsd: null, hasChanged: null, pinnedAt: null, rewards: null, stateAsOf: null },
}

function coin(changes: Partial<ListCoinsResponse[number]>): ListCoinsResponse[number] {
  return {
    contract_address: USDC,
    chainId: 8453,
    contract_ticker_symbol: 'USDC',
    contract_decimals: 6,
    contract_name: 'USD Coin',
    coinKey: '',
    logo_url: '',
    id: 'usd-coin',
    current_price: 2,
    market_cap: null,
    total_volume: null,
    price_change_percentage_24h: 25,
    ...changes,
  }
}

const transfer: GetTransferStatusResponse = {
  depositId: '0xaa',
  status: 'bridging',
  statusDescription: '',
  reason: null,
  action: 'deposit',
  terminal: false,
  final: false,
  nextPollAfterMs: 3000,
  srcChain: { id: 42161, name: 'Arbitrum' },
  dstChain: { id: 8453, name: 'Base' },
  inputAmount: '30000000',
  outputAmount: null,
  timestamps: { initiated: '2026-11-01T00:00:00.000Z', bridged: null, completed: null },
  transactions: { source: '0xaa', fill: null },
  ...{ depositor: USER, recipient: USER, vaultAddress: VAULT, sharesReceived: null },
  ...{ input: null, output: null, expectedAt: null, deadline: null, refund: null, replacedBy: null, events: [] },
  links: { source: '', fill: null, refund: null },
  protocol: null,
  evidence: [],
  transfers: [],
}

test('A vault’s shares count as a position or as a balance, never as both', () => {
  const shares = balance({ contract_address: VAULT.toLowerCase(), defi: true, quote: 105 })
  const answer = balancesOf(balance({}), shares)
  expect(listHoldings(answer, sharesOf([position], [])).map(({ value }) => value)).toEqual([25])
  expect(listHoldings(answer, new Set()).map(({ value }) => value)).toEqual([105, 25])
})

test('A vault’s shares are identified by its yield token if it has one', () => {
  const token = '0x1111111111111111111111111111111111111111'
  expect(sharesOf([position], [{ ...vault, yieldTokenAddress: token }])).toEqual(new Set([keyOfToken(8453, token)]))
})

test('A holding has the time of its balance if its chain cannot be read', () => {
  const updated_at = { 'base-mainnet': '2026-11-01T00:00:00.000Z' }
  const answer = { ...balancesOf(balance({})), updated_at }
  expect(listHoldings(answer, new Set()).map(({ asOf }) => asOf)).toEqual([undefined])
  const errors = { 'base-mainnet': 'Upstream unavailable' }
  expect(listHoldings({ ...answer, errors }, new Set()).map(({ asOf }) => asOf)).toEqual(['2026-11-01T00:00:00.000Z'])
})

test('A holding has the service’s values of now and a day ago', () => {
  expect(listHoldings(balancesOf(balance({})), new Set())).toMatchObject([{ value: 25, valueBefore: 24 }])
})

test('A holding has no value without a price, and no change without yesterday’s price', () => {
  const unpriced = balance({ price_available: false, quote: 0, quote_rate: 0, quote_24h: 0, quote_rate_24h: 0 })
  const young = balance({ quote_24h: 0, quote_rate_24h: 0 })
  const holdings = listHoldings(balancesOf(unpriced, young, balance({ balance: '0' })), new Set())
  expect(holdings.map(({ value, valueBefore }) => [value, valueBefore])).toEqual([
    [25, null],
    [null, null],
  ])
})

test('A total adds values with a price, and its change those with prices of both days', () => {
  const worth = [
    { value: 110, valueBefore: 100 },
    { value: 50, valueBefore: null },
    { value: null, valueBefore: null },
  ]
  const { value, change } = sumValues(worth)
  expect(value).toBe(160)
  expect(change?.value).toBeCloseTo(10)
  expect(change?.percent).toBeCloseTo(10)
  expect(sumValues([{ value: 50, valueBefore: null }]).change).toBeNull()
})

test('A position whose asset has no price is shown without a value', () => {
  expect(valuePositions([position], [], [])).toEqual([
    { ...position, asset: undefined, value: null, valueBefore: null },
  ])
})

test('A position is worth its amount at the price of the asset, now and a day ago', () => {
  expect(valuePositions([position], [vault], [coin({})])).toMatchObject([{ asset: USDC, value: 210, valueBefore: 168 }])
})

test('A position that lost all its value has no earlier value and leaves other changes as they are', () => {
  const lost = valuePositions([position], [vault], [coin({ current_price: 0, price_change_percentage_24h: -100 })])
  expect(lost).toMatchObject([{ value: 0, valueBefore: null }])
  const { value, change } = sumValues([...lost, { value: 110, valueBefore: 100 }])
  expect([value, change?.value]).toEqual([110, 10])
})

test('A transfer is worth its amount at the price of its vault’s asset', () => {
  const started = {
    hash: '0xaa',
    srcChainId: 42161,
    kind: 'deposit',
    vault: { chainId: 8453, address: VAULT, name: 'Harbor USDC' },
    account: USER,
    amount: '30000000000000000000',
    from: { symbol: 'USDC', decimals: 18 },
    to: { symbol: 'USDC', decimals: 6 },
    startedAt: 0,
  } as const
  const moved = [{ started, progress: transfer }]
  expect(valueTransfers(moved, [vault], [coin({})])).toMatchObject([{ value: 60, valueBefore: 48 }])
  expect(valueTransfers(moved, [vault], [])).toMatchObject([{ value: null, valueBefore: null }])
})

test('Money is between chains from its deposit into the bridge until it arrives or is refunded', () => {
  const arrived = { ...transfer.timestamps, bridged: '2026-11-01T00:00:03.000Z' }
  expect(isBetweenChains(transfer)).toBe(true)
  expect(isBetweenChains({ ...transfer, status: 'failed', reason: 'expired' })).toBe(true)
  // The tokens are still in the wallet while the deposit transaction is not mined.
  expect(isBetweenChains({ ...transfer, status: 'pending' })).toBe(false)
  expect(isBetweenChains({ ...transfer, timestamps: arrived })).toBe(false)
  expect(isBetweenChains({ ...transfer, status: 'completed', terminal: true })).toBe(false)
  expect(isBetweenChains({ ...transfer, status: 'failed', reason: 'refunded', terminal: true })).toBe(false)
})

const place = {
  ...({ vaultAddress: VAULT, userAddress: USER } as const),
  chainId: 8453,
  statusDescription: '',
  estimatedSettlement: null,
  missedSettlements: null,
  nextPollAfterMs: null,
  evidence: [],
}

test('Claimable, refundable and pending requests are amounts of the asset, with shares at their price', () => {
  const [valued] = valuePositions([position], [], [])
  if (!valued) throw new Error('One position has one value.')
  const requests = listRequestActions(
    valued,
    18,
    {
      ...place,
      status: 'claimable',
      amounts: {
        ...{ pendingDeposit: '7000000', claimableShares: '2000000000000000000' },
        ...{ currentShares: '0', cancelledDeposit: '3000000' },
      },
      vault: { depositEpochId: 1, isTotalAssetsValid: null },
    },
    {
      ...place,
      status: 'pending',
      amounts: {
        ...{ pendingAssets: null, pendingRedeemShares: '1000000000000000000', claimableAssets: '0' },
        ...{ claimableShares: '0', cancelledRedeemShares: '0' },
      },
      claimableAt: null,
      epochId: 2,
      vault: { redeemEpochId: 2 },
    },
  )
  expect(requests.map(({ kind, units }) => [kind, units])).toEqual([
    ['claim deposit', 2_100_000n],
    ['take back deposit', 3_000_000n],
    ['wait', 8_050_000n],
  ])
})

test('A request in a cooldown counts with its fixed assets, not with its shares at their price', () => {
  const [valued] = valuePositions([position], [], [])
  if (!valued) throw new Error('One position has one value.')
  const amounts = {
    ...{ pendingAssets: '1000000', pendingRedeemShares: '1000000000000000000', claimableAssets: '0' },
    ...{ claimableShares: '0', cancelledRedeemShares: '0' },
  }
  const requests = listRequestActions(valued, 18, undefined, {
    ...{ ...place, status: 'pending', amounts, claimableAt: '2026-11-08T00:00:00.000Z' },
    ...{ epochId: null, vault: { redeemEpochId: null } },
  })
  expect(requests).toMatchObject([{ kind: 'wait', units: 1_000_000n }])
})

test('Past values begin where all prices are known, and each price holds until the next', () => {
  const ether = {
    amount: 2,
    prices: [
      [10, 100],
      [20, 110],
      [30, 120],
      [40, 130],
    ],
  } as const
  const dollar = {
    amount: 5,
    prices: [
      [15, 1],
      [35, 2],
    ],
  } as const
  expect(sumHistories([ether, dollar])).toEqual([
    [20, 225],
    [30, 245],
    [40, 270],
  ])
  expect(sumHistories([])).toEqual([])
})

test('A token has the same key in any letter case of its address', () => {
  expect(keyOfToken(8453, USDC)).toBe(keyOfToken(8453, USDC.toLowerCase()))
})

const ARBITRUM_USDT = '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9'

test('A coin on two chains is one row with the larger decimals, without spam and namesakes', () => {
  const other = { contract_address: ARBITRUM_USDT, contract_decimals: 18, balance: `${5n * 10n ** 18n}`, quote: 5 }
  const spam = { contract_address: USER, is_spam: true, price_available: false }
  const namesake = { contract_address: VAULT, price_available: false }
  const holdings = listHoldings(
    {
      ...balancesOf(balance({}), balance(spam), balance(namesake)),
      tokens: {
        'base-mainnet': [balance({}), balance(spam), balance(namesake)],
        'arbitrum-mainnet': [balance(other)],
      },
    },
    new Set(),
  )
  const coins = [
    coin({ coinKey: 'USDC' }),
    coin({ coinKey: 'USDC', chainId: 42161, contract_address: ARBITRUM_USDT }),
    coin({ coinKey: 'USDC', contract_address: USER }),
  ]
  const [first, ...rest] = groupByCoin(holdings, coins)
  expect(first).toMatchObject({ key: 'USDC', units: 30n * 10n ** 18n, decimals: 18, value: 30 })
  expect(first?.holdings.map(({ chainId }) => chainId)).toEqual([8453, 42161])
  expect(rest.map(({ holdings }) => holdings.length)).toEqual([1, 1])
})

test('A total lacks a chain with unknown tokens, but not a chain with earlier balances', () => {
  const errors = { 'base-mainnet': 'Upstream unavailable' }
  const time = '2026-11-27T10:42:00.000Z'
  const balances = { ...balancesOf(balance({})), errors, updated_at: { 'base-mainnet': time } }
  const unknown = { ...balancesOf(), errors }
  const vaultErrors = { 8453: 'Upstream unavailable' }
  const missing = (answer: ListBalancesResponse, isWhole: boolean) =>
    listMissingChains(answer, listHoldings(answer, new Set()), vaultErrors, isWhole)
  expect(missing(balances, true)).toEqual([])
  expect(missing(balances, false)).toEqual([8453])
  expect(missing(unknown, true)).toEqual([8453])
})

test('The yield of all positions is weighted by value, and unknown if no vault has a yield', () => {
  const annualYield = { percent: '6.00', days: 14, from: '2026-11-01T00:00:00.000Z', to: '2026-11-15T00:00:00.000Z' }
  const worth = { value: 1000, valueBefore: null, asset: USDC }
  const positions = [{ ...position, ...worth }, { ...position, ...worth, value: 3000, vaultAddress: USER } as const]
  const vaults = [
    { ...vault, annualYield },
    { ...vault, poolAddress: USER, annualYield: { ...annualYield, percent: '2.00' } } as const,
  ]
  expect(yieldOf(positions, vaults)).toEqual({ percent: 3, monthly: 10 })
  expect(yieldOf(positions, [vault])).toBeNull()
})
