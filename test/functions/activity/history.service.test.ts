import * as fc from 'fast-check'
import { type Address, encodeEventTopics, type Hash, type Hex } from 'viem'
import { getBlock, getTransactionReceipt } from 'viem/actions'
import { describe, expect } from 'vitest'
import type { LocalAccount } from '../../../sandbox/accounts.ts'
import { createChainClient } from '../../support/chain-client.ts'
import { test as base, createDepositJourney } from '../../support/cross-chain.ts'
import { expectError } from '../../support/errors.ts'
import { VAULT_ABI } from '../../support/oracles.ts'
import { createUserViews, recordAllBlocks } from '../../support/records.ts'
import { scaleSampleCount } from '../../support/runs.ts'
import { type HttpReply, type Service, USERS } from '../../support/service.ts'
import { openLagoonVault, openYieldVault, sharesFor, type TestVault } from '../../support/vaults.ts'

const [ALICE, BOB, CAROL] = USERS
const NOBODY = '0x00000000000000000000000000000000000000A1'
const VIRTUAL_SHARES = 10n ** 12n

const DESCRIPTIONS = {
  pending: 'Deposit request submitted, awaiting curator settlement.',
  claimable: 'The curator has settled the epoch; the shares are ready to claim.',
  completed: 'The shares have been received.',
  cancelled: 'The deposit request was cancelled.',
}

async function historyOf(service: Service, vault: TestVault, { address }: Pick<LocalAccount, 'address'>, query = '') {
  const reply = await createUserViews(service, vault.key).deposits(address, query)
  expect(reply.status).toBe(200)
  expect(reply.headers.get('cache-control')).toBe('no-store')
  return reply.body
}

/** Returns a user's deposits. Asserts that they are the same before and after the job records the vault's events. */
async function recordedHistoryOf(service: Service, vault: TestVault, user: Pick<LocalAccount, 'address'>) {
  const live = await historyOf(service, vault, user)
  await recordAllBlocks(vault.chain)
  const recorded = await historyOf(service, vault, user)
  expect(recorded).toEqual(live)
  return recorded
}

/**
 * Responses that were read directly from the chain. A test at the end compares them with responses from the job's
 * records.
 */
const shownLive = new Map<TestVault, unknown>()

async function liveHistoryOf(service: Service, vault: TestVault, user: Pick<LocalAccount, 'address'>) {
  const shown = await historyOf(service, vault, user)
  shownLive.set(vault, shown)
  return shown
}

/** Builds the expected deposit, with every documented field, from a transaction that has exactly one event of this type. */
async function entryOf(
  vault: TestVault,
  user: Pick<LocalAccount, 'address'>,
  transactionHash: Hash,
  {
    event = 'DepositRequest',
    ...rest
  }: { event?: 'DepositRequest' | 'DepositSync' | 'Deposit' } & {
    status: keyof typeof DESCRIPTIONS
    assets: bigint
    epochId: number
    pendingDeposit?: bigint
    claimableShares?: bigint
    currentShares?: bigint
  },
) {
  const client = createChainClient(vault.chain)
  const receipt = await getTransactionReceipt(client, { hash: transactionHash })
  const block = await getBlock(client, { blockNumber: receipt.blockNumber })
  const [topic] = encodeEventTopics({ abi: VAULT_ABI, eventName: event }) as [Hex]
  const log = receipt.logs.find(({ address, topics }) => address === vault.address.toLowerCase() && topics[0] === topic)
  const { status, assets, epochId, pendingDeposit = 0n, claimableShares = 0n, currentShares = 0n } = rest
  return {
    depositId: `${vault.chain.chainId}-${transactionHash}-${log?.logIndex}`,
    vaultAddress: vault.address,
    vaultName: expect.stringMatching(/^(Lagoon|Savings)/),
    userAddress: user.address,
    chainId: vault.chain.chainId,
    status,
    statusDescription: DESCRIPTIONS[status],
    amounts: {
      depositedAssets: `${assets}`,
      pendingDeposit: `${pendingDeposit}`,
      claimableShares: `${claimableShares}`,
      currentShares: `${currentShares}`,
    },
    vault: {
      apy: expect.stringMatching(/^-?\d+\.\d{2}$/),
      annualYield: null,
      assetSymbol: vault.asset,
      assetDecimals: 6,
      shareDecimals: Number(await decimalsOf(vault)),
      sharePrice: `${await vault.read('convertToAssets', 10n ** (await decimalsOf(vault)))}`,
    },
    epochId,
    timestamp: new Date(Number(block.timestamp) * 1000).toISOString(),
    transactionHash,
  }
}

