import { type Address, createClient, http, maxUint256, numberToHex, stringToHex, toFunctionSelector } from 'viem'
import { readContract } from 'viem/actions'
import { describe, expect } from 'vitest'
import { issueKey, createClient as registerClient } from '../../../admin/operations/clients.ts'
import { addVault } from '../../../admin/operations/vaults.ts'
import { sharedCache } from '../../../lib/cache/cache.ts'
import { cacheStore } from '../../../lib/cache/store.ts'
import { evmChain } from '../../../lib/chain/registry.ts'
import { pricesKey } from '../../../lib/markets/cache-keys.ts'
import { ACCOUNTS } from '../../../sandbox/accounts.ts'
import { settleRequests } from '../../../sandbox/curator.ts'
import { deployLagoonVault, deployYieldVault } from '../../../sandbox/deploy.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { transact } from '../../../sandbox/transactions.ts'
import { createReturnDataChange, rewriteResults } from '../../support/chain-answers.ts'
import { expectError } from '../../support/errors.ts'
import { buildTransaction, VAULT_ABI } from '../../support/oracles.ts'
import { recordAllBlocks, recordPrices } from '../../support/records.ts'
import { test as base, type HttpReply, type Service, startNewContainers, USERS } from '../../support/service.ts'
import { openAsyncVault, openLagoonVault, openYieldVault } from '../../support/vaults.ts'
import type { RecordingProxy } from '../../support/wire.ts'

const LIST = '/defi-vaults/v1/vaults'
const [USER] = USERS

/**
 * Documented names of the values that every vault has in the list. Values of particular kinds of vaults follow below.
 */
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
  'protocol',
  'description',
  'APY',
  'annualYield',
  'annualYields',
  'growth',
  'asset',
  'shareDecimals',
  'totalAssets',
  'terms',
  'totalAssetsUsd',
  'hasChanged',
  'pinnedAt',
  'rewards',
  'stateAsOf',
]
const ASYNC_VAULTS = ['curatorAddress', 'valuationManager', 'vaultState']

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

/** Storage words that are no valid bool, no valid address and no valid text. */
const [TWO, ONES, WORD] = [numberToHex(2, { size: 32 }), `0x${'f'.repeat(64)}`, stringToHex('MKR', { size: 32 })]
const VIEWS = [['totalAssets()', 'totalAssets']] as const
const STATE_VIEWS = [
  ...VIEWS,
  ['totalSupply()', 'totalSupply'],
  ['convertToAssets(uint256)', 'sharePrice'],
  ['symbol()', 'symbol', ONES, WORD],
] as const
const LAGOON_VIEWS = [
  ...STATE_VIEWS,
  ['owner()', 'owner', ONES],
  ['paused()', 'paused', TWO],
  ['isTotalAssetsValid()', 'isTotalAssetsValid', TWO],
] as const
type Opened = { readonly key: string; readonly address: Address; readonly chain: Pick<Chain, 'chainId'> }
type Views = readonly (readonly [view: string, field: string, ...others: string[]])[]
const OPENED: readonly (readonly [protocol: string, open: (service: Service) => Promise<Opened>, Views])[] = [
  ['erc4626', (service) => openYieldVault(service), VIEWS],
  ['erc7540', (service) => openAsyncVault(service, { make: 'counted' }), STATE_VIEWS],
  ['lagoon', (service) => openLagoonVault(service, { generation: '0.6' }), LAGOON_VIEWS],
]

// biome-ignore lint/suspicious/noExplicitAny: tests look into replies freely
type Listed = Record<string, any>
type Chain = Service['backends']['chains'][number]

const test = base
  .extend('chain', ({ service }) => service.backends.chains[0] as Chain)
  .extend('usdc', ({ chain }) => chain.tokens.find(({ symbol }) => symbol === 'USDC')?.address as Address)
  .extend('list', ({ service }) => async (key: string = service.apiKey): Promise<Listed[]> => {
    // The clock advances until cached reads expire, so that the list shows the chain's current state.
    service.pass(0.5)
    const { status, body } = await service.call('GET', LIST, { key })
    expect(status).toBe(200)
    const { data, evidence, ...page } = body
    expect(evidence.length).toBeGreaterThan(0)
    expect(page).toEqual({ success: true, totalRecords: data.length, hasMore: false, nextCursor: null })
    return body.data
  })
  .extend('listOf', ({ service, list }) => async (chain: Chain, address: Address): Promise<Listed> => {
    const [vault] = await list(await service.createClient([{ chainId: chain.chainId, address }]))
    return vault as Listed
  })

