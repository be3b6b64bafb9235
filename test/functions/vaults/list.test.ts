import {
  type Address,
  createClient,
  encodeFunctionData,
  http,
  maxUint256,
  numberToHex,
  parseAbi,
  toFunctionSelector,
} from 'viem'
import { readContract } from 'viem/actions'
import { describe, expect } from 'vitest'
import { addVault, issueKey, createClient as registerClient } from '../../../infra/admin/operations.ts'
import { ACCOUNTS } from '../../../infra/local/accounts.ts'
import { settle } from '../../../infra/local/curator.ts'
import { deployLagoonVault, deployYieldVault } from '../../../infra/local/deploy.ts'
import { callRpc } from '../../../infra/local/rpc.ts'
import { transact } from '../../../infra/local/transactions.ts'
import { BLOCK_NUMBER, BLOCK_TIME, changeAggregate, rewriteResults } from '../../support/chain-answers.ts'
import { test as base, type Service, USERS } from '../../support/service.ts'
import type { Wire } from '../../support/wire.ts'

const LIST = '/defi-vaults/v1/vaults'
const [USER] = USERS

/** The fields of the interface, by the kind of vault that has them. */
const EVERY_VAULT = [
  'poolId',
  'chainId',
  'name',
  'logo_url',
  'riskProfile',
  'riskProtocol',
  'poolAddress',
  'depositTokenAddress',
  'yieldTokenAddress',
  'type',
  'MaxCap',
  'description',
  'APY',
]
const ASYNC_VAULTS = ['protocol', 'curatorAddress', 'valuationManager', 'vaultState', 'stateAsOf']

/** The state as the interface has it: each field with its kind of value. */
const ADDRESS = expect.stringMatching(/^0x[0-9a-fA-F]{40}$/)
const AMOUNT = expect.stringMatching(/^(0|[1-9]\d*)$/)
const STATE = {
  symbol: expect.any(String),
  decimals: expect.any(Number),
  asset: ADDRESS,
  assetSymbol: expect.any(String),
  assetDecimals: expect.any(Number),
  totalAssets: AMOUNT,
  totalSupply: AMOUNT,
  sharePrice: AMOUNT,
  owner: ADDRESS,
  safe: ADDRESS,
  valuationManager: ADDRESS,
  feeReceiver: ADDRESS,
  paused: expect.any(Boolean),
  pendingSilo: ADDRESS,
  pendingDeposits: AMOUNT,
  pendingRedeems: AMOUNT,
  isTotalAssetsValid: expect.any(Boolean),
  newTotalAssets: AMOUNT,
  depositEpochId: expect.any(Number),
  redeemEpochId: expect.any(Number),
}

const ABI = parseAbi([
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalAssets() view returns (uint256)',
  'function totalSupply() view returns (uint256)',
  'function convertToAssets(uint256) view returns (uint256)',
  'function owner() view returns (address)',
  'function balanceOf(address) view returns (uint256)',
  'function approve(address spender, uint256 amount) returns (bool)',
  'function requestDeposit(uint256 assets, address controller, address owner) returns (uint256)',
  'function updateNewTotalAssets(uint256 totalAssets)',
  'function pause()',
  'function setDepositCap(uint256 cap)',
  'function updateMaxCap(uint256 cap)',
])

// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely
type Listed = Record<string, any>
type Chain = Service['backends']['chains'][number]

const test = base
  .extend('chain', ({ service }) => service.backends.chains[0] as Chain)
  .extend('usdc', ({ chain }) => chain.tokens.find(({ symbol }) => symbol === 'USDC')?.address as Address)
  .extend('list', ({ service }) => async (key: string = service.apiKey): Promise<Listed[]> => {
    const { status, body } = await service.call('GET', LIST, { key })
    expect(status).toBe(200)
    expect(Object.keys(body)).toEqual(['success', 'data'])
    expect(body.success).toBe(true)
    return body.data
  })
  /** The list of a client that has this vault alone. */
  .extend('listOf', ({ service, list }) => async (chain: Chain, address: Address): Promise<Listed> => {
    const [vault] = await list(await service.createClient([{ chainId: chain.chainId, address }]))
    return vault as Listed
  })

