import { type Address, getAddress, numberToHex, toFunctionSelector } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { describe, expect, onTestFinished } from 'vitest'
import { usersStore } from '../../../lib/accounts/store.ts'
import { sharedCache } from '../../../lib/cache/cache.ts'
import { cacheStore } from '../../../lib/cache/store.ts'
import { CHAINS, evmChain } from '../../../lib/chain/registry.ts'
import { parseApiKey } from '../../../lib/clients/api-key.ts'
import { EXCHANGE_RATES_KEY, pricesKey, tokensKey } from '../../../lib/markets/cache-keys.ts'
import type { ListedToken } from '../../../lib/markets/coin.ts'
import { WELL_KNOWN_TOKENS } from '../../../lib/markets/well-known-tokens.ts'
import { ACCOUNTS, SOLANA_WALLET } from '../../../sandbox/accounts.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { createSession } from '../../support/accounts.ts'
import { createReturnDataChange, rewriteResults } from '../../support/chain-answers.ts'
import { expectError } from '../../support/errors.ts'
import { encodeCall } from '../../support/oracles.ts'
import { test as base, type HttpReply, type Service, startNewContainers, USERS } from '../../support/service.ts'
import { linkEvm, linkSolana } from '../../support/wallets.ts'
import { listRpcCalls, type RecordingProxy } from '../../support/wire.ts'

const PATH = '/portfolio-indexor/allBalances'
const [ALICE, BOB, CAROL, DAVE] = USERS
const BASE = 8453
const KEYS = CHAINS.map(({ key }) => key)
const EVM_KEYS = CHAINS.filter(({ kind }) => kind === 'evm').map(({ key }) => key)
const NATIVE = '0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE'
const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const AT = Date.parse('2026-06-01T12:00:00.000Z')

type Session = Awaited<ReturnType<typeof createSession>>
type Entry = { readonly contract_address: string; readonly contract_ticker_symbol: string; readonly balance: string }

const test = base
  .extend('session', async ({ service }) => {
    // Tests use the same wallets. Balances are cached for each wallet, so they must be deleted before each test.
    const wallets = [...USERS, SOLANA_WALLET, ACCOUNTS.anchor, ACCOUNTS.relayer]
    await service.tables.cache.deleteMany(wallets.map(({ address }) => ({ pk: `balances#${address}`, sk: 'ANSWER' })))
    return createSession(service)
  })
  .extend('cache', { scope: 'file' }, ({ sharedService: { tables } }) =>
    sharedCache({ table: cacheStore(tables.cache), now: Date.now }),
  )
  .extend('lists', { auto: true, scope: 'file' }, async ({ cache, sharedService }) => {
    for (const key of KEYS) await cache.put(tokensKey(key), wellKnown(key))
    for (const { tokens, chainId } of sharedService.backends.chains) {
      const chain = evmChain(chainId)?.key ?? ''
      const native = wellKnown(chain).filter(({ address }) => address === 'native')
      const listed = tokens.map((token) => ({ ...token, chain, coinKey: '', logoUrl: '', coinGeckoId: '' }))
      await cache.put(tokensKey(chain), [...native, ...listed])
    }
  })
  .extend('prices', { scope: 'file' }, async ({ cache, sharedService }) => {
    const [chain] = sharedService.backends.chains
    for (const key of KEYS) await cache.put(pricesKey(key), {})
    const unlisted = (chain?.unlisted ?? []).map(({ address }) => [address, { now: 1, dayAgo: 1, at: AT }] as const)
    await cache.put(pricesKey('base-mainnet'), {
      // Unlisted tokens have a price too. The service must hide them nevertheless.
      ...Object.fromEntries(unlisted),
      native: { now: 3000, dayAgo: 2500, at: AT },
      [USDC]: { now: 1, dayAgo: 1, at: AT },
    })
    await cache.put(pricesKey('solana-mainnet'), { native: { now: 140, dayAgo: null, at: AT } })
    await cache.put(EXCHANGE_RATES_KEY, { usd: { now: 1, dayAgo: 1 }, eur: { now: 0.8, dayAgo: 0.75 } })
  })

function balancesOf(service: Service, { headers }: Pick<Session, 'headers'>, query = ''): Promise<HttpReply> {
  return service.call('GET', `${PATH}${query}`, { headers })
}

/**
 * Returns the table requests for the user. Quota leases of the API key and the hourly write of Solana's rent serve
 * all users, so they are excluded.
 */
function requestsOf({ table }: Service) {
  return table.tries.filter(
    ({ action, body }) => !body.includes('rate#') && !(action === 'PutItem' && body.includes('rent#')),
  )
}

function entry({ body }: HttpReply, chain: string, symbol: string): Entry {
  const matches = body.tokens[chain].filter((one: Entry) => one.contract_ticker_symbol === symbol)
  expect(matches).toHaveLength(1)
  return matches[0]
}

