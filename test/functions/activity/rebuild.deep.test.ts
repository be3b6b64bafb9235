import type { Address } from 'viem'
import { describe, expect } from 'vitest'
import { runCommandLine } from '../../../admin/command-line.ts'
import { rebuildRecords } from '../../../admin/operations/vaults.ts'
import { requestRebuild } from '../../../lib/activity/recording/rebuild.ts'
import { runsStore } from '../../../lib/activity/recording/runs-store.ts'
import { initialProgress, type VaultProgress } from '../../../lib/activity/store.ts'
import type { Item } from '../../../lib/aws/requests.ts'
import type { VaultOnChain } from '../../../lib/protocols/vault-on-chain.ts'
import { rewriteResults } from '../../support/chain-answers.ts'
import {
  expireLease,
  finalize,
  recordAll,
  recordsOf,
  refresh,
  restoreRecords,
  scanRecords,
  viewsFor,
} from '../../support/records.ts'
import { test as base, type Service, USERS } from '../../support/service.ts'
import { openLagoonVault, openYieldVault, ROLES, type TestVault } from '../../support/vaults.ts'
import type { Wire } from '../../support/wire.ts'

const [ALICE, BOB] = USERS
const BASE = 8453

const test = base.extend('vault', ({ service }) => service.restore('vault', () => openSeasonedVault(service)))

/** A recorded vault with fees, a claim, a gift and redemptions behind it. */
async function openSeasonedVault(service: Service): Promise<TestVault> {
  const rates = { managementRate: 200, performanceRate: 2_000, entryRate: 100, exitRate: 100, haircutRate: 0 }
  const vault = await openLagoonVault(service, { generation: '0.6', ...rates })
  await vault.request(ALICE.address, 9_000_000n)
  await vault.settle()
  await vault.act(ALICE.address, 'deposit', 9_000_000n, ALICE.address, ALICE.address)
  await vault.settle(1_234_567n)
  await vault.act(ALICE.address, 'transfer', BOB.address, 10n ** 18n)
  const redeem = async () => vault.act(ALICE.address, 'requestRedeem', 10n ** 18n, ALICE.address, ALICE.address)
  await redeem()
  await vault.settle()
  await vault.act(ALICE.address, 'redeem', 10n ** 18n, ALICE.address, ALICE.address)
  await redeem()
  await vault.act(ALICE.address, 'cancelRequestRedeem', ALICE.address)
  await redeem()
  await recordAll(vault.chain)
  return vault
}

/** The operator's command over the local service. */
function ask(service: Service, { address }: Pick<TestVault, 'address'>) {
  const runs = runsStore(service.tables.deposits)
  const dependencies = { records: recordsOf(service), runs, now: Date.now, sleep: async () => {} }
  const admin = {
    ...service.backends.admin,
    requestRebuild: (vault: VaultOnChain) => requestRebuild(dependencies, vault),
  }
  return rebuildRecords(admin, { chainId: BASE, address })
}

/** How far the service says that a vault is recorded. */
async function progressOf(service: Service, { address }: Pick<TestVault, 'address'>): Promise<VaultProgress> {
  const [progress] = await recordsOf(service).getProgress([{ chainId: BASE, address }])
  if (!progress) throw new Error('Nothing is recorded')
  return progress
}

/** Has the job run until no past is read again, and once more when no answer is made of the old records any more. */
async function rebuildAll(service: Service, vault: Pick<TestVault, 'address'>): Promise<void> {
  for (let run = 0; run < 5 && (await progressOf(service, vault)).rebuild; run += 1) await refresh(BASE)
  await forgetOld(service, vault)
}

