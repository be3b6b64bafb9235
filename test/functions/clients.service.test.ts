import { request } from 'node:http'
import type { Address } from 'viem'
import { describe, expect } from 'vitest'
import { revokeKey } from '../../admin/operations/clients.ts'
import { parseApiKey } from '../../lib/clients/api-key.ts'
import type { ApiKey } from '../../lib/clients/client.ts'
import { DEFAULT_LIMITS, type KeyLimits } from '../../lib/clients/key-limits.ts'
import { someClient, someKey } from '../support/clients.ts'
import { expectError } from '../support/errors.ts'
import { ARBITRUM, COIN, WETH } from '../support/oracles.ts'
import { test as base, type HttpReply, type Service, USERS } from '../support/service.ts'

const LIST = '/defi-vaults/v1/vaults'
const DEPOSIT = '/defi-vaults/v1/defi/vault/deposit'
const CLAIM = '/defi-vaults/v1/defi/vault/claim'
const OUT = ['withdraw', 'claim', 'cancel'] as const
const [{ address: USER }] = USERS
const NOBODYS_VAULT = '0x00000000000000000000000000000000000000A1'

const ABOUT_A_VAULT: [string, (service: Service, key: string, vault: string) => Promise<HttpReply>][] = [
  [
    'a deposit',
    (service, key, vaultAddress) =>
      service.call('POST', DEPOSIT, { key, body: { vaultAddress, amount: '1000', userAddress: USER } }),
  ],
  [
    'a deposit on its chain',
    (service, key, vaultAddress) =>
      service.call('POST', DEPOSIT, { key, body: { vaultAddress, amount: '1000', userAddress: USER, chainId: 8453 } }),
  ],
  [
    'a claim',
    (service, key, vaultAddress) => service.call('POST', CLAIM, { key, body: { vaultAddress, userAddress: USER } }),
  ],
  [
    'a deposit status',
    (service, key, vault) =>
      service.call('GET', `/defi-vaults/v1/defi/vault/${vault}/deposit-status?userAddress=${USER}`, { key }),
  ],
]

/** Path of one endpoint for each scope. The service must refuse an API key without that scope. */
const OF_SCOPE: Readonly<Record<string, string>> = {
  vaults: LIST,
  accounts: '/auth/wallets',
  portfolio: '/portfolio-indexor/token/id/bitcoin',
  markets: '/portfolio-indexor/markets',
  webhooks: '/webhooks',
}

const test = base
  .extend('vaults', ({ service }) => service.backends.chains.flatMap(({ vaults }) => vaults))
  /** The only vault of the second client. The second client's key must not see other vaults. */
  .extend('own', ({ vaults }) => vaults[1]?.address as Address)
  .extend('others', ({ vaults, own }) => vaults.map(({ address }) => address).filter((address) => address !== own))
  .extend('second', async ({ service, own }) => service.createClient([{ chainId: 8453, address: own }]))
  .extend('addKey', ({ service, second }) => async (overrides: Partial<ApiKey>) => {
    const clientId = parseApiKey(second)?.clientId as string
    const { text, key } = someKey(clientId, overrides)
    await service.backends.admin.clients.putKey(clientId, key)
    return { text, clientId, keyId: key.keyId }
  })
  .extend('limit', ({ service, vaults }) => async (limits: Partial<KeyLimits>) => {
    const places = vaults.map(({ chainId, address }) => ({ chainId, address }))
    const clientId = parseApiKey(await service.createClient(places))?.clientId as string
    const { text, key } = someKey(clientId, { limits: { ...DEFAULT_LIMITS, ...limits } })
    await service.backends.admin.clients.putKey(clientId, key)
    return text
  })
  .extend('chains', ({ service }) => {
    const [base, arbitrum] = service.backends.chains.map(({ chainId, vaults }) => ({ chainId, vaults }))
    if (!base || !arbitrum) throw new Error('There are two local chains.')
    return { base, arbitrum }
  })

/** Returns all that a caller can see of a reply, except values that differ in every reply, such as the request id and the time. */
function visible({ status, headers, body }: HttpReply) {
  const { requestId: _, ...rest } = body
  const names = [...headers].filter(([name]) => !['date', 'x-request-id', 'content-length', 'ratelimit'].includes(name))
  return { status, headers: names, body: rest }
}

