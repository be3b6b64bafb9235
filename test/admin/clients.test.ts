import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb'
import { describe, expect } from 'vitest'
import { clientsAdminStore } from '../../admin/clients.ts'
import { VaultOnChain } from '../../lib/protocols/vault-on-chain.ts'
import { Vault } from '../../lib/vaults/vault.ts'
import { someClient, someKey, someVault } from '../support/clients.ts'
import { test as base } from '../support/dynamo.ts'

const test = base.extend('table', ({ dynamo, tableNames }) => clientsAdminStore(dynamo, tableNames.clients))

describe('A client', () => {
  test('comes back as it was stored, with its keys and vaults, in one query', async ({ table, requests }) => {
    const client = someClient({
      vaults: [
        someVault(),
        {
          ...someVault({ chainId: 42161 }),
          protocol: 'lagoon',
          safe: '0x00000000000000000000000000000000000000C3',
          valuationManager: '0x00000000000000000000000000000000000000D4',
          pendingSilo: '0x00000000000000000000000000000000000000E5',
        },
      ],
    })
    const keys = [
      someKey(client.clientId, { keyId: '0000000001' }).key,
      someKey(client.clientId, { keyId: '0000000002', expiresAt: new Date('2027-01-31T23:59:59.999Z') }).key,
    ]
    await table.create(client)
    for (const key of keys) await table.putKey(client.clientId, key)
    for (const vault of client.vaults) await table.putVault(client.clientId, vault)

    requests.length = 0
    const record = await table.get(client.clientId)

    expect(requests).toEqual(['Query'])
    expect(record?.keys).toEqual(keys)
    expect(record?.client).toEqual({ ...client, vaults: [client.vaults[1], client.vaults[0]] })
  })

  test('is null when there is none', async ({ table }) => {
    expect(await table.get('0000000000')).toBeNull()
  })

  test('is read to the end when it fills more than one page of 1 MB', async ({ table, requests }) => {
    const client = someClient()
    await table.create(client)
    const description = 'x'.repeat(300_000)
    const addresses = ['A1', 'b2', 'C3', 'D4', 'E5'].map((end) => `0x${'0'.repeat(38)}${end}` as const)
    for (const address of addresses) await table.putVault(client.clientId, someVault({ address, description }))

    requests.length = 0
    expect((await table.get(client.clientId))?.client.vaults).toHaveLength(5)
    expect(requests).toEqual(['Query', 'Query'])
  })

  test('sees nothing that belongs to another client', async ({ table }) => {
    const [mine, other] = [someClient({ name: 'Mine' }), someClient({ name: 'Other' })]
    for (const client of [mine, other]) await table.create(client)
    await table.putVault(other.clientId, someVault())
    await table.putKey(other.clientId, someKey(other.clientId).key)

    expect(await table.get(mine.clientId)).toEqual({ client: mine, keys: [] })
  })

  test('is created once when two race for its id', async ({ table }) => {
    const clientId = 'AbCdE01234'
    const outcomes = await Promise.all([
      table.create(someClient({ clientId, name: 'First' })),
      table.create(someClient({ clientId, name: 'Second' })),
    ])

    expect(outcomes.toSorted()).toEqual([false, true])
    expect((await table.get(clientId))?.client.name).toBe(outcomes[0] ? 'First' : 'Second')
  })

  test('is listed with all others, oldest first', async ({ table }) => {
    const newer = someClient({ name: 'Newer', createdAt: new Date('2026-02-01T00:00:00.000Z') })
    const older = someClient({ name: 'Older', createdAt: new Date('2026-01-01T00:00:00.000Z') })
    for (const client of [newer, older]) await table.create(client)
    await table.putVault(older.clientId, someVault())

    expect((await table.list()).map(({ name }) => name)).toEqual(['Older', 'Newer'])
  })

  test('that was stored in another form is refused on the way out', async ({ table, dynamo, tableNames }) => {
    const client = someClient()
    await table.create(client)
    const broken = { pk: `CLIENT#${client.clientId}`, sk: 'KEY#0000000001', keyId: '0000000001' }
    await dynamo.send(new PutCommand({ TableName: tableNames.clients, Item: broken }))

    await expect(table.get(client.clientId)).rejects.toThrow('sha256')
  })
})