/** Has the job run a minute after it has put a reading in force. */
async function forgetOld(service: Service, vault: Pick<TestVault, 'address'>): Promise<void> {
  const { replacedAt, ...progress } = await progressOf(service, vault)
  expect(replacedAt).toBeGreaterThan(Date.now() - 600_000)
  const { address } = vault
  await recordsOf(service).putProgress([
    [
      { chainId: BASE, address },
      { ...progress, replacedAt: 1 },
    ],
  ])
  await refresh(BASE)
  expect(await progressOf(service, vault)).not.toHaveProperty('replacedAt')
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
      const [{ deposits }, { withdrawals, errors }] = [
        await views.deposits(account),
        await views.withdrawals(account),
      ].map(({ body }) => body)
      return { position, deposits, withdrawals, errors }
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
  const items = [...(await scanRecords(service)).values()].filter(({ sk }) => /^(ENTRY|PRICE|NAMED)/.test(String(sk)))
  return items.filter((item) => item['vault'] === address || String(item['pk']).includes(`#${address}`))
}

async function pricesOf(service: Service, { address }: Pick<TestVault, 'address'>) {
  return await recordsOf(service).listPrices({ chainId: BASE, address }, 0n)
}

/** Makes the records those of the first version of the books: without redemptions, and claims as any other payment. */
async function age(service: Service, vault: TestVault): Promise<void> {
  const older = new Map<string, Item>()
  for (const [key, { isClaim: _, booksVersion: __, ...item }] of await scanRecords(service)) {
    if (!['redeem', 'cancelRedeem'].includes(String(item['kind']))) older.set(key, item)
  }
  await restoreRecords(service, older)
  expect(await progressOf(service, vault)).toMatchObject({ booksVersion: 1 })
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
    expect(await ask(service, vault)).toMatch(/^The job reads the past of 0x/)
    expect(await booksOf(service, vault)).not.toEqual(right)
    await refresh(BASE)
    expect(await booksOf(service, vault)).toEqual(right)
    expect(await pricesOf(service, vault)).toEqual(rightPrices)
    // Answers that began before may still be made of the old ones.
    await refresh(BASE)
    expect((await everythingOf(service, vault)).length).toBeGreaterThan(2 * size)
    await forgetOld(service, vault)
    expect(await booksOf(service, vault)).toEqual(right)
    expect(await everythingOf(service, vault)).toHaveLength(size)
  })

  test('that is asked for again begins anew, and leaves nothing of the one before', async ({ service, vault }) => {
    const right = await booksOf(service, vault)
    const size = (await everythingOf(service, vault)).length
    await spoil(service, vault)
    await ask(service, vault)
    const { rebuild } = await progressOf(service, vault)
    // As a run leaves it that is killed.
    await recordsOf(service).record([
      {
        vault: { chainId: BASE, address: vault.address, protocol: 'lagoon', generation: rebuild?.generation },
        entries: [],
        prices: [{ price: 7n, timestamp: 7n, blockNumber: 7n }],
        accounts: [ALICE.address],
      },
    ])
    await ask(service, vault)
    await rebuildAll(service, vault)
    expect(await booksOf(service, vault)).toEqual(right)
    expect(await everythingOf(service, vault)).toHaveLength(size)
  })

  test('of a synchronous vault keeps the prices that were read in hours without a trade', async ({
    service,
    vault: _,
  }) => {
    const sync = await openYieldVault(service)
    await sync.mint(ALICE.address, 9_000_000n)
    await sync.approve(ALICE.address, 9_000_000n)
    await sync.act(ALICE.address, 'deposit', 9_000_000n, ALICE.address)
    await recordAll(sync.chain)
    const [first] = await pricesOf(service, sync)
    if (!first) throw new Error('No price is recorded')
    const hour = 3_600n
    const wrong = { price: first.price + 3n, timestamp: first.timestamp, blockNumber: 0n }
    // More than are taken over at once.
    const read = Array.from({ length: 1_100 }, (_, index) => ({
      price: first.price + BigInt(index),
      timestamp: first.timestamp - hour * BigInt(1_100 - index),
    }))
    await recordsOf(service).record([
      {
        vault: { chainId: BASE, address: sync.address, protocol: 'erc4626' },
        entries: [],
        prices: [wrong, ...read.map((price) => ({ ...price, blockNumber: 0n }))],
      },
    ])
    await ask(service, sync)
    await rebuildAll(service, sync)
    const prices = await pricesOf(service, sync)
    expect(prices.slice(0, 1_100)).toEqual(read)
    // In the hour of the trade the trade tells it, and after it the vault.
    expect(new Set(prices.slice(1_100).map(({ price }) => price))).toEqual(new Set([first.price]))
  })

  test('of a vault that nobody has changes nothing', async ({ service, vault }) => {
    const records = await scanRecords(service)
    await expect(ask(service, { address: ROLES.safe })).rejects.toThrow(/^No client has a vault/)
    expect(await scanRecords(service)).toEqual(records)
    expect(await progressOf(service, vault)).not.toHaveProperty('rebuild')
  })
})