async function act(chain: Chain, ...of: Parameters<typeof buildTransaction>): Promise<void> {
  await transact(chain, [buildTransaction(...of)])
}

describe('The list', () => {
  test('has every vault of the client with its live state, in a stable order', async ({ service, list }) => {
    const vaults = await list()
    const places = vaults.map(({ chainId, poolAddress }) => `${chainId} ${poolAddress}`)
    const configured = service.backends.chains.flatMap(({ vaults }) =>
      vaults.map(({ chainId, address }) => `${chainId} ${address}`),
    )
    expect(places.toSorted()).toEqual(configured.toSorted())
    expect((await list()).map(({ chainId, poolAddress }) => `${chainId} ${poolAddress}`)).toEqual(places)
  })

  test('gives a vault exactly the fields of the interface, and async vaults their own fields too', async ({ list }) => {
    const vaults = await list()
    expect(new Set(vaults.map(({ type }) => type))).toEqual(new Set(['async', 'sync']))
    for (const vault of vaults) {
      const expected = vault['type'] === 'async' ? [...EVERY_VAULT, ...ASYNC_VAULTS] : EVERY_VAULT
      expect(Object.keys(vault).toSorted()).toEqual(expected.toSorted())
      expect(vault['APY']).toMatch(/^-?\d+\.\d{2}$/)
      expect(vault['logo_url']).toBe('')
    }
  })

  test('gives a Lagoon vault the complete live state', async ({ list }) => {
    for (const { vaultState, stateAsOf } of (await list()).filter(({ protocol }) => protocol === 'lagoon')) {
      expect(vaultState).toEqual({ ...STATE, missing: [] })
      expect(stateAsOf).toEqual({
        blockNumber: expect.any(Number),
        timestamp: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
        stale: false,
      })
    }
  })

  test('gives every vault, also a synchronous one, its asset, decimals, total and block', async ({ service, list }) => {
    for (const vault of await list()) {
      const chain = service.backends.chains.find(({ chainId }) => chainId === vault['chainId'])
      const address = vault['poolAddress'] as Address
      const token = chain?.tokens.find((one) => one.address === vault['depositTokenAddress'])
      const client = createClient({ transport: http(chain?.rpcUrl) })
      const read = (functionName: 'totalAssets' | 'decimals', of = address) =>
        readContract(client, { address: of, abi: VAULT_ABI, functionName })
      expect(vault).toMatchObject({
        asset: { symbol: token?.symbol, decimals: token?.decimals },
        shareDecimals: await read('decimals', vault['yieldTokenAddress']),
        totalAssets: String(await read('totalAssets')),
        stateAsOf: { stale: false, blockNumber: expect.any(Number) },
      })
    }
  })

  test("gives each Lagoon vault its contract's values", async ({ service, list }) => {
    for (const vault of (await list()).filter(({ protocol }) => protocol === 'lagoon')) {
      const chain = service.backends.chains.find(({ chainId }) => chainId === vault['chainId'])
      const client = createClient({ transport: http(chain?.rpcUrl) })
      const address = vault['poolAddress'] as Address
      const state = vault['vaultState']
      const [symbol, decimals, totalAssets, totalSupply, owner] = await Promise.all(
        (['symbol', 'decimals', 'totalAssets', 'totalSupply', 'owner'] as const).map((functionName) =>
          readContract(client, { address, abi: VAULT_ABI, functionName }),
        ),
      )
      const convertToAssets = {
        address,
        abi: VAULT_ABI,
        functionName: 'convertToAssets',
        args: [10n ** BigInt(Number(decimals))],
      } as const
      const sharePrice = await readContract(client, convertToAssets)
      const silo = [state.pendingSilo] as const
      const pendingRedeems = await readContract(client, {
        address,
        abi: VAULT_ABI,
        functionName: 'balanceOf',
        args: silo,
      })
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

    await settleRequests(chain, vault)
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

  test('shows whether a vault currently has a cap', async ({ chain, usdc, listOf }) => {
    const sync = await deployYieldVault(chain, { asset: usdc, name: 'Capped', symbol: 'CAP' })
    const async = await deployLagoonVault(chain, { generation: '0.6', asset: usdc, name: 'Capped', symbol: 'CAP' })
    expect([(await listOf(chain, sync))['MaxCap'], (await listOf(chain, async))['MaxCap']]).toEqual([false, false])
    await act(chain, ACCOUNTS.admin.address, sync, 'setDepositCap', [5_000_000n])
    await act(chain, ACCOUNTS.safe.address, async, 'updateMaxCap', [5_000_000n])
    expect([(await listOf(chain, sync))['MaxCap'], (await listOf(chain, async))['MaxCap']]).toEqual([true, true])
  })

  test('names the missing values of a broken vault, without zeros, and shows the others completely', async ({
    service,
    chain,
    // The test needs new containers, because a container caches the code at an address for its lifetime.
    coldService,
  }) => {
    const [broken] = chain.vaults
    const configured = service.backends.chains.flatMap(({ vaults }) => vaults)
    const [snapshot] = await callRpc(chain, [{ method: 'evm_snapshot', params: [] }])
    await callRpc(chain, [{ method: 'anvil_setCode', params: [broken?.address, '0x5f5ffd'] }])
    const vaults: Listed[] = (await coldService.call('GET', LIST)).body.data
    await callRpc(chain, [{ method: 'evm_revert', params: [snapshot] }])

    expect(vaults).toHaveLength(configured.length)
    const state = vaults.find(({ poolAddress }) => poolAddress === broken?.address)?.['vaultState']
    expect(state.missing).toEqual(
      expect.arrayContaining(['totalAssets', 'totalSupply', 'sharePrice', 'paused', 'pendingDeposits']),
    )
    for (const name of state.missing) expect(state).toHaveProperty(name, null)
    const others = vaults.filter(({ poolAddress, type }) => poolAddress !== broken?.address && type === 'async')
    for (const { vaultState } of others) expect(vaultState.missing).toEqual([])
  })

  test.for(OPENED)(
    'names a view that reverts or returns another type, and shows the rest: %s',
    async ([, open, views], { service }) => {
      const { key, address, chain } = await open(service)
      const wire = service.rpc[chain.chainId] as RecordingProxy
      const read = async () => {
        service.pass(0.5)
        const [{ body: list }, { body: vault }] = [
          await service.call('GET', LIST, { key }),
          await service.call('GET', `/defi-vaults/v1/vault/${address}`, { key }),
        ]
        const { evidence: _, ...listed } = vault
        expect(list.data).toEqual([listed])
        const { vaultState, totalAssets } = listed
        return vaultState ?? { totalAssets, missing: totalAssets === null ? ['totalAssets'] : [] }
      }
      const whole = await read()
      expect(whole.missing).toEqual([])
      for (const [view, field, ...others] of views) {
        for (const other of ['0x', '0x01', ...others]) {
          const isView = (selector: string) => selector === toFunctionSelector(`function ${view}`)
          rewriteResults(
            wire,
            createReturnDataChange((data, selector) => (isView(selector) ? other : data)),
          )
          expect(await read(), `${view}: ${other}`).toEqual({ ...whole, [field]: null, missing: [field] })
        }
      }
    },
  )

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

describe('Pages and filters', () => {
  const placesOf = (vaults: Listed[]) => vaults.map(({ chainId, poolAddress }) => `${chainId} ${poolAddress}`)
  const ask = async (service: Service, query: Record<string, unknown>, key = service.apiKey) => {
    service.pass(0.5)
    return await service.call('GET', `${LIST}?${new URLSearchParams(query as Record<string, string>)}`, { key })
  }

  test.for([1, 2, 3, 100])('of %d vaults make up the list, in its order', async (limit, { service, list }) => {
    const all = placesOf(await list())
    const pages: string[][] = []
    let cursor: string | null = null
    do {
      const { status, body } = await ask(service, { limit, ...(cursor && { cursor }) })
      expect(status).toBe(200)
      expect(body).toMatchObject({ totalRecords: all.length, hasMore: body.nextCursor !== null })
      pages.push(placesOf(body.data))
      cursor = body.nextCursor
    } while (cursor !== null)
    expect(pages.flat()).toEqual(all)
    expect(pages.length).toBe(Math.ceil(all.length / limit))
  })

  test('show only vaults that match all filters, and read no other chain', async ({ service, list }) => {
    const all = await list()
    const { chainId, depositTokenAddress: asset } = all[0] as Listed
    for (const [filters, isMeant] of [
      [{ chainId }, (vault: Listed) => vault['chainId'] === chainId],
      [{ asset }, (vault: Listed) => vault['depositTokenAddress'] === asset],
      [{ asset: asset.toLowerCase() }, (vault: Listed) => vault['depositTokenAddress'] === asset],
      [{ type: 'sync' }, ({ type }: Listed) => type === 'sync'],
      [{ type: 'async', chainId: 8453 }, ({ type, chainId }: Listed) => type === 'async' && chainId === 8453],
      [{ chainId: 1 }, () => false],
    ] as const) {
      for (const wire of Object.values(service.rpc)) wire.reset()
      const { status, body } = await ask(service, filters)
      const meant = all.filter(isMeant)
      expect({ status, places: placesOf(body.data), totalRecords: body.totalRecords }).toEqual({
        status: 200,
        places: placesOf(meant),
        totalRecords: meant.length,
      })
      const chainIds = Object.keys(service.rpc).filter((id) => service.rpc[Number(id)]?.bodies.length === 1)
      expect(new Set(chainIds)).toEqual(new Set(meant.map((vault) => `${vault['chainId']}`)))
    }
  })

  test('continue after a vault that was removed in between', async ({ service, coldService, list }) => {
    const places = (await list()).map(({ chainId, poolAddress }) => ({ chainId, address: poolAddress as Address }))
    const key = await service.createClient(places)
    const [first, ...others] = places
    const { body } = await ask(service, { limit: 1 }, key)
    expect(placesOf(body.data)).toEqual([`${first?.chainId} ${first?.address}`])
    const { clients } = service.backends.admin
    if (first) await clients.removeVault(key.split('_')[2] as string, first)
    const next = await ask(coldService, { limit: 100, cursor: body.nextCursor }, key)
    expect(placesOf(next.body.data)).toEqual(others.map(({ chainId, address }) => `${chainId} ${address}`))
    expect(next.body.totalRecords).toBe(others.length)
  })

  test('refuse a cursor of other filters, of another client, and an invalid one', async ({ service, list }) => {
    const places = (await list()).map(({ chainId, poolAddress }) => ({ chainId, address: poolAddress as Address }))
    const { nextCursor: cursor } = (await ask(service, { limit: 1 })).body
    const another = await service.createClient(places)
    for (const reply of [
      await ask(service, { limit: 1, cursor, chainId: 8453 }),
      await ask(service, { limit: 1, cursor }, another),
      await ask(service, { cursor: 'x' }),
    ]) {
      expectError(reply, 'invalid_cursor')
    }
  })

  test.for([
    [{ limit: 0 }, 'invalid_limit'],
    [{ limit: 101 }, 'invalid_limit'],
    [{ chainId: 5 }, 'missing_or_invalid_chain_id'],
    [{ asset: '0x1' }, 'invalid_asset'],
    [{ type: 'Sync' }, 'invalid_type'],
    [{ sort: 'apy' }, 'invalid_sort'],
    [{ order: 'down' }, 'invalid_order'],
    [{ minTotalAssetsUsd: '-1' }, 'invalid_min_total_assets_usd'],
    [{ minTotalAssetsUsd: '1e6' }, 'invalid_min_total_assets_usd'],
    [{ minTotalAssetsUsd: '' }, 'invalid_min_total_assets_usd'],
  ] as const)('refuse %j', async ([query, code], { service }) => {
    expectError(await ask(service, query), code, Object.keys(query))
    expect(Object.values(service.rpc).map(({ bodies }) => bodies.length)).toEqual([0, 0])
  })
})

describe('The value in US dollars', () => {
  const AT = Date.now()

  async function putPrices(service: Service, base: number | undefined, arbitrum: number | undefined) {
    const cache = sharedCache({ table: cacheStore(service.tables.cache), now: Date.now })
    for (const { chainId, tokens } of service.backends.chains) {
      const now = chainId === 8453 ? base : arbitrum
      const prices = tokens.map(({ address }) =>
        now === undefined ? [] : [[address, { now, dayAgo: null, at: AT }] as const],
      )
      await cache.put(pricesKey(evmChain(chainId)?.key ?? ''), Object.fromEntries(prices.flat()))
    }
    service.pass(61)
  }
  const ask = async (service: Service, query: Record<string, string> = {}): Promise<HttpReply['body']> => {
    service.pass(0.5)
    const { status, body } = await service.call('GET', `${LIST}?${new URLSearchParams(query)}`)
    expect(status).toBe(200)
    return body
  }
  /**
   * Returns the value of the vault's assets in dollars. Floating point is exact enough for the amounts of this test.
   */
  const usdOf = ({ totalAssets, asset }: Listed, price: number) => (Number(totalAssets) / 10 ** asset.decimals) * price

  test('is the total assets at the asset price, in list and single vault, and null without a price', async ({
    service,
  }) => {
    await putPrices(service, 1.25, undefined)
    const { data } = await ask(service)
    expect(new Set(data.map(({ chainId }: Listed) => chainId))).toEqual(new Set([8453, 42161]))
    for (const vault of data) {
      const expected = vault.chainId === 8453 ? expect.closeTo(usdOf(vault, 1.25), 6) : null
      expect(vault.totalAssetsUsd).toEqual(expected)
      const path = `/defi-vaults/v1/vault/${vault.poolAddress}?chainId=${vault.chainId}`
      expect((await service.call('GET', path)).body.totalAssetsUsd).toBe(vault.totalAssetsUsd)
    }
    expect(data.some(({ totalAssetsUsd }: Listed) => totalAssetsUsd > 0)).toBe(true)
  })

  test('is null in a complete list while prices cannot be read or take longer than a second', async ({
    coldService: service,
  }) => {
    await putPrices(service, 1, 1)
    const isOfPrices = ({ body }: { readonly body: string }) => body.includes('prices#')
    service.table.fails = isOfPrices
    const failed = await ask(service)
    service.table.reset()
    const { promise, resolve } = Promise.withResolvers<void>()
    service.table.hold = (tried) => (isOfPrices(tried) ? promise : undefined)
    const begun = performance.now()
    const slow = await ask(service)
    expect(performance.now() - begun).toBeLessThan(2_500)
    resolve()
    for (const { data } of [failed, slow]) {
      expect(data.length).toBeGreaterThan(1)
      for (const { totalAssetsUsd, stateAsOf } of data) {
        expect({ totalAssetsUsd, stateAsOf }).toMatchObject({ totalAssetsUsd: null, stateAsOf: { stale: false } })
      }
    }
  })

  test('sorts the list, unknown values last in either order, and filters by the minimum', async ({ service }) => {
    await putPrices(service, 2, undefined)
    const { data: unsorted } = await ask(service)
    const values = (body: { data: Listed[] }) => body.data.map(({ totalAssetsUsd }) => totalAssetsUsd)
    const numbers = values({ data: unsorted }).filter((value) => value !== null)
    const unknown = values({ data: unsorted }).filter((value) => value === null)
    const descending = numbers.toSorted((left, right) => right - left)
    expect(values(await ask(service, { sort: 'totalAssetsUsd' }))).toEqual([...descending, ...unknown])
    const ascending = await ask(service, { sort: 'totalAssetsUsd', order: 'asc' })
    expect(values(ascending)).toEqual([...descending.toReversed(), ...unknown])
    const minTotalAssetsUsd = `${descending[1]}`
    const least = await ask(service, { minTotalAssetsUsd })
    expect(least.data.map(({ poolId }: Listed) => poolId)).toEqual(
      unsorted
        .filter(({ totalAssetsUsd }: Listed) => totalAssetsUsd >= descending[1])
        .map(({ poolId }: Listed) => poolId),
    )
    expect(least.totalRecords).toBe(least.data.length)
    expect((await ask(service, { minTotalAssetsUsd: '0' })).data).toHaveLength(numbers.length)
  })

  test('can move between two pages, and each vault still appears once', async ({ service }) => {
    await putPrices(service, 2, 1)
    const all = (await ask(service)).data.map(({ poolId }: Listed) => poolId)
    const poolIds: string[] = []
    let cursor: string | null = null
    for (let number = 0; number === 0 || cursor !== null; number += 1) {
      const page: HttpReply['body'] = await ask(service, {
        ...{ sort: 'totalAssetsUsd', limit: '3' },
        ...(cursor !== null && { cursor }),
      })
      expect(page.totalRecords).toBe(all.length)
      poolIds.push(...page.data.map(({ poolId }: Listed) => poolId))
      cursor = page.nextCursor
      // The new prices reverse the order of the vaults, so the last vault becomes the first.
      await putPrices(service, number % 2 === 0 ? 0.001 : 2, number % 2 === 0 ? 1000 : 1)
    }
    expect(poolIds.toSorted()).toEqual(all.toSorted())
  })

  test('does not affect a list by name, which reads the chains only for its page', async ({ service }) => {
    const names = (await ask(service)).data.map(({ name }: Listed) => name)
    const { compare } = new Intl.Collator('en')
    const up = await ask(service, { sort: 'name' })
    expect(up.data.map(({ name }: Listed) => name)).toEqual(names.toSorted(compare))
    const down = await ask(service, { sort: 'name', order: 'desc' })
    expect(down.data.map(({ name }: Listed) => name)).toEqual(names.toSorted(compare).toReversed())
    for (const wire of Object.values(service.rpc)) wire.reset()
    const { data } = await ask(service, { sort: 'name', limit: '1' })
    expect(Object.values(service.rpc).filter(({ bodies }) => bodies.length > 0)).toHaveLength(1)
    expect(data).toMatchObject([{ name: up.data[0].name }])
  })
})

describe('One vault', () => {
  const pathOf = (address: unknown) => `/defi-vaults/v1/vault/${address}`

  test('is shown as in the list', async ({ service, list }) => {
    const changing = {
      ...{ stateAsOf: expect.anything(), vaultState: expect.anything(), growth: expect.anything() },
      // The list and the single vault may differ in these values, because each caches them for a minute.
      ...{ hasChanged: null, pinnedAt: null },
    }
    for (const vault of await list()) {
      const { status, body } = await service.call('GET', `${pathOf(vault['poolAddress'])}?chainId=${vault['chainId']}`)
      expect({ status, body: { ...body, ...changing } }).toEqual({
        status: 200,
        body: { ...vault, ...changing, evidence: [expect.objectContaining({ chainId: vault['chainId'], nodes: 1 })] },
      })
    }
  })

  test('of another client, or on another chain, is not found', async ({ service, list }) => {
    const [vault] = await list()
    const path = pathOf(vault?.['poolAddress'])
    expectError(await service.call('GET', `${path}?chainId=1`), 'vault_not_found')
    expectError(await service.call('GET', path, { key: await service.createClient([]) }), 'vault_not_found')
    expectError(await service.call('GET', pathOf('x')), 'missing_or_invalid_vault_address', ['vaultAddress'])
  })
})

describe('The APY', () => {
  const DAY = 86_400

  /** Past share prices: the age in seconds, and the price in thousandths of the current price. */
  type Past = readonly (readonly [secondsAgo: number, thousandths: bigint])[]

  async function listWithPast(service: Service, chain: Chain, past: Past) {
    const vaults = [await openLagoonVault(service, { generation: '0.5' }), await openYieldVault(service)]
    const places = vaults.map(({ address }) => ({ chainId: chain.chainId, address }))
    const key = await service.createClient(places)
    const listed = async (from: Service): Promise<Listed[]> => (await from.call('GET', LIST, { key })).body.data

    // The current price is one unit of the asset per share, because both vaults are new.
    const recorded = places.map((place) =>
      recordPrices(
        service,
        place,
        past.map(([secondsAgo, thousandths]) => ({
          price: (10n ** 6n * thousandths) / 1000n,
          timestamp: BigInt(Math.floor(Date.now() / 1000) - secondsAgo),
        })),
      ),
    )
    await Promise.all(recorded)
    await recordAllBlocks(chain)
    const listAnew = async (): Promise<Listed[]> => {
      const { service: anew, stop } = await startNewContainers(service)
      return await listed(anew).finally(stop)
    }
    const list = await listAnew()
    expect(list).toHaveLength(vaults.length)
    // The yield must be computed from the share price at the time that `stateAsOf` shows.
    for (const { APY, annualYield, growth, stateAsOf } of list) {
      expect(annualYield ?? growth).toMatchObject({ to: stateAsOf.timestamp })
      expect(APY).toBe(annualYield?.percent ?? '0.00')
    }
    return { vaults: list, listAnew }
  }

  const annual = (growth: number, seconds: number) => (growth ** ((365 * DAY) / seconds) - 1) * 100

  test('is the annualized change of the share price since about seven days ago', async ({ service, chain }) => {
    const { vaults } = await listWithPast(service, chain, [
      [9 * DAY, 900n],
      // The yield begins at this price, which must be eight days old at the newest block. That block may be a minute
      // older than this machine's clock, so the price is another minute older.
      [8 * DAY + 60, 1003n],
      [6 * DAY, 1100n],
    ])
    for (const { APY, annualYield } of vaults) {
      expect(APY).toMatch(/^-?\d+\.\d{2}$/)
      expect(Math.abs(Number(APY) - annual(1000 / 1003, annualYield.days * DAY))).toBeLessThan(0.02)
    }
    for (const { annualYield, annualYields, growth } of vaults) {
      expect(annualYield.days).toBeCloseTo(8, 1)
      expect(annualYields).toEqual({ '7d': annualYield, '30d': null, '90d': null })
      expect(growth).toBeNull()
    }
  })

  test('is replaced by the growth since the first price for a vault younger than seven days', async ({
    service,
    chain,
  }) => {
    const { vaults } = await listWithPast(service, chain, [
      [2 * DAY, 999n],
      [DAY, 1100n],
    ])
    for (const { APY, annualYield, growth } of vaults) {
      expect([APY, annualYield]).toEqual(['0.00', null])
      expect(growth).toMatchObject({ percent: '0.10' })
      expect(growth.days).toBeCloseTo(2, 1)
    }
  })

  test('stays that of the last recorded price, with its time, while the chain cannot be read', async ({
    service,
    chain,
    clock,
  }) => {
    const { vaults, listAnew } = await listWithPast(service, chain, [[8 * DAY + 60, 998n]])
    clock.pass(2 * DAY)
    for (const wire of Object.values(service.rpc)) wire.behaviour = 'answer 500'
    for (const [index, stale] of (await listAnew()).entries()) {
      const { APY, annualYield, totalAssets, stateAsOf } = vaults[index] as Listed
      expect(APY).not.toBe('0.00')
      expect(stale).toMatchObject({ APY, annualYield, totalAssets, stateAsOf: { ...stateAsOf, stale: true } })
    }
  })

  test('is 0.00 for a vault with a fee and a constant price, whatever is traded', async ({ service, chain }) => {
    const vault = await openYieldVault(service, { make: 'exitFee' })
    const owner = USER.address
    await vault.mint(owner, vault.units('1000'))
    await vault.approve(owner, vault.units('1000'))
    await vault.act(owner, 'deposit', vault.units('1000'), owner)
    await vault.act(owner, 'withdraw', vault.units('500'), owner, owner)
    await recordAllBlocks(chain)
    const place = { chainId: chain.chainId, address: vault.address }
    const path = `/defi-vaults/v1/defi/vault/${vault.address}/history`
    const { body } = await service.call('GET', path, { key: vault.key })
    expect(body.history.length).toBeGreaterThan(0)
    for (const { sharePrice } of body.history) expect(sharePrice).toBe('1000000')
    await recordPrices(service, place, [
      { price: 1_000_000n, timestamp: BigInt(Math.floor(Date.now() / 1000) - 100 * DAY) },
    ])
    const { service: anew, stop } = await startNewContainers(service)
    const [listed] = (await anew.call('GET', LIST, { key: vault.key }).finally(stop)).body.data
    expect(listed).toMatchObject({ APY: '0.00', annualYield: { percent: '0.00' } })
    for (const one of Object.values<{ percent: string }>(listed.annualYields)) expect(one.percent).toBe('0.00')
  })

  test('costs no extra request to a chain', async ({ service, list }) => {
    await list()
    for (const wire of Object.values(service.rpc)) wire.reset()
    await list()
    expect(Object.values(service.rpc).map(({ bodies }) => bodies.length)).toEqual([1, 1])
  })

  test('is 0.00 and unknown if the records cannot be read, and the list is still complete', async ({
    coldService: service,
  }) => {
    service.table.fails = ({ body }) => body.includes('PROGRESS')
    const { status, body } = await service.call('GET', LIST)
    expect(status).toBe(200)
    expect(service.table.tries.map(({ body }) => body).join()).toContain('PROGRESS')
    for (const { APY, annualYield, growth, stateAsOf } of body.data) {
      expect([APY, annualYield, growth]).toEqual(['0.00', null, null])
      expect(stateAsOf.stale).toBe(false)
    }
  })

  test('is 0.00 and unknown if no price is recorded yet', async ({ list, service, usdc, chain }) => {
    const address = await deployYieldVault(chain, { asset: usdc, name: 'Young', symbol: 'Y' })
    const [vault] = await list(await service.createClient([{ chainId: chain.chainId, address }]))
    expect(vault).toMatchObject({ APY: '0.00', annualYield: null, growth: null })
  })
})