async function act(
  chain: Chain,
  from: Address,
  to: Address,
  functionName: 'approve' | 'requestDeposit' | 'updateNewTotalAssets' | 'pause' | 'setDepositCap' | 'updateMaxCap',
  args: readonly unknown[] = [],
): Promise<void> {
  const data = encodeFunctionData({ abi: ABI, functionName, args } as Parameters<typeof encodeFunctionData>[0])
  await transact(chain, [{ label: functionName, from, to, data }])
}

describe('The list', () => {
  test('has every vault of the client with its live state, in an order that stays', async ({ service, list }) => {
    const vaults = await list()
    const places = vaults.map(({ chainId, poolAddress }) => `${chainId} ${poolAddress}`)
    const configured = service.backends.chains.flatMap(({ vaults }) =>
      vaults.map(({ chainId, address }) => `${chainId} ${address}`),
    )
    expect(places.toSorted()).toEqual(configured.toSorted())
    expect((await list()).map(({ chainId, poolAddress }) => `${chainId} ${poolAddress}`)).toEqual(places)
  })

  test('gives a vault exactly the fields of the interface, and async ones their own besides', async ({ list }) => {
    const vaults = await list()
    expect(new Set(vaults.map(({ type }) => type))).toEqual(new Set(['async', 'sync']))
    for (const vault of vaults) {
      const expected = vault['type'] === 'async' ? [...EVERY_VAULT, ...ASYNC_VAULTS] : EVERY_VAULT
      expect(Object.keys(vault).toSorted()).toEqual(expected.toSorted())
      expect(vault['APY']).toMatch(/^-?\d+\.\d{2}$/)
      expect(vault['logo_url']).toBe('')
    }
  })

  test('gives an async vault the whole state of the interface, live', async ({ list }) => {
    for (const { vaultState, stateAsOf } of (await list()).filter(({ type }) => type === 'async')) {
      expect(vaultState).toEqual({ ...STATE, missing: [] })
      expect(stateAsOf).toEqual({
        blockNumber: expect.any(Number),
        timestamp: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
        stale: false,
      })
    }
  })

  test('says of each vault what its contract says', async ({ service, list }) => {
    for (const vault of (await list()).filter(({ type }) => type === 'async')) {
      const chain = service.backends.chains.find(({ chainId }) => chainId === vault['chainId'])
      const client = createClient({ transport: http(chain?.rpcUrl) })
      const address = vault['poolAddress'] as Address
      const state = vault['vaultState']
      const [symbol, decimals, totalAssets, totalSupply, owner] = await Promise.all(
        (['symbol', 'decimals', 'totalAssets', 'totalSupply', 'owner'] as const).map((functionName) =>
          readContract(client, { address, abi: ABI, functionName }),
        ),
      )
      const convertToAssets = {
        address,
        abi: ABI,
        functionName: 'convertToAssets',
        args: [10n ** BigInt(Number(decimals))],
      } as const
      const sharePrice = await readContract(client, convertToAssets)
      const silo = [state.pendingSilo] as const
      const pendingRedeems = await readContract(client, { address, abi: ABI, functionName: 'balanceOf', args: silo })
      expect(state).toMatchObject({
        symbol,
        decimals,
        owner,
        totalAssets: String(totalAssets),
        totalSupply: String(totalSupply),
        sharePrice: String(sharePrice),
        pendingRedeems: String(pendingRedeems),
        asset: vault['depositTokenAddress'],
        safe: ACCOUNTS.safe.address,
        valuationManager: ACCOUNTS.valuationManager.address,
        feeReceiver: ACCOUNTS.feeReceiver.address,
        newTotalAssets: maxUint256.toString(),
        paused: false,
      })
      expect(vault).toMatchObject({ curatorAddress: state.safe, valuationManager: state.valuationManager })
    }
  })

  test('follows a vault from a request to its settlement', async ({ chain, usdc, listOf }) => {
    const vault = await deployLagoonVault(chain, { generation: '0.5', asset: usdc, name: 'Followed', symbol: 'FOL' })
    const before = await listOf(chain, vault)
    expect(before['vaultState']).toMatchObject({ totalAssets: '0', totalSupply: '0', pendingDeposits: '0' })

    await act(chain, USER.address, usdc, 'approve', [vault, 7_000_000n])
    await act(chain, USER.address, vault, 'requestDeposit', [7_000_000n, USER.address, USER.address])
    const pending = await listOf(chain, vault)
    expect(pending['vaultState']).toMatchObject({ totalAssets: '0', pendingDeposits: '7000000' })

    await act(chain, ACCOUNTS.valuationManager.address, vault, 'updateNewTotalAssets', [5n])
    const proposed = await listOf(chain, vault)
    expect(proposed['vaultState']).toMatchObject({ newTotalAssets: '5' })

    await settle(chain, vault)
    const settled = await listOf(chain, vault)
    expect(settled['vaultState']).toMatchObject({
      totalAssets: '7000000',
      pendingDeposits: '0',
      newTotalAssets: maxUint256.toString(),
    })
    expect(settled['vaultState'].depositEpochId).toBeGreaterThan(before['vaultState'].depositEpochId)
    expect(settled['stateAsOf'].blockNumber).toBeGreaterThan(before['stateAsOf'].blockNumber)
  })

  test('shows that a vault is paused', async ({ chain, usdc, listOf }) => {
    const vault = await deployLagoonVault(chain, { generation: '0.6', asset: usdc, name: 'Paused', symbol: 'PAU' })
    expect((await listOf(chain, vault))['vaultState'].paused).toBe(false)
    await act(chain, ACCOUNTS.admin.address, vault, 'pause')
    expect((await listOf(chain, vault))['vaultState'].paused).toBe(true)
  })

  test('shows whether a vault has a cap, as it is now', async ({ chain, usdc, listOf }) => {
    const sync = await deployYieldVault(chain, { asset: usdc, name: 'Capped', symbol: 'CAP' })
    const async = await deployLagoonVault(chain, { generation: '0.6', asset: usdc, name: 'Capped', symbol: 'CAP' })
    expect([(await listOf(chain, sync))['MaxCap'], (await listOf(chain, async))['MaxCap']]).toEqual([false, false])
    await act(chain, ACCOUNTS.admin.address, sync, 'setDepositCap', [5_000_000n])
    await act(chain, ACCOUNTS.safe.address, async, 'updateMaxCap', [5_000_000n])
    expect([(await listOf(chain, sync))['MaxCap'], (await listOf(chain, async))['MaxCap']]).toEqual([true, true])
  })

  test('names what a broken vault does not tell, tells no zeros instead, and shows the others whole', async ({
    chain,
    list,
  }) => {
    const [broken] = chain.vaults
    const [snapshot] = await callRpc(chain, [{ method: 'evm_snapshot', params: [] }])
    await callRpc(chain, [{ method: 'anvil_setCode', params: [broken?.address, '0x5f5ffd'] }])
    const vaults = await list()
    await callRpc(chain, [{ method: 'evm_revert', params: [snapshot] }])

    expect(vaults).toHaveLength(10)
    const state = vaults.find(({ poolAddress }) => poolAddress === broken?.address)?.['vaultState']
    expect(state.missing).toEqual(
      expect.arrayContaining(['totalAssets', 'totalSupply', 'sharePrice', 'paused', 'pendingDeposits']),
    )
    for (const name of state.missing) expect(state).not.toHaveProperty(name)
    const others = vaults.filter(({ poolAddress, type }) => poolAddress !== broken?.address && type === 'async')
    for (const { vaultState } of others) expect(vaultState.missing).toEqual([])
  })

  test('shows a vault as the client configured it', async ({ service, chain, list }) => {
    const { admin } = service.backends
    const { clientId } = await registerClient(admin, 'Some wallet')
    const { text } = await issueKey(admin, { clientId, name: 'some key' })
    const shown = {
      poolId: 'my-pool',
      name: 'My own name \u20ac',
      description: 'My own words.',
      riskProfile: 'balanced',
      riskProtocol: 'low',
    }
    const address = chain.vaults[0]?.address as Address
    await addVault(admin, { clientId, chainId: 8453, address, logoUrl: 'https://wallet.example/logo.svg', ...shown })
    expect(await list(text)).toMatchObject([
      { ...shown, logo_url: 'https://wallet.example/logo.svg', poolAddress: address },
    ])
  })
})

