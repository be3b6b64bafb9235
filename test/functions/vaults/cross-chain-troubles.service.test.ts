import type { Hash } from 'viem'
import { describe, expect } from 'vitest'
import type { LocalAccount } from '../../../sandbox/accounts.ts'
import { createBundler } from '../../support/bundler.ts'
import { createDepositJourney } from '../../support/cross-chain.ts'
import { ARBITRUM, BASE, HANDLER } from '../../support/oracles.ts'
import { type HttpReply, type Service, USERS } from '../../support/service.ts'
import { REFUND_WAYS } from '../../support/transfer-troubles.ts'
import {
  test as base,
  type ContractCall,
  call,
  depositMessage,
  type Transfer,
  type Transfers,
} from '../../support/transfers.ts'
import { openLagoonVault, openYieldVault } from '../../support/vaults.ts'
import { listRpcCalls } from '../../support/wire.ts'

const [ALICE, BOB] = USERS

const test = base.extend('vault', { scope: 'file' }, ({ sharedService }) =>
  openLagoonVault(sharedService, { generation: '0.5' }),
)

/**
 * Requests the status of a transaction on Arbitrum and returns it. Asserts that the service then makes at most 6 HTTP
 * requests with 8 calls to nodes.
 */
async function pollStatus(
  service: Service,
  hash: Hash,
  more: { readonly userAddress?: string; readonly index?: number } = {},
) {
  for (const wire of Object.values(service.rpc)) wire.bodies.length = 0
  const query = new URLSearchParams({ srcChainId: `${ARBITRUM}`, ...(more as Record<string, string>) })
  const reply = await service.call('GET', `/defi-vaults/v1/defi/cross-chain/${hash}/status?${query}`)
  expect(reply.status).toBe(200)
  const requests = Object.values(service.rpc).flatMap(listRpcCalls)
  expect(requests.length).toBeLessThanOrEqual(6)
  expect(requests.flat().length).toBeLessThanOrEqual(8)
  return reply.body
}

async function prepare(
  service: Service,
  vault: Parameters<typeof createDepositJourney>[0],
  user: Pick<LocalAccount, 'address'>,
  amount: bigint,
): Promise<ContractCall> {
  const reply: HttpReply = await createDepositJourney(vault, service, ARBITRUM).ask(user, amount)
  expect(reply.status).toBe(200)
  const { to: target, data: callData } = reply.body.operations.at(-1)
  return { target, callData }
}

async function findTransfer(transfers: Transfers, hash: Hash, amount?: bigint): Promise<Transfer> {
  const opened = await transfers.transfersIn(ARBITRUM, hash)
  const transfer = opened.find(({ deposit }) => amount === undefined || deposit.inputAmount === amount)
  if (!transfer) throw new Error('The pool took no such deposit')
  return transfer
}

const kinds = ({ events }: { readonly events: readonly { readonly kind: string }[] }) => events.map(({ kind }) => kind)