describe('A key', () => {
  test('is stored once under its id', async ({ table }) => {
    const { key } = someKey('AbCdE01234')
    expect(await table.putKey('AbCdE01234', key)).toBe(true)
    expect(await table.putKey('AbCdE01234', { ...key, name: 'another' })).toBe(false)
  })

  test('is revoked once, at the moment given', async ({ table }) => {
    const client = someClient()
    const { key } = someKey(client.clientId)
    await table.create(client)
    await table.putKey(client.clientId, key)
    const at = new Date('2026-03-01T00:00:00.000Z')

    expect(await table.revokeKey(client.clientId, key.keyId, at)).toBe(true)
    expect(await table.revokeKey(client.clientId, key.keyId, new Date())).toBe(false)
    expect((await table.get(client.clientId))?.keys).toEqual([{ ...key, revokedAt: at }])
  })

  test('that does not exist cannot be revoked, and revoking it leaves nothing behind', async ({
    table,
    dynamo,
    tableNames,
  }) => {
    expect(await table.revokeKey('AbCdE01234', '0000000001', new Date())).toBe(false)
    expect(await dynamo.send(new ScanCommand({ TableName: tableNames.clients }))).toMatchObject({ Count: 0 })
  })

  test('never stands in the table in full', async ({ table, dynamo, tableNames }) => {
    const { text, key } = someKey('AbCdE01234')
    await table.putKey('AbCdE01234', key)
    const { Items } = await dynamo.send(new ScanCommand({ TableName: tableNames.clients }))
    const secret = text.split('_')[3]?.slice(0, 32)
    expect(JSON.stringify(Items)).toContain(key.sha256)
    expect(JSON.stringify(Items)).not.toContain(secret)
  })
})

describe('A vault', () => {
  test('is added once, and removed', async ({ table }) => {
    const client = someClient()
    const vault = someVault()
    await table.create(client)

    expect(await table.putVault(client.clientId, vault)).toBe(true)
    expect(await table.putVault(client.clientId, vault)).toBe(false)
    await table.removeVault(client.clientId, vault.chainId, vault.address)
    expect((await table.get(client.clientId))?.client.vaults).toEqual([])
  })

  test('can stand under the same address on two chains', async ({ table }) => {
    const client = someClient()
    await table.create(client)
    for (const chainId of [8453, 42161])
      expect(await table.putVault(client.clientId, someVault({ chainId }))).toBe(true)
    await table.removeVault(client.clientId, 8453, someVault().address)

    expect((await table.get(client.clientId))?.client.vaults.map(({ chainId }) => chainId)).toEqual([42161])
  })

  test('is found by its chain, once, whichever clients have it', async ({ table }) => {
    const shared = someVault({ address: '0x00000000000000000000000000000000000000A1' })
    const single = someVault({ address: '0x00000000000000000000000000000000000000b2' })
    const elsewhere = someVault({ chainId: 42161 })
    await table.create(someClient({ clientId: '0000000001' }))
    await table.putVault('0000000001', shared)
    await table.putVault('0000000002', shared)
    await table.putVault('0000000002', single)
    await table.putVault('0000000002', elsewhere)

    const addresses = (await table.listVaultsOnChain(8453)).vaults.map(({ address }) => address)
    expect(addresses).toEqual([shared.address, single.address])
    expect((await table.listVaultsOnChain(1)).vaults).toEqual([])
  })

  test('is found by its chain also when the vaults fill more than one page', async ({ table, requests }) => {
    const description = 'x'.repeat(300_000)
    for (const clientId of ['0000000001', '0000000002', '0000000003', '0000000004', '0000000005']) {
      await table.putVault(clientId, someVault({ description }))
    }
    const last = someVault({ address: '0x00000000000000000000000000000000000000b2' })
    await table.putVault('0000000001', last)

    requests.length = 0
    // What the chain told of them, and nothing that is the clients' own.
    const vaults = [someVault(), last].map((vault) => VaultOnChain.parse(Vault.encode(vault)))
    expect((await table.listVaultsOnChain(8453)).vaults).toEqual(vaults)
    expect(requests).toEqual(['Query', 'Query'])
  })
})
