import { type Address, encodeEventTopics, type Hash } from 'viem'
import { getBlock, getTransactionReceipt } from 'viem/actions'
import { describe, expect } from 'vitest'
import { transact } from '../../../sandbox/transactions.ts'
import { createChainClient } from '../../support/chain-client.ts'
import { buildTransaction, VAULT_ABI } from '../../support/oracles.ts'
import { createUserViews, recordAllBlocks } from '../../support/records.ts'
import { test as base, type Service, USERS } from '../../support/service.ts'
import { openLagoonVault, openYieldVault, ROLES, type TestVault } from '../../support/vaults.ts'

const [ALICE, BOB, CAROL] = USERS.map(({ address }) => address) as [Address, Address, Address]
const SHARE = 10n ** 18n

const DESCRIPTIONS = {
  pending: 'Redemption request submitted, awaiting curator settlement.',
  claimable: 'The curator has settled the redemption; the assets are ready to claim.',
  completed: 'The assets have been paid.',
  cancelled: 'The redemption request was cancelled.',
}

async function historyOf(service: Service, vault: TestVault, account: Address, query = '') {
  const reply = await createUserViews(service, vault.key).withdrawals(account, query)
  expect(reply.status).toBe(200)
  expect(reply.headers.get('cache-control')).toBe('no-store')
  return reply.body
}

/**
 * Responses that were read directly from the chain. A test at the end compares them with responses from the job's
 * records.
 */
const shownLive: { readonly vault: TestVault; readonly account: Address; readonly shown: unknown }[] = []

async function liveHistoryOf(service: Service, vault: TestVault, account: Address): Promise<unknown[]> {
  const { withdrawals, ...page } = await historyOf(service, vault, account)
  expect(page).toEqual({ userAddress: account, totalRecords: withdrawals.length, hasMore: false, nextCursor: null })
  shownLive.push({ vault, account, shown: withdrawals })
  return withdrawals
}

type Parts = Partial<Record<'pendingShares' | 'claimableShares' | 'claimableAssets', bigint>> &
  Partial<Record<'paidShares' | 'paidAssets' | 'cancelledShares', bigint>>
type Expected = Parts & {
  readonly status: keyof typeof DESCRIPTIONS
  readonly shares: bigint
  readonly assets: bigint | null
  readonly epochId: number
  readonly claimedBy?: Hash
  readonly event?: 'RedeemRequest' | 'Withdraw' | 'WithdrawSync'
}

/** Builds the expected withdrawal, with every documented field, from a transaction that has exactly one event of this type. */
async function entryOf(
  vault: TestVault,
  account: Address,
  transactionHash: Hash | undefined,
  { status, shares, assets, epochId, claimedBy, event = 'RedeemRequest', ...parts }: Expected,
) {
  const hash = transactionHash as Hash
  const client = createChainClient(vault.chain)
  const receipt = await getTransactionReceipt(client, { hash })
  const block = await getBlock(client, { blockNumber: receipt.blockNumber })
  const [topic] = encodeEventTopics({ abi: VAULT_ABI, eventName: event })
  const log = receipt.logs.find(({ address, topics }) => address === vault.address.toLowerCase() && topics[0] === topic)
  const amounts = { pendingShares: 0n, claimableShares: 0n, claimableAssets: 0n, paidShares: 0n, paidAssets: 0n }
  return {
    withdrawalId: `${vault.chain.chainId}-${hash}-${log?.logIndex}`,
    vaultAddress: vault.address,
    vaultName: expect.stringMatching(/^(Lagoon|Savings)/),
    userAddress: account,
    chainId: vault.chain.chainId,
    status,
    statusDescription: DESCRIPTIONS[status],
    shares: `${shares}`,
    assets: assets === null ? null : `${assets}`,
    amounts: Object.fromEntries(
      Object.entries({ ...amounts, cancelledShares: 0n, ...parts }).map(([name, amount]) => [name, `${amount}`]),
    ),
    vault: {
      apy: expect.stringMatching(/^-?\d+\.\d{2}$/),
      assetSymbol: vault.asset,
      annualYield: null,
      assetDecimals: 6,
      shareDecimals: Number(await vault.read('decimals')),
      sharePrice: `${await vault.read('convertToAssets', 10n ** BigInt(await vault.read('decimals')))}`,
    },
    epochId,
    timestamp: new Date(Number(block.timestamp) * 1000).toISOString(),
    transactionHash: hash,
    claimTransactionHash: claimedBy ?? null,
  }
}

