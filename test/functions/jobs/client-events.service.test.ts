import { gunzipSync } from 'node:zlib'
import { type Hex, numberToHex, pad, toEventSelector, toFunctionSelector } from 'viem'
import { describe, expect, onTestFinished, vi } from 'vitest'
import * as z from 'zod'
import { runCommandLine } from '../../../admin/command-line.ts'
import { initialProgress } from '../../../lib/activity/store.ts'
import { evmChain } from '../../../lib/chain/registry.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { someContext } from '../../support/lambda.ts'
import { captureLogs } from '../../support/logs.ts'
import { applyReceivedEvents, listEntriesOf, listEvents, type ReceivedEvent } from '../../support/received-events.ts'
import { finalizeBlocks, recordAllBlocks, recordsOf, runRefreshChain } from '../../support/records.ts'
import { test as base, type Service, USERS } from '../../support/service.ts'
import {
  openAsyncVault,
  openLagoonVault,
  openYieldVault,
  ROLES,
  type TestAsyncVault,
  type TestVault,
} from '../../support/vaults.ts'
import type { RecordingProxy } from '../../support/wire.ts'

const [ALICE, BOB] = USERS
const BASE = 8453
const LAGOON = { firstBlock: 0, protocol: 'lagoon' } as const

const test = base
  .extend('lagoon', ({ service }) =>
    service.restore('lagoon', async () => {
      const vault = await openLagoonVault(service, { generation: '0.6' })
      await recordAllBlocks(vault.chain)
      return vault
    }),
  )
  .extend('erc7540', ({ service }) =>
    service.restore('erc7540', async () => {
      const vault = await openAsyncVault(service, { make: 'aggregated' })
      await recordAllBlocks(vault.chain)
      await vault.mint(ALICE.address, 9_000_000n)
      await vault.approve(ALICE.address, 9_000_000n)
      return vault
    }),
  )

/** Makes all blocks final, runs the job, and returns the webhook events that the vault's client got after those in `before`. */
async function recordAndList(
  service: Service,
  vault: Pick<TestVault, 'chain' | 'key'>,
  before: readonly ReceivedEvent[] = [],
) {
  await recordAllBlocks(vault.chain)
  return (await listEvents(service, vault.key)).slice(before.length)
}
async function depositsOf(service: Service, vault: Pick<TestVault, 'key'>, account: string) {
  const { body } = await service.call('GET', `/defi-vaults/v1/defi/user/${account}/deposits`, { key: vault.key })
  return body.deposits.map(({ amounts, status }: { amounts: Record<string, unknown>; status: string }) => [
    status,
    amounts['depositedAssets'],
    amounts['currentShares'],
  ])
}
const kindsOf = (events: readonly ReceivedEvent[]) =>
  events.map(({ type, data }) => [type, nameOf(data['userAddress'])])
const nameOf = (account: unknown) => USERS.findIndex(({ address }) => address === account)

describe('An event of an asynchronous vault', () => {
  test('is reported to its clients in order, with the deposit or withdrawal it belongs to', async ({
    service,
    lagoon,
  }) => {
    await lagoon.request(ALICE.address, 5_000_000n)
    await lagoon.request(BOB.address, 6_000_000n)
    await lagoon.act(BOB.address, 'cancelRequestDeposit')
    await lagoon.settle()
    await lagoon.act(ALICE.address, 'deposit', 3_000_000n, ALICE.address, ALICE.address)
    await lagoon.act(ALICE.address, 'requestRedeem', 10n ** 18n, ALICE.address, ALICE.address)
    await lagoon.settle(1_000_000n)
    await lagoon.act(ALICE.address, 'redeem', 10n ** 18n, ALICE.address, ALICE.address)

    const events = await recordAndList(service, lagoon)

    expect(kindsOf(events)).toEqual([
      ['deposit.pending', 0],
      ['deposit.pending', 1],
      ['deposit.cancelled', 1],
      ['deposit.claimable', 0],
      ['deposit.completed', 0],
      // The withdrawal request also claims the rest of the deposit, so `deposit.completed` comes first.
      ['withdrawal.pending', 0],
      ['withdrawal.claimable', 0],
      ['withdrawal.completed', 0],
    ])
    const [pending, other, cancelled, claimable, completed, redeem, payable, paid] = events.map(({ data }) => data)
    const { estimatedSettlement, ...requested } = pending ?? {}
    expect(estimatedSettlement).toBe(null)
    expect(requested).toMatchObject({ assets: '5000000', shares: null, vaultAddress: lagoon.address, chainId: BASE })
    expect(cancelled).toMatchObject({ assets: '6000000', depositId: other?.['depositId'] })
    expect(claimable).toMatchObject({ assets: '5000000', shares: null, depositId: pending?.['depositId'] })
    expect(completed).toMatchObject({ assets: '3000000', depositId: pending?.['depositId'] })
    expect(redeem).toMatchObject({ assets: null, shares: `${10n ** 18n}` })
    expect(payable).toMatchObject({ shares: `${10n ** 18n}`, withdrawalId: redeem?.['withdrawalId'] })
    expect(paid).toMatchObject({ shares: `${10n ** 18n}`, withdrawalId: redeem?.['withdrawalId'] })
    expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    expect(events.every(({ final }) => final)).toBe(true)
    // Each webhook event contains the whole deposit or withdrawal as of the last final block. The API shows the same.
    const entries = await Promise.all([ALICE, BOB].map(({ address }) => listEntriesOf(service, lagoon.key, address)))
    expect(new Map([...applyReceivedEvents(events)].map(([id, { entry }]) => [id, entry]))).toEqual(
      new Map(entries.flatMap((ofAccount) => [...ofAccount])),
    )
    expect(new Set(events.map(({ data }) => data['version'])).size).toBe(1)
  })
})