async function decimalsOf(vault: TestVault): Promise<bigint> {
  return BigInt(await vault.read('decimals'))
}

const only = (body: HttpReply['body'], user: Pick<LocalAccount, 'address'>, deposits: readonly unknown[]) => {
  expect(body).toEqual({
    userAddress: user.address,
    totalRecords: deposits.length,
    hasMore: false,
    nextCursor: null,
    deposits,
  })
}

const test = base
  .extend('seasoned', ({ service }) => async (generation: '0.4' | '0.5' | '0.6' = '0.5') => {
    const vault = await openLagoonVault(service, { generation })
    await vault.request(BOB.address, vault.units('1000.000007'))
    await vault.settle()
    await vault.settle(vault.units('123.456789'))
    return vault
  })
  .extend('busy', { scope: 'file' }, async ({ sharedService: service }) => {
    const vaults = [
      await openLagoonVault(service, { generation: '0.5' }),
      await openYieldVault(service),
      await openLagoonVault(service, { generation: '0.6', chainId: 42161 }),
    ] as const
    const [first, second, third] = vaults
    const key = await service.createClient(vaults.map(({ address, chain }) => ({ address, chainId: chain.chainId })))
    await second.mint(ALICE.address, 100_000_000n)
    await second.approve(ALICE.address, 100_000_000n)
    for (let round = 0n; round < 4n; round += 1n) {
      await first.request(ALICE.address, 1_000_000n + round)
      await second.act(ALICE.address, 'deposit', 2_000_000n + round, ALICE.address)
      await third.request(ALICE.address, 3_000_000n + round)
      if (round === 1n) await first.settle()
      if (round === 0n) await third.act(ALICE.address, 'cancelRequestDeposit')
      // The job records the earlier deposits, so the service must combine them with later deposits that it reads from
      // the chain.
      if (round === 2n) await recordAllBlocks(first.chain)
    }
    return { key, vaults, views: createUserViews(service, key) }
  })

const rateOf = async (vault: TestVault) => ({
  totalAssets: await vault.read('totalAssets'),
  totalSupply: await vault.read('totalSupply'),
  virtualShares: VIRTUAL_SHARES,
})
const sharesOf = (vault: TestVault, { address }: Pick<LocalAccount, 'address'>) => vault.read('balanceOf', address)