describe('The APY', () => {
  const WEEK = 7 * 86_400
  const LATEST = 1_000_000
  const NOW = 1_795_132_800
  const CONVERT = toFunctionSelector('convertToAssets(uint256)')

  /** Makes a wire tell of a chain a week long, on which every share was worth `past` thousandths of what it is now. */
  function growWeek(wire: Wire, past: bigint): void {
    // The node below knows its latest block alone.
    wire.rewriteRequest = (request) => request.replaceAll(/"0x[0-9a-f]+"(?=[,\]])/g, '"latest"')
    rewriteResults(
      wire,
      changeAggregate((data, selector, { params }) => {
        const block = params[1] === 'latest' ? LATEST : Number(params[1])
        if (selector === BLOCK_NUMBER) return numberToHex(block, { size: 32 })
        // Base makes a block every two seconds.
        if (selector === BLOCK_TIME) return numberToHex(NOW - (LATEST - block) * 2, { size: 32 })
        if (selector !== CONVERT || block === LATEST || data.length !== 66) return data
        return numberToHex((BigInt(data) * past) / 1000n, { size: 32 })
      }),
    )
  }

  const listOnBase = async (service: Service): Promise<Listed[]> => {
    const { body } = await service.call('GET', LIST)
    return body.data.filter(({ chainId }: Listed) => chainId === 8453)
  }

  test.for<[string, bigint, number]>([
    ['grew', 998n, 1000 / 998],
    ['shrank', 1003n, 1000 / 1003],
    ['stayed', 1000n, 1],
  ])(
    'is what the share price %s by in the last seven days, as of a year',
    async ([, past, growth], { coldService }) => {
      growWeek(coldService.rpc[8453] as Wire, past)
      const vaults = await listOnBase(coldService)
      const expected = (growth ** ((365 * 86_400) / WEEK) - 1) * 100
      expect(vaults).toHaveLength(5)
      for (const { APY } of vaults) {
        expect(APY).toMatch(/^-?\d+\.\d{2}$/)
        expect(Math.abs(Number(APY) - expected)).toBeLessThan(0.02)
      }
    },
  )

  test('is asked for once in a while, in one more request', async ({ coldService }) => {
    const wire = coldService.rpc[8453] as Wire
    growWeek(wire, 998n)
    await listOnBase(coldService)
    expect(wire.bodies).toHaveLength(2)
    await listOnBase(coldService)
    expect(wire.bodies).toHaveLength(3)
  })

  test('is 0.00 where the node does not know what was a week ago, and the list is none the worse', async ({
    coldService,
  }) => {
    const wire = coldService.rpc[8453] as Wire
    growWeek(wire, 998n)
    const { rewrite } = wire
    wire.rewrite = (answer, request) => {
      const isOld = (JSON.parse(request) as { params: unknown[] }[]).some(({ params }) => params[1] !== 'latest')
      const error = { code: -32000, message: 'missing trie node' }
      return isOld ? JSON.stringify([{ jsonrpc: '2.0', id: 0, error }]) : (rewrite?.(answer, request) ?? answer)
    }
    const vaults = await listOnBase(coldService)
    expect(vaults.map(({ APY }) => APY)).toEqual(vaults.map(() => '0.00'))
    for (const { stateAsOf, type } of vaults) if (type === 'async') expect(stateAsOf.stale).toBe(false)
  })

  test('is 0.00 on a chain younger than a week', async ({ list }) => {
    for (const { APY } of await list()) expect(APY).toBe('0.00')
  })
})