const test = base.extend('openFundedVault', ({ service }) => async (generation: '0.4' | '0.5' | '0.6' = '0.6') => {
  const vault = await openLagoonVault(service, { generation })
  for (const account of [ALICE, CAROL]) await vault.request(account, vault.units('1000.000007'))
  await vault.settle()
  for (const account of [ALICE, CAROL]) {
    await vault.act(account, 'deposit', vault.units('1000.000007'), account, account)
  }
  await vault.settle(vault.units('123.456789'))
  const redeem = async (shares: bigint, controller = ALICE, owner = controller) =>
    (await vault.act(owner, 'requestRedeem', shares, controller, owner))[0] as Hash
  const claim = async (shares: bigint, receiver = ALICE, controller = ALICE) =>
    (await vault.act(controller, 'redeem', shares, receiver, controller))[0] as Hash
  return { vault, redeem, claim, claimable: (account = ALICE) => vault.read('maxWithdraw', account) }
})

describe('A withdrawal in the history', () => {
  test.for(['0.4', '0.6'] as const)(
    'of a Lagoon %s vault is pending within a block, then claimable, then completed, also once recorded',
    async (generation, { service, openFundedVault }) => {
      const { vault, redeem, claim, claimable } = await openFundedVault(generation)
      const shares = 123n * SHARE + 7n
      const request = await redeem(shares)
      const recorded = async () => {
        const live = await liveHistoryOf(service, vault, ALICE)
        await recordAllBlocks(vault.chain)
        expect((await historyOf(service, vault, ALICE)).withdrawals).toEqual(live)
        return live
      }
      const pending = { shares, epochId: 2, status: 'pending', assets: null, pendingShares: shares } as const
      expect(await recorded()).toEqual([await entryOf(vault, ALICE, request, pending)])

      await vault.settle(3_141_593n)
      const assets = await claimable()
      const settled = { shares, epochId: 2, assets } as const
      const parts = { claimableShares: shares, claimableAssets: assets }
      expect(await recorded()).toEqual([
        await entryOf(vault, ALICE, request, { ...settled, status: 'claimable', ...parts }),
      ])

      const before = await vault.balanceOf(ALICE)
      const claimedBy = await claim(shares)
      expect((await vault.balanceOf(ALICE)) - before).toBe(assets)
      const paid = { paidShares: shares, paidAssets: assets, claimedBy }
      expect(await recorded()).toEqual([
        await entryOf(vault, ALICE, request, { ...settled, status: 'completed', ...paid }),
      ])
    },
  )

  test('belongs to its controller, which a cancellation returns the shares to', async ({
    service,
    openFundedVault,
  }) => {
    const { vault, redeem } = await openFundedVault()
    const hash = await redeem(5n * SHARE, BOB, CAROL)
    const entry = { shares: 5n * SHARE, epochId: 2 } as const
    expect(await liveHistoryOf(service, vault, BOB)).toEqual([
      await entryOf(vault, BOB, hash, { ...entry, status: 'pending', assets: null, pendingShares: 5n * SHARE }),
    ])
    await vault.act(BOB, 'cancelRequestRedeem', BOB)
    expect(await liveHistoryOf(service, vault, BOB)).toEqual([
      await entryOf(vault, BOB, hash, { ...entry, status: 'cancelled', assets: 0n, cancelledShares: 5n * SHARE }),
    ])
    expect(await liveHistoryOf(service, vault, CAROL)).toEqual([])
    // Bob's position shows neither deposits nor withdrawals, because he received his shares as a gift.
    const [position] = (await createUserViews(service, vault.key).positions(BOB)).body.positions
    expect(position).toMatchObject({ currentShares: `${5n * SHARE}`, totalWithdrawnAssets: '0', earnedAssets: '0' })
  })

  test('made instantly is completed by its own transaction, with epoch 0', async ({ service, openFundedVault }) => {
    const { vault } = await openFundedVault()
    await vault.settleForADay(1_000_000n)
    const before = await vault.balanceOf(BOB)
    const [hash] = await vault.act(ALICE, 'syncRedeem', 5n * SHARE, BOB, 0n)
    const assets = (await vault.balanceOf(BOB)) - before
    const entry = { shares: 5n * SHARE, epochId: 0, status: 'completed', assets, event: 'WithdrawSync' } as const
    expect(await liveHistoryOf(service, vault, ALICE)).toEqual([
      await entryOf(vault, ALICE, hash, {
        ...{ ...entry, paidShares: 5n * SHARE, paidAssets: assets, claimedBy: hash as Hash },
      }),
    ])
    expect(await liveHistoryOf(service, vault, BOB)).toEqual([])
  })

  test('from a synchronous vault is completed and belongs to the owner of the shares', async ({ service }) => {
    const vault = await openYieldVault(service)
    await vault.mint(ALICE, 9_000_000n)
    await vault.approve(ALICE, 9_000_000n)
    await vault.act(ALICE, 'deposit', 9_000_000n, ALICE)
    const [hash] = await vault.act(ALICE, 'redeem', 2_000_000n, CAROL, ALICE)
    expect(await liveHistoryOf(service, vault, ALICE)).toEqual([
      await entryOf(vault, ALICE, hash, {
        ...{ shares: 2_000_000n, epochId: 0, status: 'completed', assets: 2_000_000n, event: 'Withdraw' },
        ...{ paidShares: 2_000_000n, paidAssets: 2_000_000n, claimedBy: hash as Hash },
      }),
    ])
    expect(await liveHistoryOf(service, vault, CAROL)).toEqual([])
  })

  test('from a closed vault is distinguished from a claim of the same shares in the same transaction', async ({
    service,
    openFundedVault,
  }) => {
    const { vault, redeem, claimable } = await openFundedVault()
    const multicall: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'
    const shares = 5n * SHARE
    const request = await redeem(shares)
    await vault.act(ROLES.admin, 'initiateClosing')
    const total = await vault.read('totalAssets')
    await vault.mint(ROLES.safe, total)
    await vault.act(ROLES.valuationManager, 'updateNewTotalAssets', total)
    await vault.act(ROLES.safe, 'close', total)
    const assets = await claimable()
    await vault.act(ALICE, 'setOperator', multicall, true)
    const call = {
      target: vault.address,
      allowFailure: false,
      callData: buildTransaction(ALICE, vault.address, 'redeem', [shares, ALICE, ALICE]).data,
    }
    const before = await vault.balanceOf(ALICE)
    const [hash] = await transact(vault.chain, [buildTransaction(ROLES.admin, multicall, 'aggregate3', [[call, call]])])
    const atOnce = (await vault.balanceOf(ALICE)) - before - assets
    const { withdrawals } = await historyOf(service, vault, ALICE)
    expect(withdrawals).toMatchObject([
      { epochId: 0, status: 'completed', assets: `${atOnce}`, transactionHash: hash, claimTransactionHash: hash },
      { epochId: 2, status: 'completed', assets: `${assets}`, transactionHash: request, claimTransactionHash: hash },
    ])
    shownLive.push({ vault, account: ALICE, shown: withdrawals })
  })

  test('is the same once it is recorded, whatever its status', async ({ service }) => {
    expect(shownLive.length).toBeGreaterThan(10)
    const last = new Map(shownLive.map((one) => [`${one.vault.address} ${one.account}`, one]))
    for (const chain of new Set(shownLive.map(({ vault }) => vault.chain))) await recordAllBlocks(chain)
    for (const { vault, account, shown } of last.values()) {
      expect((await historyOf(service, vault, account)).withdrawals).toEqual(shown)
    }
  })
})