describe('A deposit in the history', () => {
  test.for(['0.4', '0.6'] as const)(
    'of a Lagoon %s vault is pending within a block, then claimable, then completed, also once recorded',
    async (generation, { service, seasoned }) => {
      const vault = await seasoned(generation)
      const assets = vault.units('1234.567891')
      const hash = (await vault.request(ALICE.address, assets)).at(-1) as Hash
      const entry = { assets, epochId: 3 }

      only(await recordedHistoryOf(service, vault, ALICE), ALICE, [
        await entryOf(vault, ALICE, hash, { ...entry, status: 'pending', pendingDeposit: assets }),
      ])

      const { totalSupply } = await rateOf(vault)
      const { totalAssets } = await vault.settle(3_141_593n)
      const shares = sharesFor(assets, { totalAssets, totalSupply, virtualShares: VIRTUAL_SHARES })
      only(await recordedHistoryOf(service, vault, ALICE), ALICE, [
        await entryOf(vault, ALICE, hash, { ...entry, status: 'claimable', claimableShares: shares }),
      ])

      await vault.act(ALICE.address, 'deposit', assets, ALICE.address, ALICE.address)
      only(await recordedHistoryOf(service, vault, ALICE), ALICE, [
        await entryOf(vault, ALICE, hash, { ...entry, status: 'completed', currentShares: shares }),
      ])
    },
  )

  test('whose request was cancelled is cancelled, and a new one in the same epoch is pending', async ({
    service,
    seasoned,
  }) => {
    const vault = await seasoned()
    const first = (await vault.request(ALICE.address, 5_000_000n)).at(-1) as Hash
    const second = (await vault.request(ALICE.address, 6_000_000n)).at(-1) as Hash
    await vault.act(ALICE.address, 'cancelRequestDeposit')
    const cancelled = [
      await entryOf(vault, ALICE, second, { assets: 6_000_000n, epochId: 3, status: 'cancelled' }),
      await entryOf(vault, ALICE, first, { assets: 5_000_000n, epochId: 3, status: 'cancelled' }),
    ]
    only(await liveHistoryOf(service, vault, ALICE), ALICE, cancelled)

    const third = (await vault.request(ALICE.address, 7_000_000n)).at(-1) as Hash
    const pending = { assets: 7_000_000n, epochId: 3, status: 'pending', pendingDeposit: 7_000_000n } as const
    only(await liveHistoryOf(service, vault, ALICE), ALICE, [await entryOf(vault, ALICE, third, pending), ...cancelled])
  })

  test('is completed by a claim in parts, the oldest deposit of its request first', async ({ service, seasoned }) => {
    const vault = await seasoned()
    const first = (await vault.request(ALICE.address, 5_000_001n)).at(-1) as Hash
    const second = (await vault.request(ALICE.address, 6_000_002n)).at(-1) as Hash
    await vault.settle(999_999n)
    // The claim covers the whole first deposit and a part of the second deposit.
    await vault.act(ALICE.address, 'deposit', 7_000_000n, ALICE.address, ALICE.address)
    const [claimable, inWallet] = [await vault.read('maxMint', ALICE.address), await sharesOf(vault, ALICE)]

    const { deposits } = await liveHistoryOf(service, vault, ALICE)
    const ofFirst = (inWallet * 5_000_001n) / 7_000_000n
    expect(deposits).toEqual([
      await entryOf(vault, ALICE, second, {
        assets: 6_000_002n,
        epochId: 3,
        status: 'claimable',
        claimableShares: claimable,
        currentShares: inWallet - ofFirst,
      }),
      await entryOf(vault, ALICE, first, {
        assets: 5_000_001n,
        epochId: 3,
        status: 'completed',
        currentShares: ofFirst,
      }),
    ])
  })

  test('belongs to its receiver, and not to the third party that paid it', async ({ service, seasoned }) => {
    const vault = await seasoned()
    const own = (await vault.request(ALICE.address, 5_000_000n)).at(-1) as Hash
    await vault.settle()
    const shares = await vault.read('maxMint', ALICE.address)
    // Carol requests a deposit for Alice. The vault then also claims Alice's settled deposit.
    const giftHash = (await vault.request(CAROL.address, 1n, ALICE.address)).at(-1) as Hash
    only(await liveHistoryOf(service, vault, ALICE), ALICE, [
      await entryOf(vault, ALICE, giftHash, { assets: 1n, epochId: 5, status: 'pending', pendingDeposit: 1n }),
      await entryOf(vault, ALICE, own, { assets: 5_000_000n, epochId: 3, status: 'completed', currentShares: shares }),
    ])
    only(await historyOf(service, vault, CAROL), CAROL, [])
  })

  test.for(['0.5', '0.6'] as const)(
    'made instantly in a Lagoon %s vault is completed, with epoch 0 and its shares',
    async (generation, { service, seasoned }) => {
      const vault = await seasoned(generation)
      await vault.settleForADay(1_000_000n)
      await vault.mint(ALICE.address, 5_000_000n)
      await vault.approve(ALICE.address, 5_000_000n)
      const [hash] = await vault.act(ALICE.address, 'syncDeposit', 5_000_000n, ALICE.address, NOBODY)
      only(await liveHistoryOf(service, vault, ALICE), ALICE, [
        await entryOf(vault, ALICE, hash as Hash, {
          event: 'DepositSync',
          assets: 5_000_000n,
          epochId: 0,
          status: 'completed',
          currentShares: await sharesOf(vault, ALICE),
        }),
      ])
    },
  )

  test('into a synchronous vault is completed and belongs to its receiver', async ({ service }) => {
    const vault = await openYieldVault(service)
    await vault.mint(CAROL.address, 5_000_000n)
    await vault.approve(CAROL.address, 5_000_000n)
    const [hash] = await vault.act(CAROL.address, 'deposit', 5_000_000n, ALICE.address)
    only(await liveHistoryOf(service, vault, ALICE), ALICE, [
      await entryOf(vault, ALICE, hash as Hash, {
        event: 'Deposit',
        assets: 5_000_000n,
        epochId: 0,
        status: 'completed',
        currentShares: await sharesOf(vault, ALICE),
      }),
    ])
    only(await historyOf(service, vault, CAROL), CAROL, [])
  })

  test('from another chain belongs to its user, and not to the contract that made it', async ({ service }) => {
    const vault = await openLagoonVault(service, { generation: '0.6' })
    const journey = createDepositJourney(vault, service)
    const reply = await journey.ask(ALICE, journey.units('250'))
    expect(reply.status).toBe(200)
    const { transactionHash } = await journey.fill(await journey.send(ALICE, reply))
    const assets = BigInt(reply.body.quote.outputAmount)
    only(await liveHistoryOf(service, vault, ALICE), ALICE, [
      await entryOf(vault, ALICE, transactionHash, { assets, epochId: 1, status: 'pending', pendingDeposit: assets }),
    ])
  })

  test('is the same once it is recorded, whatever its status', async ({ service }) => {
    const vaults = [...shownLive.keys()]
    expect(vaults.length).toBeGreaterThan(6)
    for (const chain of new Set(vaults.map((vault) => vault.chain))) await recordAllBlocks(chain)
    for (const [vault, live] of shownLive) expect(await historyOf(service, vault, ALICE)).toEqual(live)
  })
})