describe('The usual duration of a settlement', () => {
  test('is estimated from the last ones once there are five, including those before the vault was added', async ({
    service,
    lagoon,
  }) => {
    const waits = [100, 900, 300, 200, 500]
    for (const [index, seconds] of waits.entries()) {
      // The vault settles each request after `seconds`.
      await lagoon.request(ALICE.address, 1_000_000n)
      await callRpc(lagoon.chain, [{ method: 'evm_increaseTime', params: [seconds] }])
      await lagoon.settle()
      // The job records the first four requests before the fifth one is made.
      if (index === 3) await recordAllBlocks(lagoon.chain)
    }
    await lagoon.request(ALICE.address, 1_000_000n)

    const events = await recordAndList(service, lagoon)

    const { body } = await lagoon.status(ALICE)
    const [estimate, another] = [body.estimatedSettlement, (await lagoon.withdrawStatus(ALICE)).body]
    expect(Math.abs(estimate.p50 - 300)).toBeLessThan(20)
    expect(Math.abs(estimate.p90 - 900)).toBeLessThan(20)
    expect(another.estimatedSettlement).toBe(null)
    expect(events.at(-1)).toMatchObject({ type: 'deposit.pending', data: { estimatedSettlement: estimate } })

    await recordsOf(service).putProgress([[{ chainId: BASE, address: lagoon.address }, initialProgress(LAGOON)]])
    await recordAllBlocks(lagoon.chain)
    expect(await recordAndList(service, lagoon, events)).toEqual([])
    await lagoon.request(BOB.address, 1_000_000n)
    expect(await recordAndList(service, lagoon, events)).toMatchObject([{ data: { estimatedSettlement: estimate } }])
  })

  test('is null if the records cannot be read, and the status is still returned', async ({ coldService: service }) => {
    const { chain, address, key } = await openLagoonVault(service, { generation: '0.6' })
    service.table.fails = ({ body }) => body.includes('PROGRESS')
    onTestFinished(service.table.reset)
    const status = `/defi-vaults/v1/defi/vault/${address}/deposit-status`
    const answer = await service.call('GET', `${status}?userAddress=${ALICE.address}&chainId=${chain.chainId}`, { key })
    expect(answer).toMatchObject({ status: 200, body: { status: 'no_active_deposit', estimatedSettlement: null } })
  })
})

describe('A request worth less than one share', () => {
  test('is not claimable after settlement: no event, no status, no claim', async ({ service, lagoon }) => {
    await lagoon.request(ALICE.address, 1n)
    await lagoon.request(BOB.address, 50_000_000n)
    // A share is worth more than one unit of the asset, so the deposit of one unit gets no share.
    await lagoon.settle(10n ** 13n)

    expect(kindsOf(await recordAndList(service, lagoon))).toEqual([
      ['deposit.pending', 0],
      ['deposit.pending', 1],
      ['deposit.claimable', 1],
    ])
    const { status, amounts } = (await lagoon.status(ALICE)).body
    expect([status, amounts.claimableShares]).toEqual(['no_active_deposit', '0'])
    expect(await depositsOf(service, lagoon, ALICE.address)).toEqual([['completed', '1', '0']])
    expect(await lagoon.claim(ALICE)).toMatchObject({ status: 400, body: { code: 'no_claimable_deposit' } })
    expect((await lagoon.claim(BOB)).status).toBe(200)
  })
})

describe('An asynchronous vault without settlement events', () => {
  test.for(['aggregated', 'counted'] as const)(
    '%s is read, and its claimable amount is reported once',
    async (make, { service }) => {
      const vault = await openAsyncVault(service, { make })
      await recordAllBlocks(vault.chain)
      await vault.mint(ALICE.address, 9_000_000n)
      await vault.approve(ALICE.address, 9_000_000n)
      await vault.act(ALICE.address, 'requestDeposit', 4_000_000n, ALICE.address, ALICE.address)
      const before = await recordAndList(service, vault)
      expect(kindsOf(before)).toEqual([['deposit.pending', 0]])

      const id = make === 'counted' ? 1n : 0n
      await vault.act(ROLES.safe, 'fulfillDeposit', id, ALICE.address, 4_000_000n, 4_000_000n)
      await runRefreshChain(BASE)
      // The job has read the claimable amount. It publishes no event until the block of that read is final.
      expect(await listEvents(service, vault.key)).toEqual(before)
      const events = await recordAndList(service, vault, before)

      expect(kindsOf(events)).toEqual([['deposit.claimable', 0]])
      expect(events[0]?.data).toMatchObject({
        depositId: before[0]?.data['depositId'],
        assets: '4000000',
        transactionHash: null,
      })
      expect(await recordAndList(service, vault, [...before, ...events])).toEqual([])

      // The job reports the deposit for Alice, who claims it, although Bob gets the shares. Vault contracts differ in
      // the order in which the event names these two accounts.
      await vault.act(ALICE.address, 'deposit', 4_000_000n, BOB.address, ALICE.address)
      expect(await depositsOf(service, vault, ALICE.address)).toEqual([['completed', '4000000', '0']])
      expect(kindsOf(await recordAndList(service, vault, [...before, ...events]))).toEqual([['deposit.completed', 0]])
      expect(await depositsOf(service, vault, ALICE.address)).toEqual([['completed', '4000000', '0']])
    },
  )
})

describe('An instant deposit that one account pays for another', () => {
  test.for(['redemptions', 'syncDeposits'] as const)(
    'belongs to the receiver of the shares, whichever account the event names first: %s',
    async (make, { service }) => {
      const vault = await openAsyncVault(service, { make })
      await recordAllBlocks(vault.chain)
      const deposits = { deposit: 5_000_000n, mint: 3_000_000n }
      await vault.mint(BOB.address, 8_000_000n)
      await vault.approve(BOB.address, 8_000_000n)
      for (const [call, amount] of Object.entries(deposits)) {
        await vault.act(BOB.address, call as keyof typeof deposits, amount, ALICE.address)
      }
      const shown = [
        ['completed', '3000000', '3000000'],
        ['completed', '5000000', '5000000'],
      ]
      const live = [await depositsOf(service, vault, ALICE.address), await depositsOf(service, vault, BOB.address)]
      expect(live).toEqual([shown, []])

      expect(kindsOf(await recordAndList(service, vault))).toEqual([
        ['deposit.completed', 0],
        ['deposit.completed', 0],
      ])
      expect([await depositsOf(service, vault, ALICE.address), await depositsOf(service, vault, BOB.address)]).toEqual(
        live,
      )
    },
  )
})