describe('A client', () => {
  test('sees only its own vaults in the list, whichever client came before', async ({
    service,
    second,
    own,
    vaults,
  }) => {
    const listOf = async (key: string) => {
      const { body } = await service.call('GET', LIST, { key })
      return body.data.map(({ poolAddress }: { poolAddress: string }) => poolAddress)
    }
    const all = vaults.map(({ address }) => address).sort()
    expect((await listOf(service.apiKey)).sort()).toEqual(all)
    expect(await listOf(second)).toEqual([own])
    expect((await listOf(service.apiKey)).sort()).toEqual(all)
    const together = await Promise.all([second, service.apiKey, second].map(listOf))
    expect(together.map(({ length }) => length)).toEqual([1, all.length, 1])
  })

  test.for(ABOUT_A_VAULT)(
    "gets for %s of another client's vault exactly the reply for a missing vault",
    async ([, ask], { service, second, others }) => {
      const missing = await ask(service, second, NOBODYS_VAULT)
      expectError(missing, 'vault_not_found')
      for (const vault of others) expect(visible(await ask(service, second, vault))).toEqual(visible(missing))
    },
  )

  test.for(ABOUT_A_VAULT)(
    'does not get the error of a missing vault for %s of its own vault',
    async ([, ask], { service, second, own }) => {
      const { status } = await ask(service, second, own)
      expect([200, 400]).toContain(status)
    },
  )

  test('without vaults gets the error of no configured vaults, and finds none', async ({ service, own }) => {
    const key = await service.createClient([])
    expectError(await service.call('GET', LIST, { key }), 'no_vaults_configured')
    for (const [, ask] of ABOUT_A_VAULT) expectError(await ask(service, key, own), 'vault_not_found')
  })

  test('sees a shared vault with its own configuration', async ({ service, second, own }) => {
    const { clients } = service.backends.admin
    const record = await clients.get(parseApiKey(second)?.clientId as string)
    const client = someClient()
    const { text, key } = someKey(client.clientId)
    await clients.create(client)
    await clients.putKey(client.clientId, key)
    for (const vault of record?.client.vaults ?? []) {
      await clients.putVault(client.clientId, { ...vault, name: 'Another name', poolId: 'another-pool' })
    }
    const theirs = await service.call('GET', LIST, { key: text })
    const ours = await service.call('GET', LIST, { key: second })
    expect(theirs.body.data).toMatchObject([{ poolAddress: own, name: 'Another name', poolId: 'another-pool' }])
    expect(ours.body.data).toMatchObject([{ poolAddress: own, name: expect.not.stringMatching('Another name') }])
  })
})

describe('A key', () => {
  test('that is one of several of its client works like the others', async ({ service, second, addKey, own }) => {
    const { text } = await addKey({ name: 'rotation' })
    for (const key of [second, text]) {
      const { body } = await service.call('GET', LIST, { key })
      expect(body.data).toMatchObject([{ poolAddress: own }])
    }
  })

  test.for<[string, Partial<ApiKey>]>([
    ['is revoked', { revokedAt: new Date('2026-01-02T00:00:00.000Z') }],
    ['is expired', { expiresAt: new Date('2026-01-02T00:00:00.000Z') }],
    ['is revoked and would not expire yet', { revokedAt: new Date(), expiresAt: new Date('2999-01-01T00:00:00.000Z') }],
  ])('that %s is refused at each endpoint as `Invalid API key`', async ([, overrides], { service, addKey, own }) => {
    const { text } = await addKey(overrides)
    expectError(await service.call('GET', LIST, { key: text }), 'invalid_api_key')
    for (const [, ask] of ABOUT_A_VAULT) expectError(await ask(service, text, own), 'invalid_api_key')
  })

  test('that was used and then revoked is refused by every new container', async ({ coldService, addKey }) => {
    const { text, clientId, keyId } = await addKey({})
    const { status } = await coldService.call('GET', '/health')
    expect(status).toBe(200)
    await revokeKey(coldService.backends.admin, clientId, keyId)
    expectError(await coldService.call('GET', LIST, { key: text }), 'invalid_api_key')
  })

  test.for([['x-join-key'], ['X-JOIN-KEY'], ['X-Join-Key'], ['x-jOiN-kEy']])(
    'is found in a header written %s',
    async ([name], { service }) => {
      // The header's name is in upper case. The test does not use `fetch`, because `fetch` sends names in lower case.
      const status = await new Promise((resolve, reject) => {
        const headers = { [name as string]: service.apiKey }
        request(`${service.baseUrl}${LIST}`, { headers }, (response) => {
          response.resume()
          resolve(response.statusCode)
        })
          .once('error', reject)
          .end()
      })
      expect(status).toBe(200)
    },
  )

  test('with its last characters changed, or of another environment, is refused', async ({ service }) => {
    const { apiKey } = service
    for (const key of [apiKey.toLowerCase(), apiKey.replace('jk_test', 'jk_live'), apiKey.slice(1), `${apiKey} x`]) {
      expectError(await service.call('GET', LIST, { key }), 'invalid_api_key')
    }
  })
})

