import { type Address, getAddress, numberToHex } from 'viem'
import { describe, expect, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { sharedCache } from '../../../lib/cache/cache.ts'
import { cacheStore } from '../../../lib/cache/store.ts'
import { parseApiKey } from '../../../lib/clients/api-key.ts'
import { pricesKey } from '../../../lib/markets/cache-keys.ts'
import { campaignsKey } from '../../../lib/rewards/campaigns.ts'
import type { Vault } from '../../../lib/vaults/vault.ts'
import { copyVault } from '../../../sandbox/copies.ts'
import { settleRequests } from '../../../sandbox/curator.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { someKey } from '../../support/clients.ts'
import { test as base, type Service, USERS } from '../../support/service.ts'
import { openLagoonVault, ROLES } from '../../support/vaults.ts'
import { listRpcCalls, type RecordingProxy } from '../../support/wire.ts'

const LIST = '/defi-vaults/v1/vaults'
const DEPOSIT = '/defi-vaults/v1/defi/vault/deposit'
const WITHDRAW = '/defi-vaults/v1/defi/vault/withdraw'
const CLAIM = '/defi-vaults/v1/defi/vault/claim'
const CANCEL = '/defi-vaults/v1/defi/vault/cancel'
const [USER] = USERS
const NOBODYS_VAULT = '0x00000000000000000000000000000000000000A1'

const statusPath = (vault: Address, status = 'deposit-status') =>
  `/defi-vaults/v1/defi/vault/${vault}/${status}?userAddress=${USER.address}`
const depositOf = (vaultAddress: Address) => ({ vaultAddress, amount: '1000', userAddress: USER.address })
const claimOf = (vaultAddress: Address) => ({ vaultAddress, userAddress: USER.address })

const countOf = ({ backends }: Service) => backends.chains.flatMap(({ vaults }) => vaults).length

const countRequests = ({ rpc }: Service) => ({ base: rpc[8453]?.bodies.length, arbitrum: rpc[42161]?.bodies.length })

const Keyed = z.object({ key: z.object({ pk: z.string() }) })

/**
 * Counts the table's queries, and its requests for quota leases, since the last call of `forget`. `keys` lists the
 * partition keys of all other requests for single items.
 */
function queriesAndKeys({ table }: Service) {
  const keys = table.tries.flatMap(({ request }) => ('key' in request ? [Keyed.parse(request).key.pk] : []))
  const isLease = (key: string) => key.startsWith('rate#')
  return {
    queries: table.tries.filter(({ action }) => action === 'Query').length,
    leases: keys.filter(isLease).length,
    keys: keys.filter((key) => !isLease(key)),
  }
}

function forget({ rpc, table }: Service): void {
  for (const wire of [...Object.values(rpc), table]) wire.reset()
}

async function createLargeClient(
  { backends, createClient }: Service,
  counts: readonly [base: number, arbitrum: number],
) {
  const { admin, chains } = backends
  const apiKey = await createClient(
    chains.flatMap(({ vaults }) => vaults.map(({ chainId, address }) => ({ chainId, address }))),
  )
  const clientId = apiKey.split('_')[2] as string
  const vaults = (await admin.clients.get(clientId))?.client.vaults ?? []
  for (const [index, chain] of chains.entries()) {
    const originals = vaults.filter(({ chainId }) => chainId === chain.chainId)
    const copies = Array.from({ length: (counts[index] ?? 0) - originals.length }, (_, n) => ({
      original: originals[n % originals.length] as Vault,
      address: getAddress(numberToHex((BigInt(counts[index] ?? 0) << 80n) | (BigInt(n) << 64n), { size: 20 })),
    }))
    for (const [original, ofOriginal] of Map.groupBy(copies, (copy) => copy.original)) {
      await copyVault(
        chain,
        original.address,
        ofOriginal.map(({ address }) => address),
      )
    }
    for (const { original, address } of copies) {
      await admin.clients.putVault(clientId, { ...original, address, shareToken: address, poolId: address })
    }
  }
  return apiKey
}

const countReads = ({ rpc }: Service) =>
  [8453, 42161].map(
    (chainId) =>
      listRpcCalls(rpc[chainId] as RecordingProxy)
        .flat()
        .filter(({ method }) => method === 'eth_call').length,
  )

const test = base
  .extend('prices', { auto: true, scope: 'file' }, async ({ sharedService }) => {
    const cache = sharedCache({ table: cacheStore(sharedService.tables.cache), now: Date.now })
    for (const chain of ['base-mainnet', 'arbitrum-mainnet']) await cache.put(pricesKey(chain), {})
    for (const chainId of [8453, 42161]) await cache.put(campaignsKey(chainId), {})
  })
  .extend('largeKey', { scope: 'file' }, ({ sharedService }) => createLargeClient(sharedService, [101, 5]))
  .extend('asyncVault', ({ service }) => service.backends.chains[0]?.vaults[0]?.address as Address)
  .extend('syncVault', ({ service }) => service.backends.chains[0]?.vaults.at(-1)?.address as Address)

const SIZES = [
  { vaults: 'those of the local world', reads: [2, 2] },
  { vaults: '106 vaults', reads: [4, 2] },
] as const

describe('The vault list sends each chain one HTTP request, with two calls for every 100 vaults,', () => {
  test.for(SIZES)(
    'for $vaults, also while blocks come every 200 ms',
    async ({ vaults, reads }, { service, largeKey }) => {
      const isLarge = vaults === '106 vaults'
      const key = isLarge ? largeKey : service.apiKey
      await service.call('GET', LIST, { key })

      const mine = () =>
        Promise.all(service.backends.chains.map((chain) => callRpc(chain, [{ method: 'evm_mine', params: [] }])))
      const blocks = setInterval(() => mine().catch(() => {}), 200)
      onTestFinished(() => clearInterval(blocks))
      for (let round = 0; round < 3; round += 1) {
        forget(service)
        service.pass(0.5)
        const { body } = await service.call('GET', LIST, { key })
        expect(body.data).toHaveLength(isLarge ? 106 : countOf(service))
        expect(body.data.every((vault: { stateAsOf?: { stale: boolean } }) => vault.stateAsOf?.stale !== true)).toBe(
          true,
        )
        expect(countRequests(service)).toEqual({ base: 1, arbitrum: 1 })
        expect(countReads(service)).toEqual(reads)
      }
    },
  )

  test('and so are positions', async ({ service, largeKey: key }) => {
    const positions = () => service.call('GET', `/defi-vaults/v1/defi/user/${USER.address}/positions`, { key })
    expect(await positions()).toMatchObject({ status: 200 })
    forget(service)
    expect(await positions()).toMatchObject({ status: 200 })
    expect(countReads(service)).toEqual([4, 2])
  })

  test('in a new container too', async ({ coldService: service }) => {
    await service.call('GET', LIST)
    expect(countRequests(service)).toEqual({ base: 1, arbitrum: 1 })
  })

  test('in a new container while the prices of a week ago are read', async ({ coldService: service }) => {
    const lookedUp = vi.waitUntil(() => service.table.tries.length > 1, 20_000)
    for (const wire of Object.values(service.rpc)) wire.hold = lookedUp
    const { body } = await service.call('GET', LIST)
    expect(body.data[0].stateAsOf.stale).toBe(false)
  })

  test('once for 50 parallel requests, and not for those within half a second', async ({ coldService: service }) => {
    await service.standingStill(async () => {
      const list = () => service.call('GET', LIST)
      const replies = await Promise.all(Array.from({ length: 50 }, list))
      expect(countRequests(service)).toEqual({ base: 1, arbitrum: 1 })
      const [first] = replies
      for (const { status, body } of replies) expect({ status, body }).toEqual({ status: 200, body: first?.body })

      forget(service)
      service.pass(0.4)
      expect((await list()).body).toEqual(first?.body)
      expect(countRequests(service)).toEqual({ base: 0, arbitrum: 0 })
      expect(service.table.tries).toEqual([])
      service.pass(0.1)
      await list()
      expect(countRequests(service)).toEqual({ base: 1, arbitrum: 1 })
    })
  })

  test('for all clients with the same vaults or some of them, and again for one with another vault', async ({
    service,
    asyncVault,
    syncVault,
  }) => {
    const keyOf = (...addresses: Address[]) =>
      service.createClient(addresses.map((address) => ({ chainId: 8453, address })))
    const other = service.backends.chains[0]?.vaults[1]?.address as Address
    const keys = [await keyOf(asyncVault, syncVault), await keyOf(syncVault), await keyOf(syncVault, other)]
    for (const key of keys) await service.call('GET', LIST, { key })
    forget(service)
    service.pass(0.5)
    const requestCounts: (number | undefined)[] = []
    await service.standingStill(async () => {
      for (const key of keys) {
        const { body } = await service.call('GET', LIST, { key })
        expect(body.evidence).toMatchObject([{ chainId: 8453, blockNumber: body.data[0].stateAsOf.blockNumber }])
        requestCounts.push(countRequests(service).base)
      }
    })
    expect(requestCounts).toEqual([1, 1, 2])
  })

  test('and again after the clock was set back', async ({ service }) => {
    service.pass(5)
    await service.call('GET', LIST)
    forget(service)
    service.pass(-3600)
    await service.call('GET', LIST)
    service.pass(3600)
    expect(countRequests(service)).toEqual({ base: 1, arbitrum: 1 })
  })

  test('and separately for a client whose stored copy of a vault differs', async ({ service, asyncVault }) => {
    const { clients } = service.backends.admin
    const clientIdOf = (apiKey: string) => parseApiKey(apiKey)?.clientId ?? ''
    const key = await service.createClient([])
    const [original] = ((await clients.get(clientIdOf(service.apiKey)))?.client.vaults ?? []).filter(
      ({ address }) => address === asyncVault,
    )
    if (!original) throw new Error('The client has the vault.')
    await clients.putVault(clientIdOf(key), { ...original, shareDecimals: original.shareDecimals + 3 })
    service.pass(60)
    const priceOf = async () => (await service.call('GET', LIST, { key })).body.data[0].vaultState.sharePrice
    const singleCost = await priceOf()
    service.pass(5)
    await service.call('GET', LIST)
    expect(await priceOf()).toBe(singleCost)
  })

  test('and reports its block, however many came since', async ({ service }) => {
    const [chain] = service.backends.chains
    const list = async () => (await service.call('GET', LIST)).body
    const blockOf = ({ evidence }: { evidence: { chainId: number; blockNumber: number }[] }) =>
      evidence.find(({ chainId }) => chainId === chain?.chainId)?.blockNumber ?? 0
    await service.standingStill(async () => {
      service.pass(0.5)
      const before = await list()
      if (chain) await callRpc(chain, [{ method: 'anvil_mine', params: ['0x5'] }])
      expect(await list()).toEqual(before)
      service.pass(0.5)
      expect(blockOf(await list())).toBe(blockOf(before) + 5)
    })
  })

  test('and again after a failed read, which only the requests that waited for it report', async ({ service }) => {
    const list = async () => (await service.call('GET', LIST)).body.data
    const isStale = (vaults: { stateAsOf: { stale: boolean } | null }[]) =>
      vaults.every(({ stateAsOf }) => stateAsOf === null || stateAsOf.stale)
    await service.standingStill(async () => {
      service.pass(0.5)
      for (const wire of Object.values(service.rpc)) wire.behaviour = 'answer 500'
      const failed = await Promise.all([list(), list(), list()])
      expect(failed.map(isStale)).toEqual([true, true, true])
      // The three requests for the list share their reads. Each chain's only node is tried twice.
      expect(countRequests(service)).toEqual({ base: 2, arbitrum: 2 })
      forget(service)
      expect(isStale(await list())).toBe(false)
      expect(countRequests(service)).toEqual({ base: 1, arbitrum: 1 })
    })
  })

  test('and does not share the read with deposits or positions', async ({ service, syncVault }) => {
    await service.standingStill(async () => {
      await service.call('GET', LIST)
      for (const [method, path, body] of [
        ['POST', DEPOSIT, depositOf(syncVault)],
        ['GET', `/defi-vaults/v1/defi/user/${USER.address}/positions`, undefined],
      ] as const) {
        for (let time = 1; time <= 2; time += 1) {
          forget(service)
          expect(await service.call(method, path, { body })).toMatchObject({ status: 200 })
          expect(countRequests(service).base).toBeGreaterThan(0)
        }
      }
    })
  })

  test('and none to chains on which the client has no vault', async ({ service, asyncVault }) => {
    const key = await service.createClient([{ chainId: 8453, address: asyncVault }])
    forget(service)
    service.pass(0.5)
    const { body } = await service.call('GET', LIST, { key })
    expect(body.data).toHaveLength(1)
    expect(countRequests(service)).toEqual({ base: 1, arbitrum: 0 })
  })
})

describe("A request for one vault reads only its chain: a deposit's whole life on", () => {
  const places = ['0.5', '0.4', '0.6', '0.6 with an entry fee'].map((what, index) => [what, index] as const)

  test.for(places)('Lagoon %s takes one request per step, and two for the claims', async ([, index], { service }) => {
    const { vaults, ...chain } = service.backends.chains[0] as Service['backends']['chains'][number]
    const { address } = vaults[index] as { address: Address }
    const asking = async (method: string, path: string, body?: unknown) => {
      forget(service)
      const reply = await service.call(method, path, { body })
      expect(reply).toMatchObject({ status: 200 })
      return { reply, requests: countRequests(service) }
    }

    const deposit = await asking('POST', DEPOSIT, depositOf(address))
    expect(deposit.requests).toEqual({ base: 1, arbitrum: 0 })
    await service.send(8453, USER, [...deposit.reply.body.approval, ...deposit.reply.body.operations])

    const pending = await asking('GET', statusPath(address))
    expect(pending.reply.body.status).toBe('pending')
    expect(pending.requests).toEqual({ base: 1, arbitrum: 0 })

    await settleRequests(chain, address)
    const claimable = await asking('GET', statusPath(address))
    expect(claimable.reply.body.status).toBe('claimable')
    expect(claimable.requests).toEqual({ base: 1, arbitrum: 0 })

    const claim = await asking('POST', CLAIM, claimOf(address))
    expect(claim.requests).toEqual({ base: 2, arbitrum: 0 })
    await service.send(8453, USER, claim.reply.body.operations)

    const deposited = await asking('GET', statusPath(address))
    expect(deposited.reply.body.status).toBe('deposited')
    expect(deposited.requests).toEqual({ base: 1, arbitrum: 0 })

    const of = { vaultAddress: address, userAddress: USER.address }
    const half = BigInt(claim.reply.body.claimable.shares) / 2n
    const shares = await asking('POST', WITHDRAW, { ...of, shares: `${half}` })
    expect(shares.requests).toEqual({ base: 1, arbitrum: 0 })
    const everything = await asking('POST', WITHDRAW, { ...of, max: true })
    expect(everything.requests).toEqual({ base: 2, arbitrum: 0 })

    await service.send(8453, USER, shares.reply.body.operations)
    await settleRequests(chain, address)
    const withdrawal = await asking('GET', statusPath(address, 'withdraw-status'))
    expect(withdrawal.reply.body.status).toBe('claimable')
    expect(withdrawal.requests).toEqual({ base: 1, arbitrum: 0 })
    const payment = await asking('POST', CLAIM, { ...of, kind: 'withdrawal' })
    expect(payment.requests).toEqual({ base: 2, arbitrum: 0 })

    const another = await service.call('POST', DEPOSIT, { body: depositOf(address) })
    await service.send(8453, USER, [...another.body.approval, ...another.body.operations])
    const cancellation = await asking('POST', CANCEL, of)
    expect(cancellation.requests).toEqual({ base: 1, arbitrum: 0 })
    await service.send(8453, USER, cancellation.reply.body.operations)
  })

  test.for(['0.5', '0.6'] as const)(
    'the status in a paused Lagoon %s vault takes one request if only a redemption is settled',
    async (generation, { service }) => {
      const vault = await openLagoonVault(service, { generation })
      await vault.request(USER.address, 3_000_000n)
      await vault.settle()
      await vault.act(USER.address, 'deposit', 3_000_000n, USER.address, USER.address)
      await vault.act(USER.address, 'requestRedeem', 10n ** 18n, USER.address, USER.address)
      await vault.settle()
      await vault.act(ROLES.admin, 'pause')
      await vault.status(USER)

      forget(service)
      expect((await vault.status(USER)).body.status).toBe('deposited')
      expect(countRequests(service)).toEqual({ base: 1, arbitrum: 0 })
    },
  )

  test('the status of a withdrawal in a paused vault takes one request if only a deposit is settled', async ({
    service,
  }) => {
    const vault = await openLagoonVault(service, { generation: '0.6' })
    await vault.request(USER.address, 3_000_000n)
    await vault.settle()
    await vault.act(ROLES.admin, 'pause')
    await vault.withdrawStatus(USER)

    forget(service)
    expect((await vault.withdrawStatus(USER)).body.status).toBe('no_active_withdrawal')
    expect(countRequests(service)).toEqual({ base: 1, arbitrum: 0 })
  })

  test('a synchronous vault takes one request, and one more for the maximum', async ({ service, syncVault }) => {
    const { body } = await service.call('POST', DEPOSIT, { body: depositOf(syncVault) })
    expect(countRequests(service)).toEqual({ base: 1, arbitrum: 0 })
    await service.send(8453, USER, [...body.approval, ...body.operations])

    for (const [amount, base] of [
      [{ shares: '500' }, 1],
      [{ amount: '500' }, 1],
      [{ max: true }, 2],
    ] as const) {
      forget(service)
      const withdrawal = { vaultAddress: syncVault, userAddress: USER.address, ...amount }
      expect(await service.call('POST', WITHDRAW, { body: withdrawal })).toMatchObject({ status: 200 })
      expect(countRequests(service)).toEqual({ base, arbitrum: 0 })
    }
  })
})

describe('The requests for a withdrawal to another chain', () => {
  test('equal those of a cross-chain deposit, plus one for the maximum and for a claim', async ({
    service,
    syncVault,
  }) => {
    const tokenOn = (chainId: number) =>
      service.backends.chains.find((chain) => chain.chainId === chainId)?.tokens.find(({ symbol }) => symbol === 'USDC')
        ?.address
    const { acrossApi } = service.backends.providers
    let quotes = 0
    acrossApi.rewrite = (reply) => {
      quotes += 1
      return reply
    }
    onTestFinished(() => {
      acrossApi.rewrite = undefined
    })
    const of = { vaultAddress: syncVault, userAddress: USER.address }
    const asking = async (path: string, more: object, key = service.apiKey) => {
      forget(service)
      quotes = 0
      expect(await service.call('POST', path, { key, body: { ...of, ...more } })).toMatchObject({
        status: 200,
        body: { isCrossChain: true },
      })
      return { ...countRequests(service), quotes }
    }
    const { body } = await service.call('POST', DEPOSIT, { body: { ...of, amount: '60000000' } })
    await service.send(8453, USER, [...body.approval, ...body.operations])

    const source = { srcChainId: 42161, srcToken: tokenOn(42161) }
    expect(await asking(DEPOSIT, { amount: '20000000', ...source })).toEqual({ base: 1, arbitrum: 2, quotes: 1 })
    const destination = { dstChainId: 42161, dstToken: tokenOn(42161) }
    const some = { base: 2, arbitrum: 1, quotes: 1 }
    expect(await asking(WITHDRAW, { amount: '20000000', ...destination })).toEqual(some)
    expect(await asking(WITHDRAW, { shares: '20000000', ...destination })).toEqual(some)
    expect(await asking(WITHDRAW, { max: true, ...destination })).toEqual({ ...some, base: 3 })

    const vault = await openLagoonVault(service, { generation: '0.5' })
    await vault.request(USER.address, 60_000_000n)
    await vault.settle()
    await vault.act(USER.address, 'deposit', 60_000_000n, USER.address, USER.address)
    await vault.act(USER.address, 'requestRedeem', 20n * 10n ** 18n, USER.address, USER.address)
    await vault.settle()
    const claim = { vaultAddress: vault.address, kind: 'withdrawal', ...destination }
    expect(await asking(CLAIM, claim, vault.key)).toEqual({ ...some, base: 3 })
  })
})

describe('No chain gets a request', () => {
  test.for<[string, string, string, (vaults: { asyncVault: Address; syncVault: Address }) => unknown, number]>([
    [
      'for a deposit with a bad field',
      'POST',
      DEPOSIT,
      ({ asyncVault }) => ({ ...depositOf(asyncVault), amount: '0' }),
      400,
    ],
    [
      'for a deposit from a chain that is not supported',
      'POST',
      DEPOSIT,
      ({ asyncVault }) => ({ ...depositOf(asyncVault), srcChainId: 2, srcToken: NOBODYS_VAULT }),
      400,
    ],
    ['for a deposit into a vault that the client does not have', 'POST', DEPOSIT, () => depositOf(NOBODYS_VAULT), 404],
    [
      'for a withdrawal without an amount',
      'POST',
      WITHDRAW,
      ({ asyncVault }) => ({ vaultAddress: asyncVault, userAddress: USER.address }),
      400,
    ],
    ['for a claim from a vault that the client does not have', 'POST', CLAIM, () => claimOf(NOBODYS_VAULT), 404],
    ['for a cancellation in a synchronous vault', 'POST', CANCEL, ({ syncVault }) => claimOf(syncVault), 400],
    ['for a claim from a synchronous vault', 'POST', CLAIM, ({ syncVault }) => claimOf(syncVault), 400],
    ['for the status in a vault that the client does not have', 'GET', statusPath(NOBODYS_VAULT), () => undefined, 404],
    ['for health', 'GET', '/health', () => undefined, 200],
    ['for the API reference', 'GET', '/openapi.json', () => undefined, 200],
    ['for an unknown route', 'GET', '/nope', () => undefined, 404],
  ])('%s', async ([, method, path, bodyOf, expected], { service, asyncVault, syncVault }) => {
    const { status } = await service.call(method, path, { body: bodyOf({ asyncVault, syncVault }) })
    expect(status).toBe(expected)
    expect(countRequests(service)).toEqual({ base: 0, arbitrum: 0 })
  })
})

const ENDPOINTS: [string, (service: Service, vault: Address, key: string) => ReturnType<Service['call']>][] = [
  ['the vault list', (service, _, key) => service.call('GET', LIST, { key })],
  ['a deposit', (service, vault, key) => service.call('POST', DEPOSIT, { key, body: depositOf(vault) })],
  ['a claim', (service, vault, key) => service.call('POST', CLAIM, { key, body: claimOf(vault) })],
  ['a deposit status', (service, vault, key) => service.call('GET', statusPath(vault), { key })],
]

describe('Authentication takes', () => {
  test.for(ENDPOINTS)(
    'one query for %s in a new container, and none after',
    async ([, ask], { coldService, asyncVault }) => {
      await ask(coldService, asyncVault, coldService.apiKey)
      expect(queriesAndKeys(coldService).queries).toBe(1)

      coldService.table.reset()
      const { status } = await ask(coldService, asyncVault, coldService.apiKey)
      expect(status).not.toBe(401)
      expect(coldService.table.tries).toEqual([])
    },
  )

  test('one query for many parallel requests to a new container', async ({ coldService }) => {
    const replies = await Promise.all(Array.from({ length: 10 }, () => coldService.call('GET', LIST)))
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    expect(queriesAndKeys(coldService).queries).toBe(1)
  })

  test('one query, plus four batch reads in a new container for the vault list, fewer for others', async ({
    coldService,
    asyncVault,
  }) => {
    for (const [, ask] of ENDPOINTS.slice(1)) await ask(coldService, asyncVault, coldService.apiKey)
    // Each request updates a quota lease of its API key. Apart from that, no request reads a single item of the table.
    expect(queriesAndKeys(coldService)).toMatchObject({ keys: [], leases: ENDPOINTS.length - 1 })
    const replies = await Promise.all(Array.from({ length: 10 }, () => coldService.call('GET', LIST)))
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    const batches = coldService.table.tries.flatMap(({ action, body }) => (action === 'BatchGetItem' ? [body] : []))
    // Three endpoints read the job's progress for the vaults: the deposit, the status and the list.
    expect(batches.filter((body) => body.includes('PROGRESS'))).toHaveLength(3)
    // Two endpoints read the vaults' approved code and price (PIN): the deposit and the list. They share no cache,
    // because each endpoint runs in a container of its own.
    expect(batches.filter((body) => body.includes('PIN'))).toHaveLength(2)
    expect(batches.filter((body) => body.includes('prices#'))).toHaveLength(1)
    expect(batches.filter((body) => body.includes('campaigns#'))).toHaveLength(1)
    expect(batches).toHaveLength(7)
  })

  test('no query for a key with a wrong checksum, at any endpoint', async ({ coldService, asyncVault }) => {
    const key = coldService.apiKey.slice(0, -1) + (coldService.apiKey.endsWith('0') ? '1' : '0')
    for (const [, ask] of ENDPOINTS) expect(await ask(coldService, asyncVault, key)).toMatchObject({ status: 401 })
    expect(coldService.table.tries).toEqual([])
    expect(countRequests(coldService)).toEqual({ base: 0, arbitrum: 0 })
  })

  test('one query, and no request to a chain, for a key that was never issued', async ({ coldService }) => {
    const { status } = await coldService.call('GET', LIST, { key: someKey('AbCdE01234').text })
    expect(status).toBe(401)
    expect(coldService.table.tries).toHaveLength(1)
    expect(countRequests(coldService)).toEqual({ base: 0, arbitrum: 0 })
  })

  test('one more batch read per chain, for all last states, when the chains fail', async ({ service }) => {
    await service.call('GET', LIST)
    forget(service)
    service.pass(0.5)
    for (const wire of Object.values(service.rpc)) wire.behaviour = 'answer 500'
    const { body } = await service.call('GET', LIST)
    expect(body.data).toHaveLength(countOf(service))
    const actions = service.table.tries.map(({ action }) => action)
    // Each chain costs one batch read of its vaults' last states.
    expect(actions).toEqual(['BatchGetItem', 'BatchGetItem'])
  })

  test('no query where no key is needed', async ({ coldService }) => {
    for (const path of ['/health', '/openapi.json', '/nope']) await coldService.call('GET', path)
    expect(coldService.table.tries).toEqual([])
  })
})

type Cost = { readonly read: number; readonly written: number; readonly tables: number; readonly chains: number }

function cost(read: number, written: number, tables: number, chains: number): Cost {
  return { read, written, tables, chains }
}

function countCosts(service: Service): () => Cost {
  return () => {
    const { tries } = service.table
    const units = (isWritten: boolean) =>
      tries.reduce((sum, tried) => sum + (/^(Update|Put)/.test(tried.action) === isWritten ? tried.units : 0), 0)
    return {
      read: units(false),
      written: units(true),
      tables: tries.length,
      chains: Object.values(service.rpc).reduce((count, wire) => count + listRpcCalls(wire).flat().length, 0),
    }
  }
}

describe('The costs of the first request to a container and the next ones, for a client of 106 vaults:', () => {
  const POSITIONS = `/defi-vaults/v1/defi/user/${USER.address}`
  // A first request reads the client's items for 9 units. Each vault costs 1 unit for its approved code and half a
  // unit for the job's progress. The one written unit is an update of the API key's quota lease.
  test.for<[string, string, (vaults: { syncVault: Address }) => object | undefined, Cost, Cost]>([
    ['the list', LIST, () => undefined, cost(169, 1, 8, 8), cost(0, 0, 0, 8)],
    [
      'a sorted page of ten',
      `${LIST}?sort=annualYield&limit=10`,
      () => undefined,
      cost(169, 1, 8, 8),
      cost(0, 0, 0, 8),
    ],
    ['a page of ten', `${LIST}?limit=10`, () => undefined, cost(25, 1, 6, 6), cost(0, 0, 0, 6)],
    ['a vault', '/defi-vaults/v1/vault/', () => undefined, cost(10.5, 1, 6, 2), cost(0, 0, 0, 2)],
    ['a deposit', DEPOSIT, ({ syncVault }) => depositOf(syncVault), cost(9.5, 1, 4, 5), cost(0, 0, 0, 5)],
    ['positions', `${POSITIONS}/positions`, () => undefined, cost(64.5, 1, 6, 10), cost(1, 0, 1, 10)],
    ['deposits', `${POSITIONS}/deposits`, () => undefined, cost(74.5, 1, 7, 10), cost(11, 0, 2, 10)],
  ])('%s', async ([, path, bodyOf, first, next], { coldService: service, largeKey: key, syncVault }) => {
    const body = bodyOf({ syncVault })
    const ask = async () => {
      forget(service)
      service.pass(0.5)
      const readCosts = countCosts(service)
      const at = path.endsWith('/') ? `${path}${syncVault}` : path
      expect(await service.call(body ? 'POST' : 'GET', at, { key, ...(body && { body }) })).toMatchObject({
        status: 200,
      })
      return readCosts()
    }
    await service.standingStill(async () => expect([await ask(), await ask()]).toEqual([first, next]))
  })
})