describe('The claimable amount read from an asynchronous vault', () => {
  /**
   * Runs the job until the claimable amounts that it has read are final. Returns the claimable amounts in the webhook
   * events that follow the events in `before`.
   */
  async function claimable(service: Service, vault: TestAsyncVault, before: readonly ReceivedEvent[]) {
    await recordAllBlocks(vault.chain)
    const events = await recordAndList(service, vault, before)
    return events.flatMap(({ type, data }) => (type.endsWith('.claimable') ? [data['assets'] ?? data['shares']] : []))
  }

  test('is reported without the amount that a granted cancellation returns', async ({ service, erc7540: vault }) => {
    await vault.act(ALICE.address, 'requestDeposit', 4_000_000n, ALICE.address, ALICE.address)
    const before = await recordAndList(service, vault)
    await vault.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, 1_000_000n, 1_000_000n)
    await vault.act(ALICE.address, 'cancelDepositRequest', 0n, ALICE.address)
    await vault.act(ROLES.safe, 'fulfillCancelDeposit', 0n, ALICE.address)
    expect(await claimable(service, vault, before)).toEqual(['1000000'])
  })

  test('is reported for a redemption without the shares that a granted cancellation returns', async ({
    service,
    erc7540: vault,
  }) => {
    await vault.act(ALICE.address, 'requestDeposit', 4_000_000n, ALICE.address, ALICE.address)
    await vault.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, 4_000_000n, 4_000_000n)
    await vault.act(ALICE.address, 'deposit', 4_000_000n, ALICE.address, ALICE.address)
    await vault.act(ALICE.address, 'requestRedeem', 3_000_000n, ALICE.address, ALICE.address)
    const before = await recordAndList(service, vault)
    await vault.mint(ROLES.safe, 9_000_000n)
    await vault.approve(ROLES.safe, 9_000_000n)
    await vault.act(ROLES.safe, 'fulfillRedeem', 0n, ALICE.address, 1_000_000n, 1_000_000n)
    await vault.act(ALICE.address, 'cancelRedeemRequest', 0n, ALICE.address)
    await vault.act(ROLES.safe, 'fulfillCancelRedeem', 0n, ALICE.address)
    expect(await claimable(service, vault, before)).toEqual(['1000000'])
  })

  test('is reported after a restriction ends, and not during it', async ({ service, erc7540: vault }) => {
    await vault.act(ALICE.address, 'requestDeposit', 4_000_000n, ALICE.address, ALICE.address)
    const before = await recordAndList(service, vault)
    await vault.actOnShare(ALICE.address, 'restrict', ALICE.address, true)
    await vault.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, 4_000_000n, 4_000_000n)
    expect(await claimable(service, vault, before)).toEqual([])
    await vault.actOnShare(ALICE.address, 'restrict', ALICE.address, false)
    await recordAllBlocks(vault.chain)
    expect(await claimable(service, vault, before)).toEqual(['4000000'])
  })

  test('is reported part by part, each part once, also beside a new request', async ({ service, erc7540: vault }) => {
    await vault.act(ALICE.address, 'requestDeposit', 4_000_000n, ALICE.address, ALICE.address)
    const before = await recordAndList(service, vault)
    await vault.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, 1_000_000n, 1_000_000n)
    expect(await claimable(service, vault, before)).toEqual(['1000000'])
    expect(await claimable(service, vault, before)).toEqual(['1000000'])
    await vault.act(ALICE.address, 'requestDeposit', 2_000_000n, ALICE.address, ALICE.address)
    expect(await claimable(service, vault, before)).toEqual(['1000000'])
    await vault.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, 4_000_000n, 4_000_000n)
    const claimableAmounts = await claimable(service, vault, before)
    expect(claimableAmounts.toSorted()).toEqual(['1000000', '1000000', '3000000'])
    await vault.act(ALICE.address, 'deposit', 5_000_000n, ALICE.address, ALICE.address)
    await vault.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, 1_000_000n, 1_000_000n)
    expect(await claimable(service, vault, before)).toEqual([...claimableAmounts, '1000000'])
  })

  test('is reported once although storing the report failed', async ({ service, erc7540: vault }) => {
    await vault.act(ALICE.address, 'requestDeposit', 4_000_000n, ALICE.address, ALICE.address)
    const before = await recordAndList(service, vault)
    await vault.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, 1_000_000n, 1_000_000n)
    await runRefreshChain(BASE)
    await finalizeBlocks(vault.chain)
    service.table.fails = ({ body }) => body.includes('reported')
    await expect(runRefreshChain(BASE)).rejects.toThrow()
    service.table.reset()
    expect(await claimable(service, vault, before)).toEqual(['1000000'])
  })

  test('is ignored in a response that predates the request', async ({ service, erc7540: vault }) => {
    const wire = service.rpc[BASE] as RecordingProxy
    // Alice makes a new request. A lagging node still returns the old state, in which the whole previous request is
    // claimable.
    await vault.act(ALICE.address, 'requestDeposit', 4_000_000n, ALICE.address, ALICE.address)
    await recordAllBlocks(vault.chain)
    await vault.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, 4_000_000n, 4_000_000n)
    const before = await claimable(service, vault, [])
    const pending = toFunctionSelector('pendingDepositRequest(uint256,address)').slice(2)
    const answers = new Map<string, string>()
    wire.rewrite = (answer, request) => {
      if (request.includes(pending)) answers.set('old', answer)
      return answer
    }
    await runRefreshChain(BASE)
    expect(answers.size).toBe(1)
    await vault.act(ALICE.address, 'requestDeposit', 2_000_000n, ALICE.address, ALICE.address)
    wire.rewrite = (answer, request) => {
      if (!request.includes(pending)) return answer
      const [old, now] = [answers.get('old') ?? answer, answer].map((text) => JSON.parse(text))
      const ids = [now].flat().map(({ id }) => id)
      const changed = [old].flat().map((one, index) => ({ ...one, id: ids[index] }))
      return JSON.stringify(Array.isArray(now) ? changed : changed[0])
    }
    expect(await claimable(service, vault, [])).toEqual(before)
    await recordAllBlocks(vault.chain)
    expect(await claimable(service, vault, [])).toEqual(before)
    wire.reset()
    await vault.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, 2_000_000n, 2_000_000n)
    expect(await claimable(service, vault, [])).toEqual([...before, '2000000'])
  })
})