function wellKnown(key: string): ListedToken[] {
  return WELL_KNOWN_TOKENS.filter(({ chain }) => chain === key)
}

function someToken(chain: string, index: number): ListedToken {
  const address = getAddress(numberToHex(0x70ce0000 + index, { size: 20 }))
  const words = { symbol: `T${index}`, name: `Token ${index}`, coinKey: '', logoUrl: '', coinGeckoId: '' }
  return { chain, address, decimals: 18, ...words }
}

function baseOf({ backends }: Service) {
  const chain = backends.chains.find(({ chainId }) => chainId === BASE)
  if (!chain) throw new Error('There is no Base.')
  return chain
}

async function withOneVault(service: Service): Promise<Service> {
  const key = await service.createClient(baseOf(service).vaults.slice(0, 1))
  return { ...service, call: (method, path, options = {}) => service.call(method, path, { key, ...options }) }
}

async function transfer(service: Service, from: Address, to: Address, amount: bigint): Promise<void> {
  const chain = baseOf(service)
  const data = encodeCall('transfer', [to, amount])
  await callRpc(chain, [{ method: 'eth_sendTransaction', params: [{ from, to: USDC, data }] }])
  await callRpc(chain, [{ method: 'evm_mine', params: [] }])
}

function cutOff({ backends }: Service, chains: readonly { readonly id: number }[]): void {
  const dead: [string] = ['http://127.0.0.1:9']
  const alive = Object.fromEntries(backends.chains.map(({ chainId, rpcUrl }) => [chainId, [rpcUrl] as [string]]))
  backends.setRpcUrls({ ...alive, ...Object.fromEntries(chains.map(({ id }) => [id, dead])) })
}

