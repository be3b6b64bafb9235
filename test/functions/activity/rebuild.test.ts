import { isDeepStrictEqual } from 'node:util'
import type { Address } from 'viem'
import { describe, expect } from 'vitest'
import { rebuildRecords } from '../../../admin/operations.ts'
import { rebuildVault } from '../../../lib/activity/rebuild.ts'
import type { RecordsStore } from '../../../lib/activity/store.ts'
import { createRpc } from '../../../lib/chain/nodes.ts'
import { chainReader } from '../../../lib/chain/reader.ts'
import { evmChain } from '../../../lib/chain/registry.ts'
import type { VaultOnChain } from '../../../lib/protocols/vault-on-chain.ts'
import { expireLease, finalize, recordAll, recordsOf, refresh, scanRecords, viewsFor } from '../../support/records.ts'
import { test as base, type Service, USERS } from '../../support/service.ts'
import { openLagoonVault, openYieldVault, ROLES, type TestVault } from '../../support/vaults.ts'
import type { Wire } from '../../support/wire.ts'

const [ALICE, BOB] = USERS
const BASE = 8453

type Change = (records: RecordsStore) => RecordsStore

const test = base
  /** A recorded vault with fees, a claim and a gift behind it. */
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
function rebuild(
  service: Service,
  { address }: Pick<TestVault, 'address'>,
  { change = (records) => records, said = [] }: { change?: Change; said?: string[] } = {},
) {
  const chain = evmChain(BASE) as NonNullable<ReturnType<typeof evmChain>>
  const rpc = createRpc(
    [service.rpc[BASE]?.url ?? ''],
    { fetch, random: Math.random, now: Date.now },
    { chainId: BASE },
  )
  const dependencies = {
    reader: chainReader(chain, rpc),
    records: change(recordsOf(service)),
    now: Date.now,
    sleep: async () => {},
    say: (line: string) => said.push(line),
  }
  const admin = { ...service.backends.admin, rebuildVault: (vault: VaultOnChain) => rebuildVault(dependencies, vault) }
  return rebuildRecords(admin, { chainId: BASE, address })
}

/** Has something done before each question to the table. */
function before(act: (name: keyof RecordsStore) => unknown): Change {
  return (records) =>
    new Proxy(records, {
      get(target, name: keyof RecordsStore) {
        const ask = target[name] as (...args: unknown[]) => unknown
        return async (...args: unknown[]) => {
          await act(name)
          return await ask(...args)
        }
      },
    })
}

/** Has something done when the past is read and written, before the new records are put in force. */
function beforeLease(act: () => unknown): Change {
  return before((name) => (name === 'takeLease' ? act() : undefined))
}

/** What these accounts see of a vault: all, unless told. */
async function booksOf(
  service: Service,
  { key, address }: TestVault,
  accounts: readonly Address[] = [ALICE.address, BOB.address, ROLES.feeReceiver],
) {
  const views = viewsFor(service, key)
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
  const [[last] = []] = await records.listEntries(BOB.address, [{ chainId: BASE, address }])
  if (!last) throw new Error('Nothing is recorded')
  const wrong = { ...last, kind: 'receive' as const, assets: 77n, shares: 10n ** 18n }
  const spurious = { ...last, logIndex: 99_999, kind: 'deposit' as const, requestId: 0n, assets: 5n, shares: 5n }
  await records.record([
    { vault: { chainId: BASE, address, protocol: 'lagoon' }, entries: [wrong, spurious], prices: [] },
  ])
}

/** The ledger entries and prices of a vault that are in the table, whether they are in force or not. */
async function everythingOf(service: Service, { address }: Pick<TestVault, 'address'>) {
  const items = [...(await scanRecords(service)).values()].filter(({ sk }) => /^(MOVE|PRICE)/.test(String(sk)))
  return items.filter((item) => item['vault'] === address || String(item['pk']).includes(`#${address}`))
}

async function pricesOf(service: Service, { address }: Pick<TestVault, 'address'>) {
  return await recordsOf(service).listPrices({ chainId: BASE, address }, 0n)
}