describe('A request of an account for which a third party makes more requests before each run', () => {
  const DUST = 20n
  test('is reported as settled once, within three times the time to finality', async ({ service, erc7540: vault }) => {
    const { chain, key } = vault
    await vault.mint(BOB.address, DUST)
    await vault.approve(BOB.address, DUST)
    await vault.act(ALICE.address, 'setOperator', BOB.address, true)
    await vault.act(ALICE.address, 'requestDeposit', 4_000_000n, ALICE.address, ALICE.address)
    const before = await recordAndList(service, vault)
    await vault.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, 4_000_000n, 4_000_000n)
    const [settled] = await callRpc(chain, [{ method: 'eth_blockNumber', params: [] }])
    const seconds = evmChain(BASE)?.finality.seconds ?? 0
    const runs = 6
    for (let run = 0; run < runs; run += 1) {
      await vault.act(BOB.address, 'requestDeposit', 1n, ALICE.address, BOB.address)
      if (run > 0) await vault.act(BOB.address, 'deposit', 1n, BOB.address, ALICE.address)
      await runRefreshChain(BASE)
      await callRpc(chain, [{ method: 'evm_increaseTime', params: [Math.floor(seconds * 0.6)] }])
      await callRpc(chain, [{ method: 'anvil_mine', params: ['0x1'] }])
    }
    const events = (await listEvents(service, key)).slice(before.length)
    const claimable = events.filter(({ type, data }) => /claimable|reverted/.test(type) && data['assets'] !== '1')
    expect(claimable.map(({ type, final, data }) => [type, final, data['assets']])).toEqual([
      ['deposit.claimable', true, '4000000'],
    ])
    expect(Number(claimable.at(-1)?.data['blockNumber'])).toBeGreaterThanOrEqual(Number(settled))
  })
})

describe('A vault that is paused', () => {
  test('is reported once the pause is final, and again for the next pause', async ({ service, lagoon }) => {
    await lagoon.act(ROLES.admin, 'pause')
    await runRefreshChain(BASE)
    expect(await listEvents(service, lagoon.key)).toEqual([])
    const events = await recordAndList(service, lagoon)
    expect(events).toMatchObject([{ type: 'vault.paused', final: true, data: { vaultAddress: lagoon.address } }])
    await recordAllBlocks(lagoon.chain)
    await lagoon.act(ROLES.admin, 'unpause')
    for (let run = 0; run < 2; run += 1) await recordAllBlocks(lagoon.chain)
    const both = await listEvents(service, lagoon.key)
    expect(both.slice(events.length)).toMatchObject([
      { type: 'vault.resumed', final: true, data: { vaultAddress: lagoon.address } },
    ])
    await lagoon.act(ROLES.admin, 'pause')
    for (let run = 0; run < 2; run += 1) await recordAllBlocks(lagoon.chain)
    expect(await recordAndList(service, lagoon, both)).toMatchObject([{ type: 'vault.paused', final: true }])
  })
})

describe('A claim of several requests', () => {
  test('has an event for each of them, with its own amounts', async ({ service, lagoon }) => {
    const amounts = [5_000_000n, 3_000_000n]
    for (const amount of amounts) await lagoon.request(ALICE.address, amount)
    await lagoon.settle()
    const before = await recordAndList(service, lagoon)
    const requested = before.filter(({ type }) => type === 'deposit.pending').map(({ data }) => data['depositId'])
    const claimable = await lagoon.read('claimableDepositRequest', 0n, ALICE.address)
    await lagoon.act(ALICE.address, 'deposit', claimable, ALICE.address, ALICE.address)
    const events = await recordAndList(service, lagoon, before)
    expect(requested).toHaveLength(2)
    expect(events.map(({ type, data }) => [type, data['depositId'], data['assets']])).toEqual(
      requested.map((id, index) => ['deposit.completed', id, `${amounts[index]}`]),
    )
    const shares = events.map(({ data }) => BigInt(String(data['shares'])))
    expect(shares.reduce((sum, one) => sum + one)).toBe(await lagoon.read('balanceOf', ALICE.address))
    for (const { data } of events)
      expect(data['entry']).toMatchObject({ depositId: data['depositId'], status: 'completed' })
  })
})

describe('The entry of an event', () => {
  test.for(['all of it', 'one account'])(
    'is null if the nodes cannot read %s at the final block, and the events are recorded and reported',
    async (what, { service, lagoon }) => {
      await lagoon.request(ALICE.address, 5_000_000n)
      await lagoon.request(BOB.address, 6_000_000n)
      const wire = service.rpc[BASE] as RecordingProxy
      const bob = BOB.address.slice(2).toLowerCase()
      wire.rewrite = (answer, request) => {
        const calls = [JSON.parse(request)].flat()
        const answers = [JSON.parse(answer)].flat()
        const changed = answers.map((one, index) => {
          const { method, params } = calls[index] ?? {}
          const isOld = method === 'eth_call' && params[1] !== 'latest'
          const isIts = what === 'all of it' || JSON.stringify(params).includes(bob)
          const error = { code: -32000, message: 'missing trie node' }
          return isOld && isIts ? { id: one.id, jsonrpc: '2.0', error } : one
        })
        return JSON.stringify(answer.startsWith('[') ? changed : changed[0])
      }
      const events = await recordAndList(service, lagoon)
      wire.reset()
      expect(kindsOf(events)).toEqual([
        ['deposit.pending', 0],
        ['deposit.pending', 1],
      ])
      expect(events.map(({ data }) => data['entry'])).toEqual(
        what === 'all of it' ? [null, null] : [expect.objectContaining({ status: 'pending' }), null],
      )
      expect(events.every(({ data }) => typeof data['depositId'] === 'string')).toBe(true)
    },
  )
})

describe('A pause that ends', () => {
  test('is reported immediately to latest webhooks, then as final, and reverted if it did not last', async ({
    service,
    lagoon,
  }) => {
    const body = { url: 'https://127.0.0.1:9/', finality: 'latest' }
    expect((await service.call('POST', '/webhooks', { key: lagoon.key, body })).status).toBe(201)
    await lagoon.act(ROLES.admin, 'pause')
    for (let run = 0; run < 2; run += 1) await recordAllBlocks(lagoon.chain)
    await lagoon.act(ROLES.admin, 'unpause')
    await runRefreshChain(BASE)
    await lagoon.act(ROLES.admin, 'pause')
    await runRefreshChain(BASE)
    await lagoon.act(ROLES.admin, 'unpause')
    for (let run = 0; run < 2; run += 1) await recordAllBlocks(lagoon.chain)
    const events = await listEvents(service, lagoon.key)
    expect(events.map(({ type, final }) => [type, final])).toEqual([
      ['vault.paused', false],
      ['vault.paused', true],
      ['vault.resumed', false],
      ['vault.reverted', false],
      ['vault.resumed', false],
      ['vault.resumed', true],
    ])
    expect(events[3]?.data['eventId']).toBe(events[2]?.id)
  })
})