describe('The balance of a user', () => {
  test('is empty without wallets', async ({ service, session }) => {
    const { status, body } = await balancesOf(service, session)
    expect(status).toBe(200)
    expect(body).toEqual({
      addresses: [],
      tokens: Object.fromEntries(KEYS.map((key) => [key, []])),
      kyc: { status: 'none' },
      smartgaz: 0,
      smartgaz_available: true,
      solana_rent: 0.00065024,
      updated_at: {},
    })
  })

  test('covers every chain of each wallet', async ({ service, session, prices: _ }) => {
    await linkEvm(service, session, ALICE)
    await linkSolana(service, session)
    const reply = await balancesOf(service, session)
    expect(reply.status).toBe(200)
    const { addresses, tokens, updated_at, errors } = reply.body
    expect(errors).toBeUndefined()
    expect(Object.keys(tokens).sort()).toEqual(KEYS.toSorted())
    expect(Object.keys(updated_at).sort()).toEqual(KEYS.toSorted())
    expect(addresses).toHaveLength(KEYS.length)
    expect(addresses).toEqual(
      expect.arrayContaining([
        ...EVM_KEYS.map((chain) => ({ address: ALICE.address, chain })),
        { address: SOLANA_WALLET.address, chain: 'solana-mainnet' },
      ]),
    )
    // The response lists the chain's native coin even for an empty wallet.
    expect(tokens['gnosis-mainnet']).toMatchObject([
      { contract_ticker_symbol: 'xDAI', contract_address: NATIVE, native_token: true, balance: '0' },
    ])
    expect(entry(reply, 'base-mainnet', 'USDC')).toEqual({
      balance: '1000000000000',
      contract_address: USDC,
      contract_decimals: 6,
      contract_name: 'USD Coin',
      contract_ticker_symbol: 'USDC',
      is_spam: false,
      quote: 1_000_000,
      chainName: 'base-mainnet',
      logo_url: '',
      quote_24h: 1_000_000,
      quote_24h_variation: 0,
      quote_rate: 1,
      quote_rate_24h: 1,
      quote_rate_24h_variation: 0,
      native_token: false,
      defi: false,
      price_available: true,
      price_updated_at: '2026-06-01T12:00:00.000Z',
    })
    expect(entry(reply, 'base-mainnet', 'ETH')).toMatchObject({
      native_token: true,
      quote_rate: 3000,
      quote_rate_24h: 2500,
      quote_24h_variation: 20,
    })
    // The service has no price for tokens of Arbitrum.
    expect(entry(reply, 'arbitrum-mainnet', 'USDC')).toMatchObject({
      balance: '1000000000000',
      quote: 0,
      price_available: false,
      price_updated_at: null,
    })
  })

  test("is converted to another currency, yesterday's value at yesterday's rate", async ({
    service,
    session,
    prices: _,
  }) => {
    await linkEvm(service, session, ALICE)
    const reply = await balancesOf(service, session, '?currency=EUR')
    expect(entry(reply, 'base-mainnet', 'USDC')).toMatchObject({
      quote: 800_000,
      quote_24h: 750_000,
      quote_rate: 0.8,
      quote_rate_24h: 0.75,
      quote_rate_24h_variation: expect.closeTo(6.6666667, 5),
    })
  })

  test('reports that it has no value in a currency without a rate', async ({ service, session, prices: _ }) => {
    await linkEvm(service, session, ALICE)
    const reply = await balancesOf(service, session, '?currency=sats')
    expect(reply.status).toBe(200)
    expect(entry(reply, 'base-mainnet', 'USDC')).toMatchObject({ quote: 0, price_available: false })
    expect(reply.body.smartgaz_available).toBe(false)
  })

  test("contains shares of the client's vaults, valued at their part of the asset", async ({
    service,
    session,
    prices: _,
  }) => {
    const onBase = service.backends.chains.flatMap(({ vaults }) => vaults).filter(({ chainId }) => chainId === BASE)
    // Vaults other than ERC-7540 vaults are their own share tokens.
    const vaults = onBase.filter(({ protocol }) => protocol !== 'erc7540')
    // GoldRush's list of a wallet's tokens also contains share tokens of vaults.
    const { goldRush } = service.backends.providers
    const rows = vaults.map(({ address }) => ({ contract_address: address, contract_decimals: 6, balance: '1' }))
    goldRush.rewrite = () => ({ status: 200, body: { error: false, data: { items: rows } } })
    await linkEvm(service, session, ACCOUNTS.anchor)
    const reply = await balancesOf(service, session)
    goldRush.rewrite = undefined
    expect(reply.body.tokens['base-mainnet'].filter(({ balance }: Entry) => balance === '1')).toEqual([])
    const shares = reply.body.tokens['base-mainnet'].filter(({ defi }: { defi: boolean }) => defi)
    expect(shares).toHaveLength(onBase.length)
    expect(shares.map(({ contract_address }: Entry) => contract_address)).toEqual(
      expect.arrayContaining(vaults.map(({ address }) => address)),
    )
    expect(entry(reply, 'base-mainnet', 'hbUSDC')).toMatchObject({
      contract_name: 'Harbor USDC',
      defi: true,
      // The value is the first deposit of 250,000 dollars plus its gain.
      quote: expect.closeTo(254_125.5, 0),
      quote_rate: expect.closeTo(1.0165, 4),
      price_available: true,
    })
    // The service has no price for the vault's asset, so the share has no value.
    expect(entry(reply, 'base-mainnet', 'mdDAI')).toMatchObject({ defi: true, quote: 0, price_available: false })
  })

  test('contains no vaults of other clients', async ({ service, prices: _ }) => {
    const key = await service.createClient([])
    const other = {
      ...service,
      call: (method: string, path: string, options = {}) => service.call(method, path, { key, ...options }),
    }
    const session = await createSession(other)
    await linkEvm(other, session, ACCOUNTS.anchor)
    const { body } = await balancesOf(other, session)
    expect(body.tokens['base-mainnet'].filter(({ defi }: { defi: boolean }) => defi)).toEqual([])
  })

  test('contains unlisted tokens without a price, and marks likely spam', async ({ service, session, prices: _ }) => {
    await linkEvm(service, session, ALICE)
    const reply = await balancesOf(service, session)
    expect(entry(reply, 'base-mainnet', 'HARBOR')).toMatchObject({
      balance: (1250n * 10n ** 18n).toString(),
      is_spam: false,
      quote: 0,
      price_available: false,
    })
    expect(entry(reply, 'base-mainnet', 'USDC-DROP.XYZ')).toMatchObject({ is_spam: true, price_available: false })
  })

  test('is summed over the wallets', async ({ service, session }) => {
    await linkEvm(service, session, BOB)
    await linkEvm(service, session, CAROL)
    const reply = await balancesOf(service, session)
    expect(entry(reply, 'base-mainnet', 'USDC').balance).toBe('2000000000000')
    expect(entry(reply, 'base-mainnet', 'HARBOR').balance).toBe((2500n * 10n ** 18n).toString())
    expect(reply.body.addresses).toHaveLength(2 * EVM_KEYS.length)
  })

  test('on Solana is SOL and the listed tokens, accounts summed, decimals from the chain', async ({
    service,
    session,
    prices: _,
  }) => {
    await linkSolana(service, session)
    const reply = await balancesOf(service, session)
    expect(reply.body.tokens['solana-mainnet']).toMatchObject([
      { contract_ticker_symbol: 'SOL', native_token: true, balance: '12500000000', quote: 1750, quote_rate_24h: 0 },
      { contract_ticker_symbol: 'USDC', balance: '1250000000', contract_decimals: 6, native_token: false },
      { contract_ticker_symbol: 'USDT', balance: '340250000' },
    ])
    expect(reply.body.tokens['base-mainnet']).toEqual([])
    expect(reply.body.addresses).toEqual([{ address: SOLANA_WALLET.address, chain: 'solana-mainnet' }])
  })

  test('costs no chain request within half a minute, then one per chain plus one read and write of all wallets', async ({
    service,
    session,
    prices: _,
  }) => {
    await linkEvm(service, session, BOB)
    await linkEvm(service, session, CAROL)
    await balancesOf(service, session)
    const costs = async () => {
      for (const wire of [service.table, ...Object.values(service.rpc)]) wire.reset()
      const reply = await balancesOf(service, session)
      const calls = service.backends.chains.map(
        ({ chainId }) => listRpcCalls(service.rpc[chainId] as RecordingProxy).length,
      )
      // Reads of Solana's rent are not counted, because each container makes one per minute for all users.
      const ofUser = requestsOf(service).filter(({ body }) => !body.includes('rent#'))
      return { reply, calls, actions: ofUser.map(({ action }) => action).toSorted() }
    }
    // The cached balances save all chain calls. The table reads are the session, the user, and one batch with the
    // balances of both wallets.
    const read = ['BatchGetItem', 'GetItem', 'GetItem']
    expect(await costs()).toMatchObject({ calls: [0, 0], actions: read })
    const keys = service.table.tries.flatMap(({ body }) => JSON.parse(body).keys ?? []).map(({ pk }) => pk)
    expect(keys.toSorted()).toEqual([`balances#${BOB.address}`, `balances#${CAROL.address}`].toSorted())

    await transfer(service, BOB.address, ALICE.address, 1n)
    service.pass(31)
    const later = await costs()
    expect(later).toMatchObject({ calls: [1, 1], actions: ['BatchGetItem', ...read, 'BatchWriteItem'].toSorted() })
    expect(entry(later.reply, 'base-mainnet', 'USDC').balance).toBe('1999999999999')
    await transfer(service, ALICE.address, BOB.address, 1n)
  })

  test('is read once in half a minute for all users of a wallet', async ({ service, session, prices: _ }) => {
    await linkEvm(service, session, ALICE)
    const first = await balancesOf(service, session)
    const other = await createSession(service)
    await linkEvm(service, other, ALICE)
    for (const wire of Object.values(service.rpc)) wire.reset()
    expect((await balancesOf(service, other)).body.tokens).toEqual(first.body.tokens)
    expect(Object.values(service.rpc).flatMap(listRpcCalls)).toEqual([])
  })

  test('is available immediately for a client with other vaults', async ({ service, session, prices: _ }) => {
    const other = await withOneVault(service)
    const few = await createSession(other)
    await linkEvm(other, few, ACCOUNTS.anchor)
    const sharesIn = ({ body }: HttpReply) =>
      body.tokens['base-mainnet'].filter(({ defi }: { defi: boolean }) => defi).length
    expect(sharesIn(await balancesOf(other, few))).toBe(1)
    await linkEvm(service, session, ACCOUNTS.anchor)
    expect(sharesIn(await balancesOf(service, session))).toBe(baseOf(service).vaults.length)
    expect(sharesIn(await balancesOf(other, few))).toBe(1)
  })

  test("keeps one client's vaults, with their time, after the request of a client with fewer", async ({
    service,
    session,
    prices: _,
  }) => {
    const other = await withOneVault(service)
    const few = await createSession(other)
    await linkEvm(other, few, ACCOUNTS.anchor)
    await linkEvm(service, session, ACCOUNTS.anchor)
    const sharesIn = ({ body }: HttpReply) => body.tokens['base-mainnet'].filter(({ defi }: { defi: boolean }) => defi)
    const good = await balancesOf(service, session)
    service.pass(31)
    expect(sharesIn(await balancesOf(other, few))).toHaveLength(1)
    service.pass(31)
    const wire = service.rpc[BASE]
    if (wire) wire.behaviour = 'answer 500'
    const reply = await balancesOf(service, session)
    expect(sharesIn(reply)).toHaveLength(baseOf(service).vaults.length)
    expect(sharesIn(reply)).toEqual(expect.arrayContaining(sharesIn(good)))
    expect(reply.body.updated_at['base-mainnet']).toBe(good.body.updated_at['base-mainnet'])
    expect(reply.body.errors).toEqual({ 'base-mainnet': 'Upstream unavailable' })
  })

  test('reports shares as unknown that were read for no client', async ({ service, session, prices: _ }) => {
    const other = await withOneVault(service)
    const few = await createSession(other)
    await linkEvm(other, few, ACCOUNTS.anchor)
    await linkEvm(service, session, ACCOUNTS.anchor)
    await balancesOf(other, few)
    const wire = service.rpc[BASE]
    if (wire) wire.behaviour = 'answer 500'
    const { body } = await balancesOf(service, session)
    expect(body.tokens['base-mainnet'].filter(({ defi }: { defi: boolean }) => defi)).toHaveLength(1)
    expect(body.errors).toEqual({ 'base-mainnet': 'Upstream unavailable. Some tokens could not be read' })
  })

  test('costs at most 60 table requests for 20 new wallets, 6 later, and queries the index for empty ones once', async ({
    service,
    session,
  }) => {
    for (let i = 0; i < 20; i++) {
      const privateKey = generatePrivateKey()
      await linkEvm(service, session, { privateKey, address: privateKeyToAccount(privateKey).address })
    }
    const { goldRush } = service.backends.providers
    goldRush.requests.length = 0
    service.table.reset()
    expect((await balancesOf(service, session)).status).toBe(200)
    expect(requestsOf(service).length).toBeLessThanOrEqual(60)
    expect(goldRush.requests).toHaveLength(20 * EVM_KEYS.length)

    service.pass(31)
    service.table.reset()
    expect((await balancesOf(service, session)).status).toBe(200)
    expect(requestsOf(service).length).toBeLessThanOrEqual(6)
    expect(goldRush.requests).toHaveLength(20 * EVM_KEYS.length)
  })

  test('costs one parallel round trip with 300 listed tokens on each EVM chain', async ({
    clock,
    coldService: service,
    session,
    cache,
    onTestFinished,
  }) => {
    await linkEvm(service, session, ALICE)
    await balancesOf(service, session)
    const questions = Object.fromEntries(EVM_KEYS.map((key) => [key, tokensKey(key)]))
    const before = await cache.get(questions)
    onTestFinished(async () => {
      for (const [key, cached] of Object.entries(before))
        await cache.put(tokensKey(key), cached?.value ?? wellKnown(key))
    })
    for (const key of EVM_KEYS) {
      const listed = before[key]?.value ?? wellKnown(key).slice(0, 1)
      const more = Array.from({ length: 300 - listed.length }, (_, i) => someToken(key, i))
      await cache.put(tokensKey(key), [...listed, ...more])
    }
    // A container caches the lists of tokens for a minute.
    clock.pass(60)
    const { requests } = service.backends.providers.idleChains
    requests.length = 0
    for (const wire of Object.values(service.rpc)) wire.reset()
    let release = () => {}
    const hold = new Promise<void>((resolve) => {
      release = resolve
    })
    for (const wire of Object.values(service.rpc)) wire.hold = hold

    const reply = balancesOf(service, session)
    const arrived = () => requests.length + Object.values(service.rpc).flatMap(({ bodies }) => bodies).length
    await expect.poll(arrived).toBe(EVM_KEYS.length).finally(release)
    const { status, body } = await reply
    expect(status).toBe(200)
    expect(arrived()).toBe(EVM_KEYS.length)
    const idle = CHAINS.filter(({ kind, id }) => kind === 'evm' && !service.rpc[id]).map(({ id }) => `/${id}`)
    expect(new Set(requests)).toEqual(new Set(idle))
    for (const key of EVM_KEYS) expect(body.tokens[key][0]).toMatchObject({ native_token: true })
    expect(entry({ ...(await reply), body }, 'base-mainnet', 'USDC').balance).not.toBe('0')
  })
})