describe('A key with limits', () => {
  test.for(Object.keys(OF_SCOPE))('for %s opens nothing else', async (scope, { service, limit }) => {
    const key = await limit({ scopes: [scope as KeyLimits['scopes'][number]] })
    for (const [area, path] of Object.entries(OF_SCOPE)) {
      const reply = await service.call('GET', path, { key })
      if (area === scope) expect(reply.body.code).not.toBe('insufficient_scope')
      else expectError(reply, 'insufficient_scope')
    }
    for (const path of ['/health', '/openapi.json', '/.well-known/jwks.json']) {
      expect((await service.call('GET', path, { key })).status).toBe(200)
    }
  })

  test('is refused an area without its scope before any other check', async ({ service, limit }) => {
    const key = await limit({ scopes: ['markets'] })
    expectError(await service.call('POST', DEPOSIT, { key, body: 'not JSON' }), 'insufficient_scope')
    expectError(await service.call('GET', '/auth/sessions', { key }), 'insufficient_scope')
  })

  test('for a chain sees only its vaults, and accepts deposits only from it', async ({
    service,
    limit,
    chains: { base, arbitrum },
  }) => {
    const key = await limit({ chains: [base.chainId] })
    const { body: list } = await service.call('GET', LIST, { key })
    expect(list.data.map(({ chainId }: { chainId: number }) => chainId)).toEqual(base.vaults.map(() => base.chainId))
    const [near] = base.vaults
    const far = arbitrum.vaults.find(({ address }) => base.vaults.every((vault) => vault.address !== address))
    const deposit = { vaultAddress: near?.address, amount: '1000', userAddress: USER }
    const source = { srcChainId: arbitrum.chainId, srcToken: arbitrum.vaults[0]?.asset }
    expectError(await service.call('POST', DEPOSIT, { key, body: { ...deposit, ...source } }), 'chain_not_allowed')
    expect((await service.call('POST', DEPOSIT, { key, body: deposit })).status).toBe(200)
    for (const vaultAddress of [far?.address, NOBODYS_VAULT]) {
      const there = { ...deposit, vaultAddress, chainId: arbitrum.chainId }
      expectError(await service.call('POST', DEPOSIT, { key, body: there }), 'chain_not_allowed')
      expectError(await service.call('POST', DEPOSIT, { key, body: { ...deposit, vaultAddress } }), 'vault_not_found')
      const one = `/defi-vaults/v1/vault/${vaultAddress}`
      expectError(await service.call('GET', `${one}?chainId=${arbitrum.chainId}`, { key }), 'chain_not_allowed')
      expectError(await service.call('GET', one, { key }), 'vault_not_found')
    }
  })

  test('for a vault is refused any other, whether the client has it or it does not exist', async ({
    service,
    limit,
    chains: { base },
  }) => {
    const [near, other] = base.vaults
    const key = await limit({ vaults: [{ chainId: base.chainId, address: near?.address as Address }] })
    const { body: list } = await service.call('GET', LIST, { key })
    expect(list.data).toMatchObject([{ poolAddress: near?.address, chainId: base.chainId }])
    for (const vaultAddress of [other?.address, NOBODYS_VAULT]) {
      const body = { vaultAddress, amount: '1000', userAddress: USER }
      expectError(await service.call('POST', DEPOSIT, { key, body }), 'vault_not_allowed')
      expectError(await service.call('GET', `/defi-vaults/v1/vault/${vaultAddress}`, { key }), 'vault_not_allowed')
    }
    const body = { vaultAddress: near?.address, amount: '1000', userAddress: USER }
    expect((await service.call('POST', DEPOSIT, { key, body })).status).toBe(200)
  })

  test('for a vault that its client no longer has finds none', async ({ service, limit }) => {
    const key = await limit({ vaults: [{ chainId: 8453, address: NOBODYS_VAULT }] })
    expectError(await service.call('GET', LIST, { key }), 'no_vaults_configured')
    const body = { vaultAddress: NOBODYS_VAULT, amount: '1000', userAddress: USER }
    expectError(await service.call('POST', DEPOSIT, { key, body }), 'vault_not_found')
  })

  test('on amounts bounds each deposit of its assets, from any chain, and refuses other assets', async ({
    service,
    limit,
    chains: { base, arbitrum },
  }) => {
    const [near] = base.vaults
    const [source] = arbitrum.vaults
    const other = base.vaults.find(({ asset }) => asset !== near?.asset)
    const key = await limit({
      largestDeposits: [
        { chainId: base.chainId, asset: near?.asset as Address, amount: 1000n },
        { chainId: arbitrum.chainId, asset: source?.asset as Address, amount: 50_000_000n },
      ],
    })
    const ask = (body: object) =>
      service.call('POST', DEPOSIT, { key, body: { vaultAddress: near?.address, userAddress: USER, ...body } })
    const across = { srcChainId: arbitrum.chainId, srcToken: source?.asset }
    expect((await ask({ amount: '1000' })).status).toBe(200)
    const { body } = await ask({ amount: '1001' })
    expect(body).toMatchObject({
      code: 'deposit_limit_exceeded',
      details: [{ field: 'amount', issue: 'must be at most 1000', atMost: '1000' }],
    })
    expect((await ask({ amount: '50000000', ...across })).status).toBe(200)
    expect((await ask({ amount: '50000001', ...across })).body.code).toBe('deposit_limit_exceeded')
    const unlisted = await ask({ vaultAddress: other?.address, amount: '1' })
    expect(unlisted.body).toMatchObject({
      code: 'deposit_limit_exceeded',
      details: [{ field: 'amount', issue: expect.stringContaining(`${other?.asset}`) }],
    })
  })

  test("bounds the chain's coin as its wrapped token", async ({ service, limit, chains: { base, arbitrum } }) => {
    const key = await limit({
      largestDeposits: [{ chainId: arbitrum.chainId, asset: WETH[ARBITRUM] as Address, amount: 7n }],
    })
    const ask = async (amount: string) => {
      const body = { vaultAddress: base.vaults[0]?.address, userAddress: USER, amount }
      const reply = await service.call('POST', DEPOSIT, {
        key,
        body: { ...body, srcChainId: arbitrum.chainId, srcToken: COIN },
      })
      return reply.body.code
    }
    expect(await ask('7')).toBe('unsupported_source_token')
    expect(await ask('8')).toBe('deposit_limit_exceeded')
  })

  test.for(OUT)(
    'may %s from every vault of its client, and sees all positions of users',
    async (name, { service, limit, chains: { base, arbitrum } }) => {
      const key = await limit({
        chains: [base.chainId],
        vaults: [{ chainId: base.chainId, address: base.vaults[0]?.address as Address }],
        largestDeposits: [{ chainId: base.chainId, asset: NOBODYS_VAULT, amount: 1n }],
      })
      for (const { vaults, chainId } of [base, arbitrum]) {
        for (const { address: vaultAddress } of vaults.slice(0, 2)) {
          const body = { vaultAddress, chainId, userAddress: USER, ...(name === 'withdraw' && { max: true }) }
          const ask = (by: string) => service.call('POST', `/defi-vaults/v1/defi/vault/${name}`, { key: by, body })
          const [limited, free] = [await ask(key), await ask(service.apiKey)]
          expect([limited.status, limited.body.code]).toEqual([free.status, free.body.code])
          expect(limited.status).not.toBe(403)
        }
      }
      const positions = `/defi-vaults/v1/defi/user/${USER}/positions`
      const views = await Promise.all([key, service.apiKey].map((by) => service.call('GET', positions, { key: by })))
      expect(views[0]?.body.positions).toEqual(views[1]?.body.positions)
    },
  )
})