describe('A client that subscribes to events before they are final', () => {
  const register = (service: Service, key: string) =>
    service.call('POST', '/webhooks', { key, body: { url: 'https://127.0.0.1:9/', finality: 'latest' } })

  test('is notified immediately, and again as final', async ({ service, lagoon }) => {
    expect((await register(service, lagoon.key)).status).toBe(201)
    await lagoon.request(ALICE.address, 5_000_000n)
    await runRefreshChain(BASE)
    const early = await listEvents(service, lagoon.key)
    expect(early).toMatchObject([{ type: 'deposit.pending', final: false, data: { assets: '5000000' } }])
    await runRefreshChain(BASE)
    expect(await listEvents(service, lagoon.key)).toEqual(early)
    const { version, ...data } = early[0]?.data ?? {}
    const final = await recordAndList(service, lagoon, early)
    expect(final).toMatchObject([{ ...{ type: 'deposit.pending', timestamp: early[0]?.timestamp, final: true, data } }])
    expect(Number(final[0]?.data['version'])).toBeGreaterThan(Number(version))
    expect(await recordAndList(service, lagoon)).toHaveLength(2)
  })

  test('is notified although the nodes refuse the events of another vault, or of so many blocks', async ({
    service,
    lagoon,
  }) => {
    const refused = await openYieldVault(service)
    for (const { key } of [lagoon, refused]) expect((await register(service, key)).status).toBe(201)
    await recordAllBlocks(lagoon.chain)
    await lagoon.request(ALICE.address, 5_000_000n)
    await callRpc(lagoon.chain, [{ method: 'anvil_mine', params: ['0x10'] }])
    await lagoon.request(ALICE.address, 6_000_000n)
    const wire = service.rpc[BASE] as RecordingProxy
    const isRefused = (call: { readonly method: string; readonly params: readonly unknown[] }) => {
      const [filter] = call.params as [{ readonly address: readonly string[]; fromBlock: Hex; toBlock: Hex }]
      if (call.method !== 'eth_getLogs') return false
      const isLong = Number(filter.toBlock) - Number(filter.fromBlock) > 9
      return isLong || filter.address.some((one) => one.toLowerCase() === refused.address.toLowerCase())
    }
    wire.rewrite = (answer, request) => {
      const [calls, answers] = [request, answer].map((text) => [JSON.parse(text)].flat())
      const changed = answers?.map((one, index) =>
        isRefused(calls?.[index]) ? { id: one.id, jsonrpc: '2.0', error: { code: -32000, message: 'not now' } } : one,
      )
      return JSON.stringify(answer.startsWith('[') ? changed : changed?.[0])
    }
    await runRefreshChain(BASE)
    expect((await listEvents(service, lagoon.key)).map(({ final, data }) => [final, data['assets']])).toEqual([
      [false, '5000000'],
      [false, '6000000'],
    ])
  })

  test('is notified although another vault fakes more events than a slice holds, which the log reports', async ({
    service,
    lagoon,
  }) => {
    /**
     * Bytecode of a contract that emits one event many times. The call data's words are the number of events, the
     * event's topic and its account.
     */
    const LOOP = '0x6000355b6040358060203560206000a3600190038060035700'
    const noisy = await openYieldVault(service)
    for (const { key } of [lagoon, noisy]) expect((await register(service, key)).status).toBe(201)
    await recordAllBlocks(lagoon.chain)
    const { chain, address } = noisy
    const [code] = await callRpc(chain, [{ method: 'eth_getCode', params: [address, 'latest'] }])
    await callRpc(chain, [{ method: 'anvil_setCode', params: [address, LOOP] }])
    const transfer = toEventSelector('Transfer(address,address,uint256)')
    const words = [numberToHex(5_100), transfer, BOB.address].map((word) => pad(word as Hex).slice(2))
    const call = { from: ALICE.address, to: address, data: `0x${words.join('')}`, gas: '0x1000000' }
    for (let block = 0; block < 2; block += 1) {
      await callRpc(chain, [{ method: 'eth_sendTransaction', params: [call] }])
      await callRpc(chain, [{ method: 'anvil_mine', params: ['0x1'] }])
    }
    await callRpc(chain, [{ method: 'anvil_setCode', params: [address, code] }])
    await lagoon.request(ALICE.address, 5_000_000n)
    const wire = service.rpc[BASE] as RecordingProxy
    wire.rewrite = (answer, request) => {
      const [calls, answers] = [request, answer].map((text) => [JSON.parse(text)].flat())
      const error = { code: -32005, message: 'query returned more than 10000 results' }
      const changed = answers?.map((one, index) =>
        calls?.[index].method === 'eth_getLogs' && one.result?.length > 10_000
          ? { id: one.id, jsonrpc: '2.0', error }
          : one,
      )
      return JSON.stringify(answer.startsWith('[') ? changed : changed?.[0])
    }
    const { lines } = captureLogs()
    await runRefreshChain(BASE)
    expect((await listEvents(service, lagoon.key)).map(({ type, final }) => [type, final])).toEqual([
      ['deposit.pending', false],
    ])
    expect(lines).toContainEqual(
      expect.objectContaining({
        message: 'vaults with too many non-final events not reported',
        vaults: [address],
      }),
    )
  })

  test('is the only one notified of the events that a reorganisation reverted', async ({ service, lagoon }) => {
    const other = await service.createClient([{ chainId: BASE, address: lagoon.address }])
    expect((await register(service, lagoon.key)).status).toBe(201)
    const [snapshot] = await callRpc(lagoon.chain, [{ method: 'evm_snapshot', params: [] }])
    await lagoon.request(ALICE.address, 5_000_000n)
    await lagoon.act(ROLES.admin, 'pause')
    await runRefreshChain(BASE)
    const early = await listEvents(service, lagoon.key)
    expect(early.map(({ type, final }) => [type, final])).toEqual([
      ['deposit.pending', false],
      ['vault.paused', false],
    ])
    await callRpc(lagoon.chain, [{ method: 'evm_revert', params: [snapshot] }])
    await lagoon.request(BOB.address, 6_000_000n)

    const events = await recordAndList(service, lagoon, early)

    const shown = events.map(({ type, final, data }) => [type, final, data['eventId'] ?? nameOf(data['userAddress'])])
    expect(new Set(shown)).toEqual(
      new Set([
        ['deposit.reverted', false, early[0]?.id],
        ['vault.reverted', false, early[1]?.id],
        ['deposit.pending', true, 1],
      ]),
    )
    expect(kindsOf(await listEvents(service, other))).toEqual([['deposit.pending', 1]])
  })
})

