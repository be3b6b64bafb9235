import { describe, expect } from 'vitest'
import { rebuildRecords } from '../../../infra/admin/operations.ts'
import { createRpc } from '../../../lib/chain/nodes.ts'
import { chainReader } from '../../../lib/chain/reader.ts'
import { evmChain } from '../../../lib/chain/registry.ts'
import { rebuildVault } from '../../../lib/deposits/rebuild.ts'
import type { RecordsTable } from '../../../lib/deposits/table.ts'
import type { FollowedVault } from '../../../lib/vaults/vault.ts'
import { expireLease, recordAll, recordsOf, scanRecords, viewsFor } from '../../support/records.ts'
import { test as base, type Service, USERS } from '../../support/service.ts'
import { openLagoonVault, ROLES, type TestVault } from '../../support/vaults.ts'
import type { Wire } from '../../support/wire.ts'

const [ALICE, BOB] = USERS

type Change = (records: RecordsTable) => RecordsTable

const test = base
  /** A recorded vault with fees, a claim, a gift and a redemption behind it. */
  .extend('vault', async ({ service }) => {
    const rates = { managementRate: 200, performanceRate: 2_000, entryRate: 100, exitRate: 100, haircutRate: 0 }
    const vault = await openLagoonVault(service, { generation: '0.6', ...rates })
    await vault.request(ALICE.address, 9_000_000n)
    await vault.settle()
    await vault.act(ALICE.address, 'deposit', 9_000_000n, ALICE.address, ALICE.address)
    await vault.settle(1_234_567n)
    await vault.act(ALICE.address, 'transfer', BOB.address, 10n ** 18n)
    await recordAll(vault.chain)
    return vault
  })

/** The operator's command over the local service, which does not wait; `change` stands between it and the table. */
function rebuild(service: Service, { address }: TestVault, change: Change = (records) => records) {
  const chain = evmChain(8453) as NonNullable<ReturnType<typeof evmChain>>
  const rpc = createRpc(
    [service.rpc[8453]?.url ?? ''],
    { fetch, random: Math.random, now: Date.now },
    { chainId: 8453 },
  )
  const dependencies = {
    reader: chainReader(chain, rpc),
    records: change(recordsOf(service)),
    now: Date.now,
    sleep: async () => {},
    say: () => {},
  }
  const admin = { ...service.backends.admin, rebuildVault: (vault: FollowedVault) => rebuildVault(dependencies, vault) }
  return rebuildRecords(admin, { chainId: 8453, address })
}

/** What everybody sees of a vault. */
async function booksOf(service: Service, { key, address }: TestVault) {
  const views = viewsFor(service, key)
  const accounts = [ALICE.address, BOB.address, ROLES.feeReceiver]
  return await Promise.all(
    accounts.map(async (account) => {
      const { earnedAssets: _, ...position } = (await views.position(account, address)).body
      return { position, deposits: (await views.deposits(account)).body.deposits }
    }),
  )
}

/** Makes the records those of a service that knew no fees and recorded requests of nothing. */
async function spoil(service: Service, { address }: TestVault): Promise<void> {
  const records = recordsOf(service)
  const [last] = (await records.listMovements(BOB.address)).filter(({ vault }) => vault === address)
  if (!last) throw new Error('Nothing is recorded')
  const wrong = { ...last, kind: 'receive' as const, assets: 77n, shares: 10n ** 18n }
  const spurious = { ...last, logIndex: 99_999, kind: 'deposit' as const, requestId: 0n, assets: 5n, shares: 5n }
  await records.record([wrong, spurious], [])
}

const generationsIn = async (service: Service, { address }: TestVault) => {
  const items = [...(await scanRecords(service)).values()]
  const own = items.filter((item) => item['vault'] === address || String(item['pk']).includes(`#${address}`))
  const records = own.filter(({ sk }) => /^(MOVE|PRICE)#/.test(String(sk)))
  return new Set(records.map((item) => item['generation'] ?? String(item['pk']).split('#')[3]))
}

describe('A rebuild', () => {
  test('puts what the chain tells in the place of what was recorded, and deletes the rest', async ({
    service,
    vault,
  }) => {
    const right = await booksOf(service, vault)
    await spoil(service, vault)
    expect(await booksOf(service, vault)).not.toEqual(right)
    expect(await rebuild(service, vault)).toEqual([expect.stringMatching(/^Rebuilt the records of 0x/)])
    expect(await booksOf(service, vault)).toEqual(right)
    expect((await generationsIn(service, vault)).size).toBe(2)

    // The job goes on from there, in the new books.
    await vault.act(ALICE.address, 'transfer', BOB.address, 10n ** 17n)
    await vault.settle(765_432n)
    const live = await booksOf(service, vault)
    await recordAll(vault.chain)
    expect(await booksOf(service, vault)).toMatchObject(live.map(({ deposits }) => ({ deposits })))
    await rebuild(service, vault)
    expect(await booksOf(service, vault)).toMatchObject(live.map(({ deposits }) => ({ deposits })))
  })

  test('that is killed anywhere leaves the old books or the new ones, and can be repeated', async ({
    service,
    vault,
  }) => {
    const right = await booksOf(service, vault)
    await spoil(service, vault)
    const wrong = await booksOf(service, vault)
    const seen: ('wrong' | 'right')[] = []
    for (let calls = 0; calls < 20; calls += 1) {
      let left = calls
      const kill: Change = (records) =>
        new Proxy(records, {
          get: (target, name: keyof RecordsTable) =>
            typeof target[name] !== 'function'
              ? target[name]
              : (...args: unknown[]) => {
                  if (left === 0) throw new Error('killed')
                  left -= 1
                  return (target[name] as (...of: unknown[]) => unknown)(...args)
                },
        })
      const ended = await rebuild(service, vault, kill).then(
        () => true,
        () => false,
      )
      await expireLease(service, 8453)
      const books = await booksOf(service, vault)
      expect([wrong, right]).toContainEqual(books)
      seen.push(JSON.stringify(books) === JSON.stringify(right) ? 'right' : 'wrong')
      if (ended) break
    }
    // Old books, then, from one moment on, new ones.
    expect(seen.join()).toMatch(/^(wrong,){3,}(right,?){2,}$/)
    await rebuild(service, vault)
    expect(await booksOf(service, vault)).toEqual(right)
    expect((await generationsIn(service, vault)).size).toBe(2)
  })

  test('of a vault that nobody has, or whose chain cannot be read, changes nothing', async ({ service, vault }) => {
    const before = await scanRecords(service)
    const nobodys = { ...vault, address: ROLES.safe }
    await expect(rebuild(service, nobodys)).rejects.toThrow(/^No client has a vault/)
    ;(service.rpc[8453] as Wire).behaviour = 'answer 500'
    await expect(rebuild(service, vault)).rejects.toMatchObject({ code: 'upstream_unavailable' })
    expect(await scanRecords(service)).toEqual(before)
  })
})