describe('A vault that an older version of its books recorded', () => {
  test('shows what that knew, and is recorded anew by the job itself', async ({ service, vault }) => {
    const right = await booksOf(service, vault)
    const size = (await everythingOf(service, vault)).length
    expect(right[0]?.withdrawals).toMatchObject([
      { status: 'pending' },
      { status: 'cancelled' },
      { status: 'completed' },
    ])
    await age(service, vault)
    // No withdrawal is shown where some of them may be missing.
    const left = {
      withdrawals: [],
      errors: { [BASE]: expect.stringMatching(/^The history of a vault is still being read/) },
    }
    expect(await booksOf(service, vault)).toEqual(right.map((of) => ({ ...of, ...left })))
    expect(await refresh(BASE)).toMatchObject({ outcome: 'refreshed', behind: 0 })
    expect(await booksOf(service, vault)).toEqual(right)
    await forgetOld(service, vault)
    expect(await booksOf(service, vault)).toEqual(right)
    expect(await everythingOf(service, vault)).toHaveLength(size)
    const once = await scanRecords(service)
    expect(await refresh(BASE)).toMatchObject({ entries: 0, prices: 0 })
    expect(await scanRecords(service)).toEqual(once)
  })

  test('is right at any moment, whichever writes of the job are lost, and whatever happens meanwhile', async ({
    service,
    vault,
  }) => {
    const { table } = service
    await age(service, vault)
    /** Runs the job, killed at a write of which the first half arrives; true once a run needs no more writes. */
    const runKilledAt = async (count: number): Promise<boolean> => {
      table.killAt(count)
      const outcome = await refresh(BASE).catch(() => undefined)
      table.reset()
      await expireLease(service, BASE)
      return outcome !== undefined
    }
    /** Positions and deposits are as ever; withdrawals are left out, or all there. */
    const isMended = async () => {
      const [[of], [later]] = [await booksOf(service, vault, [ALICE.address]), await freshBooks()]
      // Prices are of the records alone.
      const { sharePriceHistory: _, ...position } = of?.position ?? {}
      expect(later?.position).toMatchObject(position)
      expect(of?.deposits).toEqual(later?.deposits)
      expect(of?.withdrawals).toEqual(of?.errors ? [] : later?.withdrawals)
      return !of?.errors
    }
    /** The same as nothing of it were recorded. */
    const freshBooks = async () => {
      const progress = await progressOf(service, vault)
      const key = { chainId: BASE, address: vault.address }
      await recordsOf(service).putProgress([[key, initialProgress({ firstBlock: 0, protocol: 'lagoon' })]])
      const books = await booksOf(service, vault, [ALICE.address])
      await recordsOf(service).putProgress([[key, progress]])
      return books
    }

    const mended: boolean[] = []
    for (let count = 1, hasEnded = false; !hasEnded; count += 1) {
      hasEnded = await runKilledAt(count)
      mended.push(await isMended())
      if (count % 3 === 0) {
        await vault.act(ALICE.address, 'transfer', BOB.address, 10n ** 16n)
        await finalize(vault.chain)
      }
    }
    expect(mended.join()).toMatch(/^(false,){4,}(true,?)+$/)

    const { replacedAt: _, ...progress } = await progressOf(service, vault)
    const key = { chainId: BASE, address: vault.address }
    await recordsOf(service).putProgress([[key, { ...progress, replacedAt: 1 }]])
    for (let count = 1, hasEnded = false; !hasEnded; count += 1) {
      hasEnded = await runKilledAt(count)
      expect(await isMended()).toBe(true)
    }
    await recordAll(vault.chain)
    const kept = await everythingOf(service, vault)
    expect(kept.filter(({ sk }) => String(sk).startsWith('NAMED'))).toEqual([])
    const generations = new Set(
      kept.flatMap(({ sk, generation }) => (String(sk).startsWith('ENTRY') ? [generation] : [])),
    )
    expect(generations).toEqual(new Set([progress.generation]))
  })

  test('is recorded anew once, however many runs there are at a time', async ({ service, vault }) => {
    const right = await booksOf(service, vault)
    await age(service, vault)
    const outcomes = (await Promise.all([refresh(BASE), refresh(BASE), refresh(BASE)])).map(({ outcome }) => outcome)
    expect(outcomes.toSorted()).toEqual(['another run is at work', 'another run is at work', 'refreshed'])
    expect(await booksOf(service, vault)).toEqual(right)
  })

  test('stays as it is while its chain cannot be read', async ({ service, vault }) => {
    await age(service, vault)
    const shown = await booksOf(service, vault)
    const wire = service.rpc[BASE] as Wire
    wire.behaviour = 'answer 500'
    await expect(refresh(BASE)).rejects.toMatchObject({ code: 'upstream_unavailable' })
    wire.reset()
    expect(await booksOf(service, vault)).toEqual(shown)
  })
})