describe('A decision of an operator about a user', () => {
  test('is in the response: the identity check and the remaining fee budget, in the currency', async ({
    service,
    session,
    prices: _,
  }) => {
    const users = usersStore(service.tables.users)
    const { clientId = '' } = parseApiKey(service.apiKey) ?? {}
    expect(await users.decide({ clientId, email: session.email }, { kyc: 'approved', smartGas: 12_500_000 })).toBe(true)
    expect((await balancesOf(service, session)).body).toMatchObject({
      kyc: { status: 'approved' },
      smartgaz: 12.5,
      smartgaz_available: true,
    })
    expect((await balancesOf(service, session, '?currency=eur')).body).toMatchObject({ smartgaz: 10 })
  })
})

describe('A chain that fails', () => {
  // This test has a node that never responds. The tests of single chains cover other failures of nodes.
  test('does not affect the others', async ({ service, session }) => {
    await linkEvm(service, session, ALICE)
    const wire = service.rpc[BASE]
    if (wire) wire.behaviour = 'never answer'
    const reply = await balancesOf(service, session)
    expect(reply.status).toBe(200)
    expect(reply.body.tokens['base-mainnet']).toEqual([])
    expect(reply.body.errors).toEqual({ 'base-mainnet': 'Upstream unavailable' })
    expect(reply.body.updated_at).not.toHaveProperty('base-mainnet')
    expect(entry(reply, 'arbitrum-mainnet', 'USDC').balance).toBe('1000000000000')
  })

  test('has its last good balances, with their time, until the wallets change', async ({
    service,
    session,
    prices: _,
  }) => {
    await linkEvm(service, session, ALICE)
    const good = await balancesOf(service, session)
    service.pass(31)
    const wire = service.rpc[BASE]
    if (wire) wire.behaviour = 'answer 500'
    const reply = await balancesOf(service, session)
    expect(reply.body.tokens['base-mainnet']).toEqual(good.body.tokens['base-mainnet'])
    expect(reply.body.errors).toEqual({ 'base-mainnet': 'Upstream unavailable' })
    const [then, now] = [good, reply].map(({ body }) => Date.parse(body.updated_at['base-mainnet']))
    expect(now).toBeLessThanOrEqual(Number(then) + 1000)
    expect(Date.parse(reply.body.updated_at['arbitrum-mainnet'])).toBeGreaterThan(Number(now))

    await linkEvm(service, session, BOB)
    expect((await balancesOf(service, session)).body.tokens['base-mainnet']).toEqual([])
  })

  test('in some of its tokens has their last balances, with an error', async ({ service, session }) => {
    await linkEvm(service, session, ALICE)
    const good = await balancesOf(service, session)
    const wire = service.rpc[BASE]
    if (!wire) throw new Error('There is no wire.')
    const balanceOf = toFunctionSelector('balanceOf(address)')
    const breakTokens = () =>
      rewriteResults(
        wire,
        createReturnDataChange((data, selector) => (selector === balanceOf ? '0x' : data)),
      )
    breakTokens()
    service.pass(31)
    const reply = await balancesOf(service, session)
    expect(entry(reply, 'base-mainnet', 'USDC')).toEqual(entry(good, 'base-mainnet', 'USDC'))
    expect(reply.body.errors).toEqual({ 'base-mainnet': 'Some tokens could not be read' })

    const other = await createSession(service)
    await linkEvm(service, other, BOB)
    const unknown = await balancesOf(service, other)
    expect(unknown.body.tokens['base-mainnet'].map((one: Entry) => one.contract_ticker_symbol)).toEqual([
      'ETH',
      'HARBOR',
      'USDC-DROP.XYZ',
    ])
  })

  test('if it is Solana, does not affect the others, and the rent is the last known', async ({ service, session }) => {
    await linkEvm(service, session, ALICE)
    await linkSolana(service, session)
    const { solana } = service.backends.providers
    solana.rewrite = () => ({ status: 200, body: '<html></html>' })
    const reply = await balancesOf(service, session)
    expect(reply).toMatchObject({ status: 200, body: { solana_rent: 0.00065024 } })
    expect(reply.body.tokens['solana-mainnet']).toEqual([])
    expect(reply.body.errors).toEqual({ 'solana-mainnet': 'Upstream unavailable' })

    const other = await createSession(service)
    await linkSolana(service, other)
    expectError(await balancesOf(service, other), 'upstream_bad_answer')
    solana.rewrite = undefined
  })

  test('in one of its token programs has the last balances of that program', async ({ service, session }) => {
    await linkSolana(service, session)
    const good = await balancesOf(service, session)
    service.pass(31)
    const { solana } = service.backends.providers
    solana.rewrite = (reply, { body }) => {
      const calls: { id: number; params: unknown[] }[] = JSON.parse(body)
      const isOfToken = ({ id }: { id: number }) =>
        JSON.stringify(calls.find((call) => call.id === id)?.params).includes('TokenkegQ')
      const items = reply.body as { id: number }[]
      const refusal = { error: { code: -32010, message: 'excluded from account secondary indexes' } }
      return { ...reply, body: items.map((item) => (isOfToken(item) ? { id: item.id, ...refusal } : item)) }
    }
    const reply = await balancesOf(service, session)
    expect(reply.body.tokens).toEqual(good.body.tokens)
    expect(reply.body.errors).toEqual({ 'solana-mainnet': 'Some tokens could not be read' })
    solana.rewrite = undefined
  })

  test('together with all others is an error without stored balances', async ({ service, session }) => {
    await linkEvm(service, session, ALICE)
    cutOff(service, CHAINS)
    const cold = await startNewContainers(service)
    expectError(await balancesOf(cold.service, session), 'upstream_unavailable')
    await cold.stop()
    cutOff(service, [])
  })

  test('together with all others has stored balances if there are any', async ({ service, session }) => {
    await linkEvm(service, session, ALICE)
    const good = await balancesOf(service, session)
    service.pass(31)
    cutOff(service, CHAINS)
    const cold = await startNewContainers(service)
    const reply = await balancesOf(cold.service, session)
    expect(reply).toMatchObject({ status: 200, body: { tokens: good.body.tokens, solana_rent: 0.00065024 } })
    expect(Object.keys(reply.body.errors).sort()).toEqual(EVM_KEYS.toSorted())
    await cold.stop()
    cutOff(service, [])
  })
})