describe('A pending transaction', () => {
  test('that a higher fee replaces has the transfer of its replacement', async ({ service, transfers, vault }) => {
    const waiting = await transfers.sendWaiting(
      ARBITRUM,
      ALICE.address,
      await prepare(service, vault, ALICE, 90_000_000n),
    )
    const { hash } = waiting
    expect(await pollStatus(service, hash)).toMatchObject({ status: 'pending', terminal: false, replacedBy: null })
    const replacement = await waiting.speedUp()
    await waiting.mine()
    const { deposit } = await findTransfer(transfers, replacement)
    const sent = {
      depositId: hash,
      inputAmount: '90000000',
      depositor: ALICE.address,
      transactions: { source: replacement },
    }
    expect(await pollStatus(service, hash)).toMatchObject({ status: 'bridging', ...sent, replacedBy: replacement })
    const fill = await transfers.relayer.fill(deposit)
    await transfers.finalise()
    // The first poll finds that the source transaction is final, the second finds the fill, and the third finds that
    // the fill is final.
    for (let poll = 0; poll < 2; poll += 1) await pollStatus(service, hash)
    const { transactions, ...completed } = await pollStatus(service, hash)
    expect(completed).toMatchObject({
      status: 'completed',
      final: true,
      replacedBy: replacement,
      inputAmount: '90000000',
    })
    expect(transactions).toEqual({ source: replacement, fill })
    expect(await pollStatus(service, replacement)).toMatchObject({ status: 'completed', replacedBy: null })
  })

  test('that is cancelled is dropped once its nonce is finally used and no other deposit has its terms', async ({
    service,
    transfers,
    vault,
  }) => {
    const waiting = await transfers.sendWaiting(
      ARBITRUM,
      ALICE.address,
      await prepare(service, vault, ALICE, 91_000_000n),
    )
    const { hash } = waiting
    expect(await pollStatus(service, hash)).toMatchObject({ status: 'pending' })
    await waiting.cancel()
    await waiting.mine()
    // The service must not mistake another deposit of the same account for this transfer.
    await transfers.open({ user: ALICE })
    expect(await pollStatus(service, hash)).toMatchObject({ status: 'pending' })
    await transfers.finalise(ARBITRUM)
    const dropped = await pollStatus(service, hash)
    expect(dropped).toMatchObject({
      status: 'failed',
      reason: 'source_dropped',
      terminal: true,
      final: true,
      events: [],
    })
    expect(dropped.statusDescription).not.toMatch(/nothing was sent/i)
    // A final status is stored, so another poll makes no calls to nodes.
    expect(await pollStatus(service, hash)).toMatchObject({ reason: 'source_dropped' })
    expect(Object.values(service.rpc).flatMap(listRpcCalls)).toEqual([])
  })

  test('replaced by a deposit with other terms is dropped, and the other one is a separate transfer', async ({
    service,
    transfers,
    vault,
  }) => {
    const other = await prepare(service, vault, ALICE, 93_000_000n)
    const waiting = await transfers.sendWaiting(
      ARBITRUM,
      ALICE.address,
      await prepare(service, vault, ALICE, 92_000_000n),
    )
    await pollStatus(service, waiting.hash)
    const replacement = await waiting.replace(other)
    await waiting.mine()
    await transfers.finalise(ARBITRUM)
    expect(await pollStatus(service, waiting.hash)).toMatchObject({ reason: 'source_dropped' })
    expect(await pollStatus(service, replacement)).toMatchObject({ status: 'bridging', inputAmount: '93000000' })
  })

  test('that is sent twice makes two transfers', async ({ service, transfers, vault }) => {
    const twice = await prepare(service, vault, ALICE, 94_000_000n)
    const hashes = [
      await transfers.send(ARBITRUM, ALICE.address, twice),
      await transfers.send(ARBITRUM, ALICE.address, twice),
    ]
    const [first, second] = await Promise.all(hashes.map((hash) => findTransfer(transfers, hash)))
    const fill = await transfers.relayer.fill((first as Transfer).deposit)
    expect(await pollStatus(service, (first as Transfer).hash)).toMatchObject({
      status: 'completed',
      transactions: { fill },
    })
    expect(await pollStatus(service, (second as Transfer).hash)).toMatchObject({ status: 'bridging', replacedBy: null })
  })
})