test('A vault that is added again shows nothing of what was recorded of it before, and leaves nothing of that once its past is read', async ({
  service,
  vault,
}) => {
  // Whose events can be read while the vault's cannot.
  await openYieldVault(service)
  const right = await booksOf(service, vault)
  const size = (await everythingOf(service, vault)).length
  const { generation = 0 } = await progressOf(service, vault)
  await spoil(service, vault)
  const wrong = await booksOf(service, vault)
  expect(wrong).not.toEqual(right)
  for (const command of ['remove-vault', 'add-vault']) {
    const of = ['--client', vault.key.split('_')[2] ?? '', '--chain', `${BASE}`, '--address', vault.address]
    const first = command === 'add-vault' ? ['--first-block', '1'] : []
    await runCommandLine([command, ...of, ...first], async () => service.backends.admin)
  }
  expect((await progressOf(service, vault)).generation).toBeGreaterThan(generation)

  const passMinute = async () => {
    const progress = await progressOf(service, vault)
    expect(progress.replacedAt).toBeDefined()
    await recordsOf(service).putProgress([
      [
        { chainId: BASE, address: vault.address },
        { ...progress, replacedAt: 1 },
      ],
    ])
  }
  await passMinute()
  await finalize(vault.chain)
  const wire = service.rpc[BASE] as Wire
  const isOfVault = (params: readonly unknown[]) =>
    JSON.stringify(params).toLowerCase().includes(vault.address.toLowerCase())
  rewriteResults(wire, (result, { method, params }) => (method === 'eth_getLogs' && isOfVault(params) ? null : result))
  expect(await refresh(BASE)).toMatchObject({ outcome: 'refreshed' })
  wire.reset()
  expect((await everythingOf(service, vault)).length).toBeGreaterThan(size)
  await passMinute()
  await recordAll(vault.chain)
  expect(await booksOf(service, vault)).toEqual(right)
  expect(await everythingOf(service, vault)).toHaveLength(size)
  expect(await progressOf(service, vault)).not.toHaveProperty('replacedAt')
})