describe('A token beyond the list on Solana', () => {
  test('has the balance and decimals from the chain, and is left out if the chain has none', async ({
    clock,
    coldService: service,
    session,
  }) => {
    const { goldRush } = service.backends.providers
    const row = { contract_name: 'PayPal USD', contract_ticker_symbol: 'PYUSD', balance: '1', contract_decimals: 2 }
    goldRush.rewrite = () => {
      const items = [
        { ...row, contract_address: '2b1kV6DkPAnxd5ixfnxCpjxmKwqjjaYmCZfHsFu24GXo' },
        { ...row, contract_address: 'Sold111111111111111111111111111111111111111' },
      ]
      return { status: 200, body: { error: false, data: { items } } }
    }
    await linkSolana(service, session)
    // The clock advances by two days, so that responses of GoldRush from other tests are no longer cached.
    clock.pass(2 * 86_400)
    const reply = await balancesOf(service, session)
    const unlisted = reply.body.tokens['solana-mainnet'].filter((one: Entry) => one.contract_ticker_symbol === 'PYUSD')
    expect(unlisted).toMatchObject([{ balance: '75000000', contract_decimals: 6, price_available: false }])
    goldRush.rewrite = undefined
  })

  test('has the decimals that the chain reports', async ({ service, session }) => {
    const { solana } = service.backends.providers
    solana.rewrite = (reply) => {
      const text = JSON.stringify(reply.body).replaceAll('"decimals":6', '"decimals":255')
      return { ...reply, body: JSON.parse(text) }
    }
    await linkSolana(service, session)
    const reply = await balancesOf(service, session)
    expect(reply.status).toBe(200)
    expect(entry(reply, 'solana-mainnet', 'USDC')).toMatchObject({ contract_decimals: 255, balance: '1250000000' })
    solana.rewrite = undefined
  })
})