describe('A rebuild', () => {
  test('puts what the chain tells in the place of what was recorded, and deletes the rest', async ({
    service,
    vault,
  }) => {
    const right = await booksOf(service, vault)
    const rightPrices = await pricesOf(service, vault)
    const size = (await everythingOf(service, vault)).length
    await spoil(service, vault)
    expect(await booksOf(service, vault)).not.toEqual(right)
    const said: string[] = []
    expect(await rebuild(service, vault, { said })).toEqual([
      expect.stringMatching(/^Rebuilt the records of 0x.*; deleted \d+ old ones\.$/),
    ])
    expect(said[0]).toMatch(/^Read to block \d+ of \d+ \(20\d\d-\d\d-\d\d\): \d+ entries\.$/)
    expect(await booksOf(service, vault)).toEqual(right)
    expect(await pricesOf(service, vault)).toEqual(rightPrices)
    expect(await everythingOf(service, vault)).toHaveLength(size)
  })

  test('while the job is at work and things go on happening leaves nothing out', async ({ service, vault }) => {
    await spoil(service, vault)
    const outcomes: string[] = []
    const jobRuns = before(async () => {
      await vault.act(ALICE.address, 'transfer', BOB.address, 10n ** 16n)
      await finalize(vault.chain)
      outcomes.push((await refresh(BASE)).outcome)
    })
    await rebuild(service, vault, { change: jobRuns })
    expect(new Set(outcomes)).toEqual(new Set(['refreshed', 'another run is at work']))
    await recordAll(vault.chain)
    const shown = (await booksOf(service, vault)).map(({ deposits }) => deposits)
    const records = await everythingOf(service, vault)
    await rebuild(service, vault)
    expect((await booksOf(service, vault)).map(({ deposits }) => deposits)).toEqual(shown)
    expect(await everythingOf(service, vault)).toHaveLength(records.length)
  })

  test('that is killed anywhere leaves the old books or the new ones, and can be repeated', async ({
    service,
    vault,
  }) => {
    const all = await booksOf(service, vault)
    const size = (await everythingOf(service, vault)).length
    const right = await booksOf(service, vault, [BOB.address])
    await spoil(service, vault)
    const wrong = await booksOf(service, vault, [BOB.address])
    const seen: boolean[] = []
    // Killed before each request to the table; of those that delete, before some.
    for (let requests = 0, hasEnded = false; !hasEnded; requests += seen.at(-1) ? 4 : 1) {
      let left = requests
      const kill = () =>
        recordsOf(service, () => {
          if (left === 0) throw new Error('killed')
          left -= 1
        })
      hasEnded = await rebuild(service, vault, { change: kill }).then(
        () => true,
        () => false,
      )
      await expireLease(service, BASE)
      const books = await booksOf(service, vault, [BOB.address])
      expect([wrong, right]).toContainEqual(books)
      seen.push(isDeepStrictEqual(books, right))
    }
    // Old books, then, from one moment on, new ones.
    expect(seen.join()).toMatch(/^(false,){8,}(true,?){4,}$/)
    await rebuild(service, vault)
    expect(await booksOf(service, vault)).toEqual(all)
    expect(await everythingOf(service, vault)).toHaveLength(size)
  })

  test('does not take the place of a later one, nor delete what that has written', async ({ service, vault }) => {
    const right = await booksOf(service, vault)
    await spoil(service, vault)
    await expect(rebuild(service, vault, { change: beforeLease(() => rebuild(service, vault)) })).rejects.toThrow(
      /^Another rebuild/,
    )
    expect(await booksOf(service, vault)).toEqual(right)

    const [written, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const waits = beforeLease(async () => {
      written.resolve()
      await ended.promise
    })
    let later: Promise<unknown> | undefined
    const starts = beforeLease(async () => {
      later = rebuild(service, vault, { change: waits })
      await written.promise
    })
    await rebuild(service, vault, { change: starts })
    ended.resolve()
    await later
    expect(await booksOf(service, vault)).toEqual(right)
  })

  test('of a synchronous vault keeps the prices that were read in hours without a trade', async ({ service }) => {
    const sync = await openYieldVault(service)
    await sync.mint(ALICE.address, 9_000_000n)
    await sync.approve(ALICE.address, 9_000_000n)
    await sync.act(ALICE.address, 'deposit', 9_000_000n, ALICE.address)
    await recordAll(sync.chain)
    const [first] = await pricesOf(service, sync)
    if (!first) throw new Error('No price is recorded')
    const [wrong, read] = [0n, 7_200n].map((later) => ({
      price: first.price + 3n + later,
      timestamp: first.timestamp + later,
      blockNumber: 0n,
    }))
    if (!wrong || !read) throw new Error('There are two')
    await recordsOf(service).record([
      { vault: { chainId: BASE, address: sync.address, protocol: 'erc4626' }, entries: [], prices: [wrong, read] },
    ])
    await rebuild(service, sync)
    const prices = await pricesOf(service, sync)
    expect(prices).toContainEqual({ price: read.price, timestamp: read.timestamp })
    expect(prices).not.toContainEqual(expect.objectContaining({ price: wrong.price }))
  })

  test('of a vault that nobody has, or whose chain cannot be read, changes nothing', async ({ service, vault }) => {
    const records = await scanRecords(service)
    await expect(rebuild(service, { address: ROLES.safe })).rejects.toThrow(/^No client has a vault/)
    ;(service.rpc[BASE] as Wire).behaviour = 'answer 500'
    await expect(rebuild(service, vault)).rejects.toMatchObject({ code: 'upstream_unavailable' })
    expect(await scanRecords(service)).toEqual(records)
  })
})