describe('In a bundle of two users', () => {
  const bundle = async (transfers: Transfers, vault: Parameters<typeof createDepositJourney>[0]) => {
    const chain = transfers.chainOf(ARBITRUM)
    const bundler = await createBundler(chain)
    const [alice, bob] = bundler.accounts
    const token = transfers.tokenOf(ARBITRUM, 'USDC')
    const sign = async (account: typeof alice, amount: bigint) => {
      const [admin] = USERS
      await transfers.send(ARBITRUM, admin.address, call(token, 'mint', [account.address, amount]))
      const approval = call(token, 'approve', [transfers.poolOf(ARBITRUM), amount])
      // The depositor is a smart account. The service accepts it because it exists on the destination chain too.
      const message = depositMessage({
        token: transfers.tokenOf(BASE, 'USDC'),
        vault: vault.address,
        user: account.address,
        entry: 'requestDeposit',
      })
      const deposit = await transfers.depositCall({ user: account, inputAmount: amount, message, recipient: HANDLER })
      return bundler.sign(account, [approval, deposit])
    }
    return { bundler, alice, bob, sign, token }
  }

  test('each user sees only their own transfer, and other accounts see none', async ({ service, transfers, vault }) => {
    const { bundler, alice, bob, sign } = await bundle(transfers, vault)
    const operations = [await sign(alice, 111_000_000n), await sign(bob, 222_000_000n)]
    const hash = await bundler.include(operations)
    const whole = await pollStatus(service, hash)
    expect(whole).toMatchObject({ status: 'bridging', depositor: alice.address, inputAmount: '111000000' })
    expect(whole.transfers).toMatchObject([
      { depositor: alice.address, inputAmount: '111000000' },
      { depositor: bob.address, inputAmount: '222000000' },
    ])
    const ofBob = await pollStatus(service, hash, { userAddress: bob.address })
    expect(ofBob).toMatchObject({ depositor: bob.address, inputAmount: '222000000' })
    expect(ofBob.transfers).toHaveLength(1)
    expect(await pollStatus(service, hash, { index: 1 })).toMatchObject({ depositor: bob.address })
    const ofNobody = await pollStatus(service, hash, { userAddress: ALICE.address })
    expect(ofNobody).toMatchObject({ status: 'pending', depositor: null, inputAmount: null, events: [] })
    expect(JSON.stringify(ofNobody)).not.toContain('222000000')

    const [byAlice, byBob] = operations.map(({ userOpHash }) => userOpHash) as [Hash, Hash]
    expect(await pollStatus(service, byBob)).toMatchObject({
      depositId: byBob,
      inputAmount: '222000000',
      replacedBy: null,
    })
    const fill = await transfers.relayer.fill((await findTransfer(transfers, hash, 111_000_000n)).deposit)
    for (const [sourceHash, more] of [
      [byAlice, {}],
      [hash, { userAddress: alice.address }],
    ] as const) {
      await pollStatus(service, sourceHash, more)
      const status = await pollStatus(service, sourceHash, more)
      expect(status).toMatchObject({
        status: 'completed',
        transactions: { source: hash, fill },
        inputAmount: '111000000',
      })
      expect(kinds(status)).toEqual(['deposited', 'filled', 'vault_deposited'])
    }
    expect(await pollStatus(service, byBob)).toMatchObject({ status: 'bridging' })
  })

  test('a failed operation has reverted, although the bundle succeeded', async ({ service, transfers, vault }) => {
    const { bundler, alice, bob, sign, token } = await bundle(transfers, vault)
    const failing = await bundler.sign(bob, [call(token, 'transferFrom', [ALICE.address, bob.address, 1n])])
    const hash = await bundler.include([await sign(alice, 112_000_000n), failing])
    expect(await bundler.outcomesOf(hash)).toMatchObject([{ success: true }, { success: false }])
    expect(await pollStatus(service, hash, { userAddress: bob.address })).toMatchObject({
      status: 'failed',
      reason: 'source_reverted',
    })
    expect(await pollStatus(service, hash, { userAddress: alice.address })).toMatchObject({ status: 'bridging' })
  })

  test('an operation that another bundler includes after a reorganisation is the same transfer', async ({
    service,
    transfers,
    vault,
  }) => {
    const { bundler, alice, bob, sign, token } = await bundle(transfers, vault)
    const operations = [await sign(alice, 113_000_000n), await sign(bob, 224_000_000n)]
    const userAddress = bob.address
    const { dropped, hash } = await transfers.reorganise({
      chainId: ARBITRUM,
      token,
      include: () => bundler.include(operations),
      between: (first) => pollStatus(service, first, { userAddress }),
      again: () => bundler.include(operations.slice(1), BOB.address),
    })
    const [, { userOpHash }] = operations as [unknown, { userOpHash: Hash }]
    const { deposit } = await findTransfer(transfers, hash, 224_000_000n)
    expect(await pollStatus(service, dropped, { userAddress })).toMatchObject({
      status: 'bridging',
      inputAmount: '224000000',
      replacedBy: hash,
    })
    expect(await pollStatus(service, userOpHash)).toMatchObject({ status: 'bridging', transactions: { source: hash } })
    const fill = await transfers.relayer.fill(deposit)
    await pollStatus(service, dropped, { userAddress })
    expect(await pollStatus(service, dropped, { userAddress })).toMatchObject({
      status: 'completed',
      transactions: { source: hash, fill },
    })
  })

  test('the result of one operation does not affect the other', async ({ service, transfers, vault }) => {
    const { bundler, alice, bob, sign, token } = await bundle(transfers, vault)
    const operations = [await sign(alice, 114_000_000n), await sign(bob, 225_000_000n)]
    const { dropped, hash } = await transfers.reorganise({
      chainId: ARBITRUM,
      token,
      include: () => bundler.include(operations),
      between: (first) => pollStatus(service, first),
      again: () => bundler.include(operations.slice(1), BOB.address),
    })
    // The clock advances beyond the quote's maximum age. The first user operation can then never succeed.
    await transfers.setClock(ARBITRUM, (await transfers.clockOf(ARBITRUM)) + 7_200)
    await transfers.finalise()
    for (let poll = 0; poll < 3; poll += 1) await pollStatus(service, dropped, { userAddress: alice.address })
    const ofAlice = await pollStatus(service, dropped, { userAddress: alice.address })
    expect(ofAlice).toMatchObject({ status: 'failed', reason: 'source_dropped', final: true })
    const ofBob = await pollStatus(service, dropped, { userAddress: bob.address })
    expect(ofBob).toMatchObject({ depositor: bob.address, inputAmount: '225000000', transactions: { source: hash } })
    const [, { userOpHash }] = operations as [unknown, { userOpHash: Hash }]
    expect(await pollStatus(service, userOpHash)).toMatchObject({ depositor: bob.address })
  })
})