describe('An index of tokens', () => {
  test('is queried again after ten minutes if the wallet holds something, else after a day', async ({
    clock,
    coldService: service,
    session,
  }) => {
    const { goldRush } = service.backends.providers
    const chainKeys: string[] = []
    goldRush.rewrite = (reply, { url: { pathname } }) => {
      chainKeys.push(...EVM_KEYS.filter((key) => pathname.includes(key)))
      return reply
    }
    const privateKey = generatePrivateKey()
    const holder = { privateKey, address: privateKeyToAccount(privateKey).address }
    await callRpc(baseOf(service), [{ method: 'anvil_setBalance', params: [holder.address, '0x1'] }])
    await linkEvm(service, session, holder)
    const listRequestedAfter = async (seconds: number) => {
      clock.pass(seconds)
      chainKeys.length = 0
      expect(await balancesOf(service, session)).toMatchObject({ status: 200 })
      return chainKeys.toSorted()
    }
    expect(await listRequestedAfter(0)).toEqual(EVM_KEYS.toSorted())
    expect(await listRequestedAfter(590)).toEqual([])
    expect(await listRequestedAfter(20)).toEqual(['base-mainnet'])
    expect(await listRequestedAfter(86_400)).toEqual(EVM_KEYS.toSorted())
    goldRush.rewrite = undefined
  })
})