describe('The history of withdrawals', () => {
  test('is newest first over all vaults, in pages, with only the entries that match', async ({
    service,
    openFundedVault,
  }) => {
    const { vault, redeem } = await openFundedVault()
    const sync = await openYieldVault(service)
    await sync.mint(ALICE, 9_000_000n)
    await sync.approve(ALICE, 9_000_000n)
    await sync.act(ALICE, 'deposit', 9_000_000n, ALICE)
    const hashes: Hash[] = []
    for (let round = 1n; round <= 3n; round += 1n) {
      hashes.push(await redeem(round * SHARE))
      hashes.push(...(await sync.act(ALICE, 'redeem', round * 1_000_000n, ALICE, ALICE)))
      // The job records the earlier withdrawals, so the service must combine them with later withdrawals that it
      // reads from the chain.
      if (round === 2n) await recordAllBlocks(vault.chain)
    }
    const key = await service.createClient([vault, sync].map(({ address }) => ({ chainId: 8453, address })))
    const views = createUserViews(service, key)
    const { body: all } = await views.withdrawals(ALICE)
    const hashesOf = ({ withdrawals }: { withdrawals: { transactionHash: Hash }[] }) =>
      withdrawals.map(({ transactionHash }) => transactionHash)
    expect(hashesOf(all)).toEqual(hashes.toReversed())

    const listedHashes: Hash[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { body }: { body: typeof all } = await views.withdrawals(ALICE, `?limit=4${cursor && `&cursor=${cursor}`}`)
      expect(body).toMatchObject({ totalRecords: 6, hasMore: body.nextCursor !== null })
      listedHashes.push(...hashesOf(body))
      cursor = body.nextCursor
    }
    expect(listedHashes).toEqual(hashesOf(all))

    const { body: ofSync } = await views.withdrawals(ALICE, `?vaultAddress=${sync.address}`)
    expect(ofSync).toMatchObject({ totalRecords: 3, withdrawals: [{ vaultAddress: sync.address }, {}, {}] })
    const { body: pending } = await views.withdrawals(ALICE, '?status=pending&chainId=8453')
    expect(pending).toMatchObject({ totalRecords: 3, withdrawals: [{ status: 'pending' }, {}, {}] })
    expect((await views.withdrawals(ALICE, '?status=cancelled')).body).toMatchObject({ totalRecords: 0 })
  })
})