describe('A fill by other terms that the depositor signed later has the status of what arrived:', () => {
  test('into another vault', async ({ service, transfers, vault }) => {
    const other = await openYieldVault(service, { chainId: BASE })
    const transfer = await transfers.open({ into: vault })
    const token = transfers.tokenOf(BASE, 'USDC')
    const message = depositMessage({ token, vault: other.address, user: ALICE.address, entry: 'deposit' })
    await transfers.fillChanged(transfer.deposit, { message })
    const status = await pollStatus(service, transfer.hash)
    const amount = status.outputAmount
    expect(status).toMatchObject({
      status: 'completed',
      action: 'deposit',
      vaultAddress: other.address,
      protocol: null,
    })
    expect(status.events.at(-1)).toMatchObject({ kind: 'vault_deposited', account: ALICE.address, amount })
    expect(BigInt(status.sharesReceived)).toBeGreaterThan(0n)
  })

  test('to another recipient', async ({ service, transfers }) => {
    const transfer = await transfers.open()
    await transfers.fillChanged(transfer.deposit, { recipient: BOB.address })
    const status = await pollStatus(service, transfer.hash)
    expect(status).toMatchObject({ status: 'completed', action: 'none', recipient: BOB.address })
    expect(status.statusDescription).toContain('another recipient')
  })

  test('with an emptied message the funds stay where any account can take them', async ({
    service,
    transfers,
    vault,
  }) => {
    const transfer = await transfers.open({ into: vault })
    const { fill } = await transfers.fillChanged(transfer.deposit, { message: '0x' })
    const status = await pollStatus(service, transfer.hash)
    expect(status).toMatchObject({
      status: 'failed',
      reason: 'undelivered',
      terminal: true,
      recipient: null,
      transactions: { fill },
    })
    expect(kinds(status)).toEqual(['deposited', 'sped_up', 'filled', 'undelivered'])
  })
})