describe('The indexes of a stage', () => {
  type Key = 'alchemy' | 'goldRush'

  async function balancesBy(service: Service, session: Session, keys: readonly Key[]): Promise<HttpReply> {
    const { url } = service.backends.providers
    const keyOf = (name: Key) => (keys.includes(name) ? { apiKey: 'local' } : {})
    service.backends.configure({
      alchemy: { url: `${url}/alchemy/{network}`, ...keyOf('alchemy') },
      goldRush: { url: `${url}/goldrush`, ...keyOf('goldRush') },
      tokenIndexes: [...keys],
    })
    const cold = await startNewContainers(service)
    onTestFinished(async () => {
      await cold.stop()
      const goldRush = { url: `${url}/goldrush`, apiKey: 'local' }
      service.backends.configure({ goldRush, alchemy: {}, tokenIndexes: ['goldRush'] })
    })
    return balancesOf(cold.service, session)
  }

  test('report the same balances', async ({ service, session, prices: _ }) => {
    await linkEvm(service, session, CAROL)
    const goldRush = await balancesBy(service, session, ['goldRush'])
    await service.tables.cache.deleteMany([{ pk: `balances#${CAROL.address}`, sk: 'ANSWER' }])
    const { spent } = service.backends.providers.alchemy
    const before = spent.units
    const alchemy = await balancesBy(service, session, ['alchemy'])
    expect(alchemy.body.tokens).toEqual(goldRush.body.tokens)
    expect(entry(alchemy, 'base-mainnet', 'HARBOR').balance).toBe((1250n * 10n ** 18n).toString())
    expect(alchemy.body.errors).toBeUndefined()
    // Each chain costs one request of 20 units. Two chains have two tokens each whose metadata costs 10 units.
    expect(spent.units - before).toBe(20 * EVM_KEYS.length + 10 * 2 * 2)
  })

  test('are queried in order: the second if the first fails', async ({ service, session }) => {
    const { alchemy, goldRush } = service.backends.providers
    await linkEvm(service, session, CAROL)
    goldRush.requests.length = 0
    alchemy.rewrite = () => ({ status: 403, body: { error: { code: -32600, message: 'App is inactive.' } } })
    const reply = await balancesBy(service, session, ['alchemy', 'goldRush'])
    alchemy.rewrite = undefined
    expect(reply.body.errors).toBeUndefined()
    expect(entry(reply, 'base-mainnet', 'HARBOR').balance).toBe((1250n * 10n ** 18n).toString())
    expect(goldRush.requests).toHaveLength(EVM_KEYS.length)
  })

  test('may be none; the response then has listed tokens and names the chains without an index', async ({
    service,
    session,
  }) => {
    await linkEvm(service, session, CAROL)
    const reply = await balancesBy(service, session, [])
    expect(reply.body.errors).toBeUndefined()
    expect(reply.body.missing).toEqual(Object.fromEntries(EVM_KEYS.map((key) => [key, ['unlisted_tokens']])))
    expect(entry(reply, 'base-mainnet', 'USDC').balance).toBe('1000000000000')
    expect(reply.body.tokens['base-mainnet'].map((one: Entry) => one.contract_ticker_symbol)).not.toContain('HARBOR')
  })

  test('leave Solana out if Alchemy is the only one', async ({ service, session }) => {
    await linkSolana(service, session)
    const { body } = await balancesBy(service, session, ['alchemy'])
    expect(body.missing).toEqual({ 'solana-mainnet': ['unlisted_tokens'] })
  })
})