describe('An event that a reorganisation replaced', () => {
  test.for([-30, 0, 30])(
    'is reverted by the run that sees it gone, before its replacement %i s later is reported',
    async (seconds, { service }) => {
      const vault = await openYieldVault(service)
      const { chain, key } = vault
      const body = { url: 'https://127.0.0.1:9/', finality: 'latest' }
      expect((await service.call('POST', '/webhooks', { key, body })).status).toBe(201)
      await vault.mint(ALICE.address, 9_000_000n)
      await vault.approve(ALICE.address, 9_000_000n)
      await recordAllBlocks(chain)
      const mine = () => callRpc(chain, [{ method: 'anvil_mine', params: ['0x1'] }])
      const wait = async (more: number) => {
        if (more > 0) await callRpc(chain, [{ method: 'evm_increaseTime', params: [more] }])
      }
      const deposit = () => vault.act(ALICE.address, 'deposit', 2_000_000n, ALICE.address)
      const [snapshot] = await callRpc(chain, [{ method: 'evm_snapshot', params: [] }])
      await wait(-seconds)
      await deposit()
      await runRefreshChain(BASE)
      const [early, ...more] = await listEvents(service, key)
      expect([early?.type, early?.final, more]).toEqual(['deposit.completed', false, []])
      await callRpc(chain, [{ method: 'evm_revert', params: [snapshot] }])
      await wait(seconds)
      if (seconds >= 0) await mine()
      await deposit()
      await mine()
      for (let run = 0; run < 2; run += 1) await runRefreshChain(BASE)
      const shown = (events: readonly ReceivedEvent[]) =>
        events.map(({ type, final, data }) => [type, final, data['eventId']])
      const expected = [
        ['deposit.completed', false, undefined],
        ['deposit.reverted', false, early?.id],
        ['deposit.completed', false, undefined],
      ]
      expect(shown(await listEvents(service, key))).toEqual(expected)
      await recordAllBlocks(chain)
      await recordAllBlocks(chain)
      const all = await listEvents(service, key)
      expect(shown(all)).toEqual([...expected, ['deposit.completed', true, undefined]])
      // The webhook receiver's data must equal the API's, both before the last event and after it.
      const api = await listEntriesOf(service, key, ALICE.address)
      expect(api.size).toBe(1)
      for (const events of [all.slice(0, 3), all]) {
        const stored = [...applyReceivedEvents(events)].flatMap(([id, { entry }]) =>
          entry ? [[id, entry] as const] : [],
        )
        expect(new Map(stored)).toEqual(api)
      }
    },
  )
})

describe('A settlement without an event', () => {
  const shown = (events: readonly ReceivedEvent[]) =>
    events.map(({ type, final, data }) => [type, final, data['assets']])
  /**
   * Registers a webhook that gets events before they are final. Requests and records a deposit of 4 USDC, and returns
   * the webhook events so far.
   */
  const requested = async (service: Service, vault: TestAsyncVault) => {
    const body = { url: 'https://127.0.0.1:9/', finality: 'latest' }
    expect((await service.call('POST', '/webhooks', { key: vault.key, body })).status).toBe(201)
    await vault.act(ALICE.address, 'requestDeposit', 4_000_000n, ALICE.address, ALICE.address)
    return await recordAndList(service, vault)
  }
  const fulfil = (vault: TestAsyncVault, amount: bigint) =>
    vault.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, amount, amount)

  test('is reported once it is final, and not before, also to a webhook for latest events', async ({
    service,
    erc7540: vault,
  }) => {
    const before = await requested(service, vault)
    await fulfil(vault, 4_000_000n)
    for (let run = 0; run < 2; run += 1) await runRefreshChain(BASE)
    expect(await listEvents(service, vault.key)).toEqual(before)
    const events = await recordAndList(service, vault, before)
    expect(shown(events)).toEqual([['deposit.claimable', true, '4000000']])
    expect(events[0]?.data).toMatchObject({ depositId: before[0]?.data['depositId'], transactionHash: null })
  })

  test('is never reported if a reorganisation undid it, and its replacement is', async ({
    service,
    erc7540: vault,
  }) => {
    const { chain } = vault
    const before = await requested(service, vault)
    const [snapshot] = await callRpc(chain, [{ method: 'evm_snapshot', params: [] }])
    await fulfil(vault, 4_000_000n)
    await runRefreshChain(BASE)
    await callRpc(chain, [{ method: 'evm_revert', params: [snapshot] }])
    // The new chain gets one block more than the reorganisation removed, so that nodes prefer it.
    for (let block = 0; block < 3; block += 1) await callRpc(chain, [{ method: 'anvil_mine', params: ['0x1'] }])
    await fulfil(vault, 1_000_000n)
    await recordAllBlocks(chain)
    expect(shown(await recordAndList(service, vault, before))).toEqual([['deposit.claimable', true, '1000000']])
  })

  test('is reported before its claim, whether or not the vault was read in between', async ({
    service,
    erc7540: vault,
  }) => {
    const before = await requested(service, vault)
    const claim = (amount: bigint) => vault.act(ALICE.address, 'deposit', amount, ALICE.address, ALICE.address)
    await fulfil(vault, 1_000_000n)
    await claim(1_000_000n)
    await fulfil(vault, 1_500_000n)
    await runRefreshChain(BASE)
    await claim(700_000n)
    await claim(800_000n)
    await fulfil(vault, 500_000n)
    await claim(300_000n)
    const events = (await recordAndList(service, vault, before)).filter(({ final }) => final)
    expect(shown(events)).toEqual([
      ['deposit.claimable', true, '1000000'],
      ['deposit.completed', true, '1000000'],
      ['deposit.claimable', true, '1500000'],
      ['deposit.completed', true, '700000'],
      ['deposit.completed', true, '800000'],
      ['deposit.claimable', true, '300000'],
      ['deposit.completed', true, '300000'],
    ])
    for (const { data } of events) expect(data).toMatchObject({ depositId: before[0]?.data['depositId'] })
    await recordAllBlocks(vault.chain)
    const rest = (await recordAndList(service, vault, before)).slice(-1)
    expect(shown(rest)).toEqual([['deposit.claimable', true, '200000']])
  })

  test('has both amounts: the current one from the vault, or the paid one from a claim', async ({
    service,
    erc7540: vault,
  }) => {
    const before = await requested(service, vault)
    await vault.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, 1_000_000n, 500_000n)
    await runRefreshChain(BASE)
    await vault.act(ALICE.address, 'deposit', 1_000_000n, ALICE.address, ALICE.address)
    await vault.act(ROLES.safe, 'fulfillDeposit', 0n, ALICE.address, 2_000_000n, 4_000_000n)
    await vault.act(ALICE.address, 'deposit', 2_000_000n, ALICE.address, ALICE.address)
    const events = (await recordAndList(service, vault, before)).filter(({ type }) => type === 'deposit.claimable')
    expect(events.map(({ data }) => [data['assets'], data['shares']])).toEqual([
      ['1000000', '500000'],
      ['2000000', '4000000'],
    ])
  })

  test('is reported although over a hundred requests of third parties precede it', async ({
    service,
    erc7540: vault,
  }) => {
    /**
     * Bytecode of a contract that emits one deposit request for each controller address from 1 to n. The words of
     * its calldata are n, the event's topic, the owner (who is also the sender), and the assets.
     */
    const LOOP = `0x604035600052606035602052600035${'5b60006040358260203560406000a46001900380600f5700'}`
    const { chain, address } = vault
    const [code] = await callRpc(chain, [{ method: 'eth_getCode', params: [address, 'latest'] }])
    await callRpc(chain, [{ method: 'anvil_setCode', params: [address, LOOP] }])
    const topic = toEventSelector('DepositRequest(address,address,uint256,address,uint256)')
    const words = [numberToHex(150), topic, BOB.address, '0x1'].map((word) => pad(word as Hex).slice(2))
    const call = { from: BOB.address, to: address, data: `0x${words.join('')}`, gas: '0x1000000' }
    await callRpc(chain, [{ method: 'eth_sendTransaction', params: [call] }])
    await callRpc(chain, [{ method: 'anvil_mine', params: ['0x1'] }])
    await callRpc(chain, [{ method: 'anvil_setCode', params: [address, code] }])
    const before = await requested(service, vault)
    await runRefreshChain(BASE)
    await fulfil(vault, 4_000_000n)
    await recordAllBlocks(chain)
    await recordAllBlocks(chain)
    expect(shown(await recordAndList(service, vault, before))).toEqual([['deposit.claimable', true, '4000000']])
  })

  test('costs no write if nothing is new', async ({ service, erc7540: vault }) => {
    await requested(service, vault)
    service.table.tries.length = 0
    await runRefreshChain(BASE)
    expect(
      service.table.tries.filter(({ action, body }) => action !== 'Query' && /OPEN#|SNAPSHOT#/.test(body)),
    ).toEqual([])
  })
})

