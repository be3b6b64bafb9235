import { getAddress, type Hex, padHex, zeroAddress } from 'viem'
import { describe, expect } from 'vitest'
import { clientsAdminStore } from '../../admin/clients.ts'
import { clientVaultKey } from '../../lib/clients/store.ts'
import { VaultOnChain } from '../../lib/protocols/vault-on-chain.ts'
import { Vault } from '../../lib/vaults/vault.ts'
import { someClient, someKey, someVault } from '../support/clients.ts'
import { test as base } from '../support/dynamo.ts'
import { scanTable } from '../support/tables.ts'

const test = base.extend('table', ({ tables }) => clientsAdminStore(tables.clients))

describe('A client', () => {
  test('is read as it was stored, with its keys and vaults, in one query', async ({ table, requests }) => {
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

  test('is null if it does not exist', async ({ table }) => {
    expect(await table.get('0000000000')).toBeNull()
  })

  test('is read completely if it fills more than one page of 1 MB', async ({ table, requests }) => {
    const client = someClient()
    await table.create(client)
    const description = 'x'.repeat(300_000)
    const addresses = ['A1', 'b2', 'C3', 'D4', 'E5'].map((end) => `0x${'0'.repeat(38)}${end}` as const)
    for (const address of addresses) await table.putVault(client.clientId, someVault({ address, description }))

    requests.length = 0
    expect((await table.get(client.clientId))?.client.vaults).toHaveLength(5)
    expect(requests).toEqual(['Query', 'Query'])
  })

  test('has no keys or vaults of another client', async ({ table }) => {
    const [mine, other] = [someClient({ name: 'Mine' }), someClient({ name: 'Other' })]
    for (const client of [mine, other]) await table.create(client)
    await table.putVault(other.clientId, someVault())
    await table.putKey(other.clientId, someKey(other.clientId).key)

    expect(await table.get(mine.clientId)).toEqual({ client: mine, keys: [] })
  })

  test('is created once if two requests race for its id', async ({ table }) => {
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

  test('that was stored in another form is refused when read', async ({ table, tables }) => {
    const client = someClient()
    await table.create(client)
    const broken = { pk: `CLIENT#${client.clientId}`, sk: 'KEY#0000000001', keyId: '0000000001' }
    await tables.clients.putMany([broken])

    await expect(table.get(client.clientId)).rejects.toThrow('sha256')
  })
})

describe('A key', () => {
  test('is stored once under its id', async ({ table }) => {
    const { key } = someKey('AbCdE01234')
    expect(await table.putKey('AbCdE01234', key)).toBe(true)
    expect(await table.putKey('AbCdE01234', { ...key, name: 'another' })).toBe(false)
  })

  test('is revoked once, at the given time', async ({ table }) => {
    const client = someClient()
    const { key } = someKey(client.clientId)
    await table.create(client)
    await table.putKey(client.clientId, key)
    const at = new Date('2026-03-01T00:00:00.000Z')

    expect(await table.revokeKey(client.clientId, key.keyId, at)).toBe(true)
    expect(await table.revokeKey(client.clientId, key.keyId, new Date())).toBe(false)
    expect((await table.get(client.clientId))?.keys).toEqual([{ ...key, revokedAt: at }])
  })

  test('that does not exist cannot be revoked, and revoking it leaves nothing behind', async ({ table, tables }) => {
    expect(await table.revokeKey('AbCdE01234', '0000000001', new Date())).toBe(false)
    expect(await scanTable(tables.clients)).toEqual(new Map())
  })

  test('is never stored in full', async ({ table, tables }) => {
    const { text, key } = someKey('AbCdE01234')
    await table.putKey('AbCdE01234', key)
    const items = [...(await scanTable(tables.clients)).values()]
    const secret = text.split('_')[3]?.slice(0, 32)
    expect(JSON.stringify(items)).toContain(key.sha256)
    expect(JSON.stringify(items)).not.toContain(secret)
  })
})

describe('A vault', () => {
  test('is added once, and removed', async ({ table }) => {
    const client = someClient()
    const vault = someVault()
    await table.create(client)

    expect(await table.putVault(client.clientId, vault)).toBe(true)
    expect(await table.putVault(client.clientId, vault)).toBe(false)
    await table.removeVault(client.clientId, vault)
    expect((await table.get(client.clientId))?.client.vaults).toEqual([])
  })

  test('can have the same address on two chains', async ({ table }) => {
    const client = someClient()
    await table.create(client)
    for (const chainId of [8453, 42161])
      expect(await table.putVault(client.clientId, someVault({ chainId }))).toBe(true)
    await table.removeVault(client.clientId, someVault({ chainId: 8453 }))

    expect((await table.get(client.clientId))?.client.vaults.map(({ chainId }) => chainId)).toEqual([42161])
  })

  test('is found once by its chain, whichever clients have it', async ({ table }) => {
    const shared = someVault({ address: '0x00000000000000000000000000000000000000A1' })
    const single = someVault({ address: '0x00000000000000000000000000000000000000b2' })
    const elsewhere = someVault({ chainId: 42161 })
    await table.create(someClient({ clientId: '0000000001' }))
    await table.putVault('0000000001', shared)
    await table.putVault('0000000002', shared)
    await table.putVault('0000000002', single)
    await table.putVault('0000000002', elsewhere)

    const addresses = (await table.listVaultsOnChain(8453)).map(({ address }) => address)
    expect(addresses).toEqual([shared.address, single.address])
    expect(await table.listVaultsOnChain(1)).toEqual([])
  })

  test('is listed and read once per chain, with its latest chain data, for any number of clients', async ({
    table,
    requests,
  }) => {
    const description = 'x'.repeat(300_000)
    const clientIds = ['0000000001', '0000000002', '0000000003', '0000000004', '0000000005']
    for (const clientId of clientIds) await table.putVault(clientId, someVault({ description }))
    const last = someVault({ address: '0x00000000000000000000000000000000000000b2' })
    await table.putVault('0000000001', last)

    requests.length = 0
    // The table stores a vault's on-chain data once, without the texts that each client sets for the vault.
    const vaults = [someVault(), last].map((vault) => VaultOnChain.parse(Vault.encode(vault)))
    expect(await table.listVaultsOnChain(8453)).toEqual(vaults)
    expect(await table.listClientsOf([last, someVault(), someVault({ chainId: 10 })])).toEqual([
      ['0000000001'],
      clientIds,
      [],
    ])
    expect(requests).toEqual(['Query', 'BatchGetItem'])
  })

  test('is found between two addresses by their numeric order, whatever their letter case', async ({ table }) => {
    const addresses = ['0xA1', '0xaa', '0xb2', '0xBC', '0xc3'].map((text) =>
      getAddress(padHex(text.toLowerCase() as Hex, { size: 20 })),
    )
    for (const address of addresses) await table.putVault('0000000001', someVault({ address }))
    const [, from = zeroAddress, , to = zeroAddress] = addresses
    const vaults = await table.listVaultsOnChain(8453, { from, to })
    expect(vaults.map(({ address }) => address)).toEqual(addresses.slice(1, 4))
  })

  test('that is added and removed concurrently is listed while one client has it', async ({ table }) => {
    const clientIds = Array.from({ length: 6 }, (_, index) => `000000000${index}`)
    const vault = someVault()
    const add = (clientId: string) => table.putVault(clientId, vault)
    const remove = (clientId: string) => table.removeVault(clientId, vault)
    expect(await Promise.all(clientIds.map(add))).toEqual(clientIds.map(() => true))
    expect(await table.listClientsOf([vault])).toEqual([clientIds])

    const [first = '', ...others] = clientIds
    await Promise.all([...others.map(remove), add('0000000009')])
    expect(await table.listClientsOf([vault])).toEqual([[first, '0000000009']])
    expect(await table.getVaultOnChain(vault)).toMatchObject({ address: vault.address })

    const removed = await Promise.all([first, '0000000009', first].map(remove))
    expect(removed.filter((one) => one?.isLast)).toHaveLength(1)
    expect(removed.filter((one) => one === undefined)).toHaveLength(1)
    expect(await table.listClientsOf([vault])).toEqual([[]])
    expect(await table.listVaultsOnChain(vault.chainId)).toEqual([])
  })

  test('is added and removed once even if responses are lost', async ({ table, loseAnswers }) => {
    loseAnswers()
    const vault = someVault()
    expect(await table.putVault('0000000001', vault)).toBe(true)
    expect(await table.putVault('0000000002', vault)).toBe(true)
    expect(await table.removeVault('0000000001', vault)).toEqual({ isLast: false })
    expect(await table.listClientsOf([vault])).toEqual([['0000000002']])
  })

  test('is listed again after a restore of only the client’s partition, once if it was still listed', async ({
    table,
    tables,
  }) => {
    const [vault, otherVault] = [someVault(), someVault({ chainId: 42161 })]
    for (const one of [vault, otherVault]) await table.putVault('0000000001', one)
    await table.putVault('0000000002', otherVault)
    const items = [...(await scanTable(tables.clients)).values()]
    for (const one of [vault, otherVault]) await table.removeVault('0000000001', one)
    await tables.clients.putMany(items.filter(({ pk }) => pk === 'CLIENT#0000000001'))
    expect(await table.relistVaults()).toBe(2)
    expect(await table.relistVaults()).toBe(0)
    expect(await table.listClientsOf([vault, otherVault])).toEqual([['0000000001'], ['0000000001', '0000000002']])
    expect(await table.listVaultsOnChain(vault.chainId)).toHaveLength(1)
  })

  test('that is not listed is removed from its client and stays with others', async ({ table, tables }) => {
    const vault = someVault()
    await table.putVault('0000000001', vault)
    await tables.clients.add(Vault, clientVaultKey('0000000002', vault.chainId, vault.address), vault)
    expect(await table.removeVault('0000000002', vault)).toEqual({ isLast: false })
    expect(await table.listClientsOf([vault])).toEqual([['0000000001']])
  })
})