describe('The history', () => {
  const idsOf = ({ deposits }: { deposits: { depositId: string }[] }) => deposits.map(({ depositId }) => depositId)

  test('is newest first, over all vaults and chains', async ({ busy: { views } }) => {
    const { body } = await views.deposits(ALICE.address)
    expect(body).toMatchObject({ totalRecords: 12, hasMore: false, nextCursor: null })
    const times = body.deposits.map(({ timestamp }: { timestamp: string }) => timestamp)
    expect(times).toEqual(times.toSorted().toReversed())
    expect(new Set(idsOf(body)).size).toBe(12)
    const amountsIn = (vault: Address) =>
      body.deposits
        .filter(({ vaultAddress }: { vaultAddress: Address }) => vaultAddress === vault)
        .map(({ amounts }: { amounts: { depositedAssets: string } }) => amounts.depositedAssets)
    for (const vault of new Set(body.deposits.map(({ vaultAddress }: { vaultAddress: Address }) => vaultAddress))) {
      const amounts = amountsIn(vault as Address)
      expect(amounts).toEqual(amounts.toSorted().toReversed())
    }
  })

  test('comes in pages of any size, with each entry once', async ({ busy: { views } }) => {
    const all = idsOf((await views.deposits(ALICE.address)).body)
    for (const limit of [5, 12, 100]) {
      const listedIds: string[] = []
      let cursor: string | null | undefined
      do {
        const query = `?limit=${limit}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`
        const { status, body } = await views.deposits(ALICE.address, query)
        expect(status).toBe(200)
        expect(body.totalRecords).toBe(12)
        expect(body.deposits.length).toBeLessThanOrEqual(limit)
        expect(body.hasMore).toBe(body.nextCursor !== null)
        listedIds.push(...idsOf(body))
        cursor = body.nextCursor
      } while (cursor)
      expect(listedIds).toEqual(all)
    }
  })

  test('contains and counts only the entries that match the filter', async ({ busy: { views, vaults } }) => {
    const { body: everything } = await views.deposits(ALICE.address)
    type Entry = { vaultAddress: Address; chainId: number; status: string }
    const cases: [string, (entry: Entry) => boolean][] = [
      [`vaultAddress=${vaults[0].address}`, ({ vaultAddress }) => vaultAddress === vaults[0].address],
      [`vaultAddress=${vaults[1].address.toLowerCase()}`, ({ vaultAddress }) => vaultAddress === vaults[1].address],
      ['chainId=42161', ({ chainId }) => chainId === 42161],
      ['chainId=10', () => false],
      [`chainId=42161&vaultAddress=${vaults[0].address}`, () => false],
      [`vaultAddress=${NOBODY}`, () => false],
      ...['pending', 'claimable', 'completed', 'cancelled'].map((status): [string, (entry: Entry) => boolean] => [
        `status=${status}`,
        (entry) => entry.status === status,
      ]),
      ['chainId=8453&status=completed', (entry) => entry.chainId === 8453 && entry.status === 'completed'],
    ]
    for (const [query, matches] of cases) {
      const expected = everything.deposits.filter(matches)
      const { status, body } = await views.deposits(ALICE.address, `?${query}`)
      expect({ query, status, ...body }).toEqual({
        query,
        status: 200,
        userAddress: ALICE.address,
        totalRecords: expected.length,
        hasMore: false,
        nextCursor: null,
        deposits: expected,
      })
    }
    const statuses = new Set(everything.deposits.map(({ status }: Entry) => status))
    expect(statuses).toEqual(new Set(['pending', 'completed', 'cancelled']))
  })

  test('keeps its pages consistent while deposits are made', async ({ busy: { views, vaults } }) => {
    const [, sync] = vaults
    const before = idsOf((await views.deposits(ALICE.address)).body)
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ limit: fc.integer({ min: 1, max: 5 }), inserts: fc.integer({ min: 0, max: 2 }) }), {
          minLength: 1,
          maxLength: 6,
        }),
        async (steps) => {
          const start = idsOf((await views.deposits(ALICE.address)).body)
          const listedIds: string[] = []
          let cursor: string | null = ''
          for (const { limit, inserts } of steps) {
            if (cursor === null) break
            const query: string = `?limit=${limit}${cursor && `&cursor=${cursor}`}`
            const { body }: HttpReply = await views.deposits(ALICE.address, query)
            listedIds.push(...idsOf(body))
            cursor = body.nextCursor
            for (let i = 0; i < inserts; i += 1) await sync.act(ALICE.address, 'deposit', 1_000n, ALICE.address)
          }
          expect(new Set(listedIds).size).toBe(listedIds.length)
          // A new deposit may appear between known deposits, because the chains' clocks differ. The known deposits
          // must keep their order.
          const startIds = listedIds.filter((id) => start.includes(id))
          expect(startIds).toEqual(start.slice(0, startIds.length))
        },
      ),
      { numRuns: scaleSampleCount(4) },
    )
    const after = idsOf((await views.deposits(ALICE.address, '?limit=100')).body)
    expect(after.filter((id) => before.includes(id))).toEqual(before)
  })

  test('accepts a cursor only for the list that returned it', async ({ service, busy: { key, views, vaults } }) => {
    const { body } = await views.deposits(ALICE.address, '?limit=2')
    const cursor = body.nextCursor
    expect((await views.deposits(ALICE.address, `?cursor=${cursor}`)).status).toBe(200)
    // A cursor stays valid with another page size.
    expect((await views.deposits(ALICE.address, `?limit=7&cursor=${cursor}`)).status).toBe(200)
    const others = [
      await views.deposits(CAROL.address, `?cursor=${cursor}`),
      await views.deposits(ALICE.address, `?status=pending&cursor=${cursor}`),
      await views.deposits(ALICE.address, `?chainId=8453&cursor=${cursor}`),
      await views.deposits(ALICE.address, `?vaultAddress=${vaults[0].address}&cursor=${cursor}`),
      await createUserViews(service, service.apiKey).deposits(ALICE.address, `?cursor=${cursor}`),
      await views.withdrawals(ALICE.address, `?cursor=${cursor}`),
      await views.deposits(ALICE.address, `?cursor=${cursor}A`),
      await views.deposits(ALICE.address, `?cursor=${cursor.slice(1)}`),
      await views.deposits(ALICE.address, '?cursor='),
      await views.deposits(ALICE.address, `?cursor=${'A'.repeat(500)}`),
    ]
    expect(key).not.toBe(service.apiKey)
    for (const reply of others) expectError(reply, 'invalid_cursor', ...(reply.body.details ? [['cursor']] : []))
  })

  test('of a user with nothing is empty', async ({ service }) => {
    const { status, body } = await createUserViews(service).deposits(NOBODY)
    expect(status).toBe(200)
    only(body, { address: NOBODY }, [])
  })

  test('has only the vaults of the calling client', async ({ service, seasoned }) => {
    const vault = await seasoned()
    await vault.request(ALICE.address, 5_000_000n)
    const other = await seasoned()
    expect(await historyOf(service, vault, ALICE)).toMatchObject({ totalRecords: 1 })
    expect(await historyOf(service, other, ALICE)).toMatchObject({ totalRecords: 0 })
    await recordAllBlocks(vault.chain)
    expect(await historyOf(service, vault, ALICE)).toMatchObject({ totalRecords: 1 })
    expect(await historyOf(service, other, ALICE)).toMatchObject({ totalRecords: 0 })
  })

  test.for([
    ['0x1234', '', 'missing_or_invalid_user_address', 'userAddress'],
    [ALICE.address, '?limit=0', 'invalid_limit', 'limit'],
    [ALICE.address, '?limit=101', 'invalid_limit', 'limit'],
    [ALICE.address, '?vaultAddress=0x12', 'missing_or_invalid_vault_address', 'vaultAddress'],
    [ALICE.address, '?chainId=5', 'missing_or_invalid_chain_id', 'chainId'],
    [ALICE.address, '?status=done', 'invalid_status', 'status'],
  ] as const)('for %s%s is refused: %s', async ([user, query, code, field], { service }) => {
    const { deposits, withdrawals } = createUserViews(service)
    for (const list of [deposits, withdrawals]) expectError(await list(user, query), code, [field])
  })
})