describe('A refund among others of the same account', () => {
  test.for(REFUND_WAYS)(
    'that is paid %s is found with its own amount in two polls, or four for a claim',
    async (way, { service, transfers }) => {
      await transfers.passDays(2)
      const dusts = await transfers.dust(ALICE.address, 21, {
        chainId: ARBITRUM,
        token: transfers.tokenOf(ARBITRUM, 'USDC'),
        seconds: 600,
      })
      const transfer = await transfers.open({ inputAmount: 77_000_000n, seconds: 600 })
      const other = await transfers.open({ inputAmount: 13_000_000n, seconds: 600 })
      await transfers.letExpire(transfer)
      await transfers.letExpire(other)
      await transfers.finalise()
      // Three polls are needed until the service has stored that the fill deadline has passed on both chains.
      for (let poll = 0; poll < 3; poll += 1) await pollStatus(service, transfer.hash)
      const hashes = await transfers.refund([transfer.deposit, ...dusts], way)
      await transfers.finalise()
      for (let poll = 1; poll < (way === 'claimed' ? 4 : 2); poll += 1) await pollStatus(service, transfer.hash)
      const status = await pollStatus(service, transfer.hash)
      const refund = { chainId: ARBITRUM, amount: '77000000' }
      if (way === 'deferred') {
        expect(status).toMatchObject({
          reason: 'expired',
          terminal: false,
          refund: { ...refund, claim: { chainId: ARBITRUM } },
        })
        await transfers.send(ARBITRUM, ALICE.address, {
          target: status.refund.claim.to,
          callData: status.refund.claim.data,
        })
        await transfers.finalise()
        for (let poll = 0; poll < 3; poll += 1) await pollStatus(service, transfer.hash)
        expect(await pollStatus(service, transfer.hash)).toMatchObject({
          reason: 'refunded',
          refund: { ...refund, claim: null },
        })
      } else {
        expect(status).toMatchObject({
          reason: 'refunded',
          terminal: true,
          final: true,
          refund: { ...refund, claim: null },
        })
        expect(hashes).toContain(status.refund.txHash)
      }
      expect(await pollStatus(service, other.hash)).toMatchObject({ status: 'failed', reason: 'expired', refund: null })
    },
  )
})

describe("The response of the bridge's API", () => {
  const LIES: [string, (honest: object) => { readonly status: number; readonly body: unknown }][] = [
    ['is behind', () => ({ status: 404, body: { error: 'DepositNotFoundException' } })],
    ['is unavailable', () => ({ status: 503, body: {} })],
    [
      'is another transaction',
      (honest) => ({
        status: 200,
        body: { ...honest, fillTxnRef: `0x${'ab'.repeat(32)}`, depositRefundTxnRef: `0x${'ab'.repeat(32)}` },
      }),
    ],
    ['is nonsense', () => ({ status: 200, body: { fillTxnRef: 7, depositRefundTxnRef: {} } })],
  ]
  test.for(LIES)('%s, and the chains decide', async ([, lie], { service, transfers, vault, onTestFinished }) => {
    const { acrossApi } = service.backends.providers
    acrossApi.rewrite = (reply, { url }) => {
      if (!url.pathname.endsWith('/deposit/status')) return reply
      return lie(reply.body as object)
    }
    onTestFinished(() => {
      acrossApi.rewrite = undefined
    })
    await transfers.passDays(2)
    const filled = await transfers.open({ into: vault })
    const fill = await transfers.relayer.fill(filled.deposit)
    await filled.becomes('completed', { fill, protocol: 'lagoon', key: vault.key })
    const expired = await transfers.open({ seconds: 600, inputAmount: 61_000_000n })
    await transfers.letExpire(expired)
    await transfers.relayer.refund(expired.deposit)
    await transfers.finalise()
    await expired.becomes('refunded', { final: true })
  })

  test('finds a fill in one poll', async ({ service, transfers, vault }) => {
    const filled = await transfers.open({ into: vault })
    await transfers.relayer.fill(filled.deposit)
    await transfers.mine(BASE, 300)
    expect(await pollStatus(service, filled.hash)).toMatchObject({ status: 'completed' })
  })
})