describe('A vault that fakes its events', () => {
  /**
   * Bytecode of a contract that emits one event many times. The call data's words are the number of events, the
   * event's topic, its account and its amount.
   */
  const EMITTER = `0x6040356000526060356020526000355b600060403580602035604060${'00a4600190038060'}0f5700`
  const REQUESTED = toEventSelector('DepositRequest(address,address,uint256,address,uint256)')
  const TAKEN_BACK = toEventSelector('CancelDepositClaim(address,address,uint256,address,uint256)')

  test('with long queues of cancellations delays no other vault, and has as many attributed as a slice allows', async ({
    service,
    lagoon,
  }) => {
    const madeUp = await openAsyncVault(service, { make: 'aggregated' })
    const { chain, address } = madeUp
    await recordAllBlocks(chain)
    const before = await listEvents(service, madeUp.key)
    const others = await listEvents(service, lagoon.key)
    const [code] = await callRpc(chain, [{ method: 'eth_getCode', params: [address, 'latest'] }])
    await callRpc(chain, [{ method: 'anvil_setCode', params: [address, EMITTER] }])
    for (const [times, topic, amount] of [
      [500, REQUESTED, 1_000n],
      [1, TAKEN_BACK, 120_000n],
      [499, TAKEN_BACK, 1n],
    ] as const) {
      const words = [numberToHex(times), topic, BOB.address, numberToHex(amount)].map((word) =>
        pad(word as Hex).slice(2),
      )
      const data = `0x${words.join('')}`
      await callRpc(chain, [
        { method: 'eth_sendTransaction', params: [{ from: ALICE.address, to: address, data, gas: '0x1000000' }] },
      ])
      // Anvil responds before it mines the transaction. The extra block makes the transaction run before the test
      // restores the vault's own bytecode.
      await callRpc(chain, [{ method: 'anvil_mine', params: [numberToHex(1)] }])
    }
    await callRpc(chain, [{ method: 'anvil_setCode', params: [address, code] }])
    await lagoon.request(ALICE.address, 5_000_000n)

    const [event] = await recordAndList(service, lagoon, others)
    expect(event).toMatchObject({ type: 'deposit.pending', data: { assets: '5000000' } })
    const cancelled = (await listEvents(service, madeUp.key)).slice(before.length + 500)
    // The cancellation of 120 requests has 20 webhook events with a deposit id, and one more for the other 100
    // requests.
    expect(cancelled).toHaveLength(499 + 21)
    expect(cancelled.slice(0, 21).map(({ data }) => [data['depositId'] !== null, data['assets']])).toEqual([
      ...Array.from({ length: 20 }, () => [true, '1000']),
      [false, '100000'],
    ])
    // The job may use 20 million computation steps. Finding the requests of a cancellation takes n² steps for n earlier
    // ledger entries. The steps suffice for 68 more cancellations.
    expect(cancelled.filter(({ data }) => data['depositId'] !== null)).toHaveLength(20 + 68)
  })
})