describe('An index that fails', () => {
  test('removes nothing that the chains report, and keeps its last response', async ({
    clock,
    coldService: service,
    session,
  }) => {
    const { goldRush } = service.backends.providers
    await linkEvm(service, session, ALICE)
    const good = await balancesOf(service, session)
    goldRush.rewrite = () => ({ status: 402, body: { error: true, error_code: 402 } })
    // The clock advances by two days, so that the response of GoldRush is no longer cached.
    clock.pass(2 * 86_400)
    const reply = await balancesOf(service, session)
    expect(reply.status).toBe(200)
    const errors = EVM_KEYS.map((key) => [key, 'Unlisted tokens could not be read'])
    expect(reply.body.errors).toEqual(Object.fromEntries(errors))
    expect(entry(reply, 'base-mainnet', 'HARBOR')).toEqual(entry(good, 'base-mainnet', 'HARBOR'))
    expect(entry(reply, 'base-mainnet', 'USDC').balance).toBe('1000000000000')

    const other = await createSession(service)
    await linkEvm(service, other, BOB)
    const unknown = await balancesOf(service, other)
    expect(unknown.body.tokens['base-mainnet'].map((one: Entry) => one.contract_ticker_symbol)).not.toContain('HARBOR')
    goldRush.rewrite = undefined
  })

  test('adds no token with an impossible balance', async ({ service, session }) => {
    const { goldRush } = service.backends.providers
    const row = { contract_address: USDC.replace(/..$/, '99'), contract_decimals: 0, balance: `${2n ** 256n - 1n}` }
    goldRush.rewrite = () => ({ status: 200, body: { error: false, data: { items: [row] } } })
    for (const privateKey of [generatePrivateKey(), generatePrivateKey()]) {
      await linkEvm(service, session, { address: privateKeyToAccount(privateKey).address, privateKey })
    }
    const { status, body } = await balancesOf(service, session)
    expect(status).toBe(200)
    expect(body.tokens['base-mainnet']).toMatchObject([{ native_token: true }])
    goldRush.rewrite = undefined
  })

  test('with more tokens than the limit shows those first that are not spam', async ({ service, session }) => {
    const { goldRush } = service.backends.providers
    const rows = Array.from({ length: 450 }, (_, i) => ({
      contract_address: `0x${(i + 1).toString(16).padStart(40, '0')}`,
      contract_name: i < 200 ? `Claim ${i}` : `Token ${i}`,
      is_spam: i >= 200 && i < 400,
      contract_ticker_symbol: `T${i}`,
      contract_decimals: 18,
      balance: '1',
    }))
    const shifted = rows.map((row, i) => ({
      ...row,
      contract_address: `0x${(i + 999).toString(16).padStart(40, '0')}`,
    }))
    goldRush.rewrite = (_, { url: { pathname } }) => {
      const items = pathname.includes(DAVE.address) ? rows : shifted
      return { status: 200, body: { error: false, data: { items } } }
    }
    await linkEvm(service, session, DAVE)
    await linkEvm(service, session, ACCOUNTS.relayer)
    const { body } = await balancesOf(service, session)
    const unlisted = body.tokens['eth-mainnet'].filter((one: Entry) => one.contract_ticker_symbol.startsWith('T'))
    expect(unlisted).toHaveLength(500)
    expect(unlisted.filter(({ is_spam }: { is_spam: boolean }) => !is_spam)).toHaveLength(100)
    goldRush.rewrite = undefined
  })
})
