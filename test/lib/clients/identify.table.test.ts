import { timingSafeEqual } from 'node:crypto'
import { describe, expect, vi } from 'vitest'
import { clientsAdminStore } from '../../../admin/clients.ts'
import type { ApiKey, Client } from '../../../lib/clients/client.ts'
import { createClientLookup } from '../../../lib/clients/identify.ts'
import { someClient, someKey } from '../../support/clients.ts'
import { test as base } from '../../support/dynamo.ts'

// The mock counts calls of the constant-time comparison. A test cannot reliably measure the time that a comparison
// takes.
vi.mock('node:crypto', async (original) => {
  const crypto = await original<typeof import('node:crypto')>()
  return { ...crypto, timingSafeEqual: vi.fn(crypto.timingSafeEqual) }
})

const INVALID = { code: 'invalid_api_key' }

const test = base
  .extend('table', ({ tables }) => clientsAdminStore(tables.clients))
  .extend('clock', () => ({ now: Date.parse('2026-06-01T00:00:00.000Z') }))
  .extend('identify', ({ table, clock }) => createClientLookup({ get: table.get, now: () => clock.now }))
  .extend('register', ({ table, requests }) => async (client: Client, keys: Partial<ApiKey>[] = [{}]) => {
    await table.create(client)
    for (const vault of client.vaults) await table.putVault(client.clientId, vault)
    const texts = []
    for (const overrides of keys) {
      const { text, key } = someKey(client.clientId, overrides)
      await table.putKey(client.clientId, key)
      texts.push(text)
    }
    requests.length = 0
    return texts as [string, ...string[]]
  })

describe('A text in another form than a key', () => {
  test('is refused without a query', async ({ identify, requests }) => {
    for (const text of ['x', 'jk_live_', 'Bearer abc', 'é'.repeat(60), 'x'.repeat(100_000)]) {
      await expect(identify(text)).rejects.toMatchObject(INVALID)
    }
    expect(requests).toEqual([])
  })
})

describe('Rotation', () => {
  test('lets a new key work immediately while its client is in memory', async ({ identify, register, table }) => {
    const client = someClient()
    const [old] = await register(client)
    await identify(old)
    const { text, key } = someKey(client.clientId)
    await table.putKey(client.clientId, key)
    expect(await identify(text)).toMatchObject({ client })
  })

  test('lets a new key work within 10 s even while others try wrong keys', async ({
    identify,
    register,
    table,
    clock,
  }) => {
    const client = someClient()
    const [old] = await register(client)
    await identify(old)
    await expect(identify(someKey(client.clientId).text)).rejects.toMatchObject(INVALID)
    const { text, key } = someKey(client.clientId)
    await table.putKey(client.clientId, key)
    await expect(identify(text)).rejects.toMatchObject(INVALID)
    clock.now += 10_000
    expect(await identify(text)).toMatchObject({ client })
  })

  test('ends within 60 s for a revoked key, but not for the new one', async ({ identify, register, table, clock }) => {
    const client = someClient()
    const [old, fresh] = await register(client, [{ keyId: '0000000001' }, { keyId: '0000000002' }])
    await identify(old)
    await table.revokeKey(client.clientId, '0000000001', new Date(clock.now))

    clock.now += 60_000
    await expect(identify(old)).rejects.toMatchObject(INVALID)
    expect(await identify(fresh)).toMatchObject({ client })
  })
})

describe('A key that expires', () => {
  test('works until its expiry and not afterwards, in memory or not', async ({ identify, register, clock }) => {
    const [key] = await register(someClient(), [{ expiresAt: new Date(clock.now + 1000) }])
    clock.now += 999
    await identify(key)
    clock.now += 1
    await expect(identify(key)).rejects.toMatchObject(INVALID)
    clock.now += 60_000
    await expect(identify(key)).rejects.toMatchObject(INVALID)
  })
})

describe('Authentication', () => {
  test('takes one query, and none for 60 s after', async ({ identify, register, requests, clock }) => {
    const [key] = await register(someClient())
    await identify(key)
    expect(requests).toEqual(['Query'])
    clock.now += 59_999
    await identify(key)
    expect(requests).toEqual(['Query'])
    clock.now += 1
    await identify(key)
    expect(requests).toEqual(['Query', 'Query'])
  })

  test('takes one query in 10 s for all wrong keys of a client', async ({ identify, register, requests, clock }) => {
    const client = someClient()
    const [key] = await register(client)
    const tryWrong = async () => {
      for (let i = 0; i < 20; i += 1) {
        await expect(identify(someKey(client.clientId).text)).rejects.toMatchObject(INVALID)
      }
    }
    await tryWrong()
    expect(requests).toEqual(['Query'])
    clock.now += 10_000
    await tryWrong()
    expect(await identify(key)).toMatchObject({ client })
    expect(requests).toEqual(['Query', 'Query'])
  })

  test('does not remember that the table was down', async ({ register, table, clock }) => {
    const client = someClient()
    const [key] = await register(client)
    const get = vi.fn(table.get).mockRejectedValueOnce(new Error('down'))
    const identify = createClientLookup({ get, now: () => clock.now })

    await expect(identify(key)).rejects.toThrow('down')
    expect(await identify(key)).toMatchObject({ client })
  })

  test('fails without refusing the key while the table is down', async ({ clock }) => {
    const get = () => Promise.reject(new Error('down'))
    const identify = createClientLookup({ get, now: () => clock.now })
    await expect(identify(someKey('AbCdE01234').text)).rejects.toThrow('down')
  })

  test('does not remember clients that do not exist', async ({ identify, requests, table }) => {
    const client = someClient()
    const { text, key } = someKey(client.clientId)
    await expect(identify(text)).rejects.toMatchObject(INVALID)
    await table.create(client)
    await table.putKey(client.clientId, key)
    requests.length = 0

    expect(await identify(text)).toMatchObject({ client })
    expect(requests).toEqual(['Query'])
  })

  test('compares hashes in constant time, with every key of the client', async ({ identify, register }) => {
    const [first] = await register(someClient(), [{ keyId: '0000000001' }, { keyId: '0000000002' }])
    vi.mocked(timingSafeEqual).mockClear()
    await identify(first)
    expect(timingSafeEqual).toHaveBeenCalledTimes(2)
  })
})