describe('A vault that no client had for a while', () => {
  test('is reported from when it is added again, whatever happened before, also if the first run fails', async ({
    service,
    lagoon,
  }) => {
    const run = (...args: string[]) => runCommandLine(args, async () => service.backends.admin)
    const of = ['--client', lagoon.key.split('_')[2] ?? '', '--chain', `${BASE}`, '--address', lagoon.address]
    await run('remove-vault', ...of)
    await lagoon.request(BOB.address, 6_000_000n)
    await finalizeBlocks(lagoon.chain)
    await run('add-vault', ...of, '--first-block', '1')
    await lagoon.request(ALICE.address, 5_000_000n)
    await finalizeBlocks(lagoon.chain)

    const { table } = service
    onTestFinished(table.reset)
    table.fails = ({ action, body }) => action === 'TransactWriteItems' && body.includes('PROGRESS')
    await expect(runRefreshChain(BASE)).rejects.toThrow()
    table.reset()
    expect(kindsOf(await recordAndList(service, lagoon))).toEqual([['deposit.pending', 0]])
    expect(await depositsOf(service, lagoon, BOB.address)).toMatchObject([['pending', '6000000', '0']])
  })
})

describe('If events of a vault cannot be reported to clients,', () => {
  /** Runs the job. `what` names the way in which the publishing of webhook events fails. Returns the run's report. */
  const failing = async (service: Service, what: string, run: () => Promise<object> = () => runRefreshChain(BASE)) => {
    const { table, backends } = service
    const { webhooks } = backends.dynamo.tableNames
    if (what === 'queue') backends.queues.faults.down = true
    else table.fails = ({ table: name }) => name === webhooks
    captureLogs()
    try {
      return await run()
    } finally {
      backends.queues.faults.down = false
      table.reset()
    }
  }
  const throughOf = async (service: Service, { address }: Pick<TestVault, 'address'>) =>
    (await recordsOf(service).getProgress([{ chainId: BASE, address }]))[0]?.through ?? 0

  test.for(['table', 'queue'])(
    'because the %s is down, none is recorded, the run reports it, and clients get each once later',
    async (what, { service, lagoon }) => {
      const body = { url: 'https://127.0.0.1:9/' }
      expect((await service.call('POST', '/webhooks', { key: lagoon.key, body })).status).toBe(201)
      const before = await throughOf(service, lagoon)
      await lagoon.request(ALICE.address, 5_000_000n)
      await finalizeBlocks(lagoon.chain)
      for (let run = 0; run < 2; run += 1) {
        expect(await failing(service, what)).toMatchObject({ unreportedVaults: 1, entries: 0 })
      }
      expect(await throughOf(service, lagoon)).toBe(before)
      expect(kindsOf(await recordAndList(service, lagoon))).toEqual([['deposit.pending', 0]])
      expect(await throughOf(service, lagoon)).toBeGreaterThan(before)
      expect(await runRefreshChain(BASE)).toMatchObject({ unreportedVaults: 0 })
    },
  )

  test('events older than a day are recorded and not reported', async ({ service, lagoon, clock }) => {
    await lagoon.request(ALICE.address, 5_000_000n)
    const final = await finalizeBlocks(lagoon.chain)
    clock.pass(86_400 + 3_600)
    vi.resetModules()
    const { handler } = await import('../../../functions/jobs/refresh-chain/handler.ts')
    const run = async () => Object(await handler({ chainId: BASE }, someContext()))
    expect(await failing(service, 'table', run)).toMatchObject({ unreportedVaults: 1, entries: 1 })
    expect(await throughOf(service, lagoon)).toBeGreaterThanOrEqual(final)
    expect(await recordAndList(service, lagoon)).toEqual([])
  })

  test('because the table refuses those of one vault, the others are reported and recorded', async ({
    service,
    lagoon,
  }) => {
    const other = await openYieldVault(service)
    await recordAllBlocks(lagoon.chain)
    const vaults = [lagoon, other].map(({ address }) => ({ chainId: BASE, address }))
    const both = await service.createClient(vaults)
    const before = await throughOf(service, lagoon)
    await lagoon.request(ALICE.address, 5_000_000n)
    await other.mint(ALICE.address, 1_000_000n)
    await other.approve(ALICE.address, 1_000_000n)
    await other.act(ALICE.address, 'deposit', 1_000_000n, ALICE.address)
    await finalizeBlocks(lagoon.chain)
    const { webhooks } = service.backends.dynamo.tableNames
    service.table.refuses = ({ table, request }) => table === webhooks && pagesIn(request).includes(lagoon.address)
    expect(await runRefreshChain(BASE)).toMatchObject({ unreportedVaults: 1 })
    service.table.reset()
    expect(kindsOf(await listEvents(service, both))).toEqual([['deposit.completed', 0]])
    expect(await throughOf(service, lagoon)).toBe(before)
    expect(await throughOf(service, other)).toBeGreaterThan(before)
    await runRefreshChain(BASE)
    expect(kindsOf(await listEvents(service, both))).toEqual([
      ['deposit.completed', 0],
      ['deposit.pending', 0],
    ])
  })

  test('a changed pinned vault is reported once as soon as reports succeed', async ({ service, lagoon }) => {
    const place = ['--chain', `${BASE}`, '--address', lagoon.address]
    const shown = (await runCommandLine(['confirm-vault', ...place], async () => service.backends.admin)).join('\n')
    const [, digest = ''] = /--confirm (\w+)/.exec(shown) ?? []
    await runCommandLine(['confirm-vault', ...place, '--confirm', digest], async () => service.backends.admin)
    await lagoon.upgrade('0.5.1')
    expect(await failing(service, 'table')).toMatchObject({ unreportedVaults: 1, changedVaults: 1 })
    expect(await listEvents(service, lagoon.key)).toEqual([])
    for (let run = 0; run < 2; run += 1) {
      expect(await runRefreshChain(BASE)).toMatchObject({ unreportedVaults: 0, changedVaults: 1 })
      expect(await listEvents(service, lagoon.key)).toMatchObject([
        { type: 'vault.changed', final: true, data: { vaultAddress: lagoon.address } },
      ])
    }
  })
})

function pagesIn(request: object): string {
  const pages = z.object({
    writes: z.array(z.object({ put: z.object({ events: z.instanceof(Uint8Array) }) }).catch(NO_PAGE)),
  })
  const written = pages.safeParse(request).data?.writes ?? []
  return written.map(({ put }) => (put.events.length > 0 ? gunzipSync(put.events).toString() : '')).join()
}
const NO_PAGE = { put: { events: new Uint8Array() } }
