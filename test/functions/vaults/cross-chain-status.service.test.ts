import { type Hash, pad } from 'viem'
import { describe, expect } from 'vitest'
import type { ProtocolName } from '../../../lib/protocols/vault-on-chain.ts'
import { installPool } from '../../../sandbox/bridge.ts'
import type { LagoonGeneration } from '../../../sandbox/deploy.ts'
import type { Relayer } from '../../../sandbox/relayer.ts'
import { sendTransactions } from '../../../sandbox/transactions.ts'
import { ARBITRUM, BASE, HANDLER } from '../../support/oracles.ts'
import { USERS } from '../../support/service.ts'
import {
  type BridgeDepositOptions,
  call,
  type DepositFunction,
  depositMessage,
  expectStatus,
  type Transfer,
  type Transfers,
  test,
} from '../../support/transfers.ts'
import {
  type Asset,
  expectSuccess,
  openAsyncVault,
  openLagoonVault,
  openYieldVault,
  ROLES,
  type TestAsyncVault,
  type TestVault,
} from '../../support/vaults.ts'
import type { RecordingProxy } from '../../support/wire.ts'

const [ALICE, BOB, CAROL] = USERS
const NO_HASH: Hash = `0x${'5c'.repeat(32)}`
/** Address of a contract that emits the same events as the bridge's pool. */
const FALSE_POOL = '0x00000000000000000000000000000000000fa15e'

const openAsync = (service: Transfers['service'], generation: LagoonGeneration = '0.5') =>
  openLagoonVault(service, { generation })

/** Opens a vault with instant deposits. Its event `Deposit` names the receiver first and the payer second. */
const openReceiverFirst = (service: Transfers['service']) => openAsyncVault(service, { make: 'syncDeposits' })

/** Opens a Lagoon vault that issues shares at once, because its valuation is valid for a day. */
async function openSyncing(service: Transfers['service']): Promise<TestVault> {
  const vault = await openLagoonVault(service, { generation: '0.6' })
  await vault.request(BOB.address, vault.units('1000'))
  await vault.settleForADay()
  return vault
}

describe('A source transaction', () => {
  test('that no node has seen yet is pending', async ({ transfers }) => {
    expectStatus(await transfers.askFor(NO_HASH, { from: ARBITRUM }), 'pending', { hash: NO_HASH, from: ARBITRUM })
    expectStatus(await transfers.askFor(NO_HASH, { from: BASE, index: 3 }), 'pending', { hash: NO_HASH, from: BASE })
  })

  test('in the mempool is pending, and bridging as soon as it is mined', async ({ transfers }) => {
    const { hash, mine } = await transfers.sendWaiting(ARBITRUM, ALICE.address, await transfers.depositCall())
    expectStatus(await transfers.askFor(hash, { from: ARBITRUM }), 'pending', { hash, from: ARBITRUM })
    await mine()
    const [transfer] = await transfers.transfersIn(ARBITRUM, hash)
    await transfer?.shows('bridging')
  })

  test('on another chain than the one named is pending', async ({ transfers }) => {
    const { hash } = await transfers.open()
    expectStatus(await transfers.askFor(hash, { from: BASE }), 'pending', { hash, from: BASE })
  })

  test('is found by its hash in capitals', async ({ transfers }) => {
    const { hash } = await transfers.open()
    const { body } = await transfers.askFor(`0x${hash.slice(2).toUpperCase()}`, { from: ARBITRUM })
    expect(body).toMatchObject({ status: 'bridging', depositId: hash, transactions: { source: hash } })
  })

  test('without a deposit has failed', async ({ transfers }) => {
    const token = transfers.tokenOf(ARBITRUM, 'USDC')
    const hash = await transfers.send(ARBITRUM, ALICE.address, call(token, 'transfer', [BOB.address, 5n]))
    const reply = await transfers.askFor(hash, { from: ARBITRUM })
    expectStatus(reply, 'no_deposit_in_transaction', { hash, from: ARBITRUM })
  })

  test('that reverted has failed', async ({ transfers }) => {
    // The deposit reverts, because Carol has not approved her tokens for the pool.
    const { target: to, callData: data } = await transfers.depositCall({ user: CAROL })
    const reverting = [{ label: 'deposit', from: CAROL.address, to, data }]
    const [hash = NO_HASH] = await sendTransactions(transfers.chainOf(ARBITRUM), reverting)
    expect(await transfers.receiptOf(ARBITRUM, hash)).toMatchObject({ status: '0x0' })
    const reply = await transfers.askFor(hash, { from: ARBITRUM })
    expectStatus(reply, 'source_reverted', { hash, from: ARBITRUM })
  })

  test('with the event of a deposit from another contract than the pool holds no deposit', async ({ transfers }) => {
    const chain = transfers.chainOf(ARBITRUM)
    await installPool(chain, { address: FALSE_POOL })
    const approve = call(transfers.tokenOf(ARBITRUM, 'USDC'), 'approve', [FALSE_POOL, 50_000_000n])
    await transfers.send(ARBITRUM, ALICE.address, approve)
    const { callData } = await transfers.depositCall()
    const hash = await transfers.send(ARBITRUM, ALICE.address, { target: FALSE_POOL, callData })
    const reply = await transfers.askFor(hash, { from: ARBITRUM })
    expectStatus(reply, 'no_deposit_in_transaction', { hash, from: ARBITRUM })
  })

  test.for([
    [100, 'Gnosis'],
    [59144, 'unknown'],
    [10_000_000_000, 'unknown'],
  ] as const)(
    'with a deposit to the unsupported chain %i has a final status with that reason',
    async ([to, name], { transfers }) => {
      const hash = await transfers.send(ARBITRUM, ALICE.address, await transfers.depositCall({ to }))
      const { body } = await transfers.askFor(hash, { from: ARBITRUM })
      expect(body).toMatchObject({
        ...{
          status: 'bridging',
          reason: 'destination_not_followed',
          terminal: true,
          nextPollAfterMs: null,
          action: 'none',
        },
        ...{ dstChain: { id: to, name }, inputAmount: '50000000', outputAmount: null },
      })
    },
  )

  test('with the older event is a deposit like those with the current one', async ({ service, transfers }) => {
    const vault = await openAsync(service)
    await installPool(transfers.chainOf(ARBITRUM), { contract: 'LegacySpokePool' })
    const transfer = await transfers.open({ into: vault })
    await installPool(transfers.chainOf(ARBITRUM))
    await transfer.shows('bridging')
    const fill = await transfers.relayer.fill(transfer.deposit)
    await transfer.shows('completed', { fill, protocol: 'lagoon', key: vault.key })
  })

  test('with several deposits has one status for each, by its index', async ({ service, transfers }) => {
    const vault = await openAsync(service)
    const orders: BridgeDepositOptions[] = [
      { into: vault, inputAmount: 11_000_000n },
      { inputAmount: 22_000_000n, asset: 'DAI' },
    ]
    const [first, second] = (await transfers.openTogether(orders)) as [Transfer, Transfer]
    await first.shows('bridging')
    await second.shows('bridging')
    const third = await transfers.askFor(first.hash, { from: ARBITRUM, index: 2 })
    expectStatus(third, 'no_deposit_in_transaction', { hash: first.hash, from: ARBITRUM })
    expect(third.body).toMatchObject({ statusDescription: expect.stringContaining('with this index, but others') })

    const fill = await transfers.relayer.fill(second.deposit)
    await first.shows('bridging')
    await second.shows('completed', { fill })
    const otherFill = await transfers.relayer.fill(first.deposit)
    await first.shows('completed', { fill: otherFill, protocol: 'lagoon', key: vault.key })
    await second.shows('completed', { fill })
  })
})

describe('A transfer', () => {
  const LAGOON: { generation: LagoonGeneration; asset: Asset; from: number; to: number }[] = [
    { generation: '0.1', asset: 'USDC', from: ARBITRUM, to: BASE },
    { generation: '0.5', asset: 'USDC', from: BASE, to: ARBITRUM },
    { generation: '0.6', asset: 'USDT', from: BASE, to: ARBITRUM },
  ]

  test.for(LAGOON)(
    'of $asset from chain $from into a Lagoon $generation vault is bridging, then completed with its amount and time',
    async ({ generation, asset, from, to }, { service, transfers }) => {
      const vault = await openLagoonVault(service, { generation, asset, chainId: to })
      const transfer = await transfers.open({ from, into: vault, inputAmount: 70_000_001n, outputAmount: 69_999_990n })
      await transfer.shows('bridging', { protocol: 'lagoon', key: vault.key })

      const fill = await transfers.relayer.fill(transfer.deposit)
      await transfer.shows('completed', { fill, protocol: 'lagoon', key: vault.key })
      expect(await vault.read('pendingDepositRequest', 0n, ALICE.address)).toBe(69_999_990n)
      expect(await vault.balanceOf(HANDLER)).toBe(0n)
    },
  )

  type Open = (service: Transfers['service']) => Promise<TestVault | TestAsyncVault>
  const AT_ONCE: { kind: string; entry: DepositFunction; protocol: ProtocolName; open: Open }[] = [
    { kind: 'a Lagoon vault with a valid valuation', entry: 'syncDeposit', protocol: 'lagoon', open: openSyncing },
    { kind: 'a sync vault', entry: 'deposit', protocol: 'erc4626', open: openYieldVault },
    { kind: 'a vault that names the receiver first', entry: 'deposit', protocol: 'erc7540', open: openReceiverFirst },
  ]

  test.for(AT_ONCE)(
    'into $kind is completed with shares',
    async ({ entry, protocol, open }, { service, transfers }) => {
      const vault = await open(service)
      const transfer = await transfers.open({ into: vault, entry })
      await transfer.shows('bridging', { protocol, key: vault.key })
      const fill = await transfers.relayer.fill(transfer.deposit)
      await transfer.shows('completed', { fill, protocol, key: vault.key })
      expect(await vault.read('balanceOf', ALICE.address)).toBeGreaterThan(0n)
      expect(await vault.balanceOf(HANDLER)).toBe(0n)
    },
  )

  test('that the service itself prepared is followed from its operation to the request', async ({
    service,
    transfers,
  }) => {
    const vault = await openAsync(service)
    const source = { srcChainId: ARBITRUM, srcToken: transfers.tokenOf(ARBITRUM, 'USDC') }
    const prepared = await vault.deposit(ALICE, 25_000_000n, source)
    const receipts = await service.send(ARBITRUM, ALICE, [...prepared.body.approval, ...prepared.body.operations])
    expectSuccess(receipts)
    const [transfer] = await transfers.transfersIn(ARBITRUM, receipts.at(-1)?.transactionHash ?? NO_HASH)
    expect(`${transfer?.deposit.outputAmount}`).toBe(prepared.body.quote.outputAmount)
    await transfer?.shows('bridging', { protocol: 'lagoon', key: vault.key })
    const fill = await transfers.relayer.fill((transfer as Transfer).deposit)
    await transfer?.shows('completed', { fill, protocol: 'lagoon', key: vault.key })
  })

  test('that the service itself prepared out of a vault is followed to its delivery or refund', async ({
    service,
    transfers,
  }) => {
    // The chains' clocks are set equal, because an earlier test may have advanced only one of them.
    await transfers.finalise()
    const vault = await openYieldVault(service)
    await vault.mint(ALICE.address, 60_000_000n)
    expectSuccess(await vault.send(ALICE, await vault.deposit(ALICE, 60_000_000n)))
    const destination = { dstChainId: ARBITRUM, dstToken: transfers.tokenOf(ARBITRUM, 'USDC') }
    const sendOff = async () => {
      const prepared = await vault.withdraw(ALICE, { amount: '25000000', ...destination })
      const receipts = await vault.send(ALICE, prepared)
      expectSuccess(receipts)
      const [transfer] = await transfers.transfersIn(BASE, receipts.at(-1)?.transactionHash ?? NO_HASH)
      expect(`${transfer?.deposit.outputAmount}`).toBe(prepared.body.quote.outputAmount)
      return transfer as Transfer
    }
    const arriving = await sendOff()
    await arriving.shows('bridging', { key: vault.key })
    const fill = await transfers.relayer.fill(arriving.deposit)
    await arriving.shows('completed', { fill, key: vault.key, action: 'none' })

    const returning = await sendOff()
    await transfers.letExpire(returning)
    await returning.shows('expired', { key: vault.key })
    await transfers.finalise()
    const balance = await vault.balanceOf(ALICE.address)
    await transfers.relayer.refund(returning.deposit)
    await transfers.finalise()
    await returning.becomes('refunded', { key: vault.key })
    expect((await vault.balanceOf(ALICE.address)) - balance).toBe(25_000_000n)
  })

  test('is part of the deposit in history and position, once its final status was requested', async ({
    service,
    transfers,
  }) => {
    const vaults = [
      { vault: await openAsync(service), entry: 'requestDeposit', protocol: 'lagoon' },
      { vault: await openSyncing(service), entry: 'syncDeposit', protocol: 'lagoon' },
      { vault: await openYieldVault(service), entry: 'deposit', protocol: 'erc4626' },
      { vault: await openReceiverFirst(service), entry: 'deposit', protocol: 'erc7540' },
    ] as const
    for (const { vault, entry, protocol } of vaults) {
      const transfer = await transfers.open({ into: vault, entry })
      if (entry === 'requestDeposit') await vault.request(ALICE.address, vault.units('1'))
      const fill = await transfers.relayer.fill(transfer.deposit)
      const sourcesOf = async () => {
        const user = `/defi-vaults/v1/defi/user/${ALICE.address}`
        const [history, position] = await Promise.all(
          [`${user}/deposits`, `${user}/positions/${vault.address}`].map((path) =>
            service.call('GET', path, { key: vault.key }),
          ),
        )
        expect(position?.body.deposits).toEqual(history?.body.deposits)
        return history?.body.deposits.map(({ transactionHash, source }: Record<string, unknown>) => [
          transactionHash === fill ? 'by fill' : 'direct',
          source,
        ])
      }
      const others = entry === 'requestDeposit' ? [['direct', undefined]] : []
      await transfer.becomes('completed', { fill, key: vault.key, protocol })
      expect(await sourcesOf()).toEqual([['by fill', undefined], ...others])
      await transfers.finalise()
      await transfer.becomes('completed', { fill, key: vault.key, protocol, final: true })
      const source = { chainId: ARBITRUM, transactionHash: transfer.hash }
      expect(await sourcesOf()).toEqual([['by fill', source], ...others])
    }
  })

  test('shows no protocol to a client without the vault', async ({ service, transfers }) => {
    const vault = await openAsync(service)
    const key = await service.createClient([])
    const transfer = await transfers.open({ into: vault })
    await transfer.shows('bridging', { key })
    const fill = await transfers.relayer.fill(transfer.deposit)
    await transfer.shows('completed', { fill, key })
    await transfer.shows('completed', { fill, key: vault.key, protocol: 'lagoon' })
  })

  test('shows no protocol to a client with a vault of the same address on another chain', async ({
    service,
    transfers,
  }) => {
    const vault = await openAsync(service)
    const other = await openLagoonVault(service, { generation: '0.5', chainId: ARBITRUM })
    const message = depositMessage({
      token: transfers.tokenOf(BASE, 'USDC'),
      vault: other.address,
      user: ALICE.address,
      entry: 'requestDeposit',
    })
    const transfer = await transfers.open({ message })
    expect(vault.address).not.toBe(other.address)
    await transfer.shows('bridging', { key: other.key })
  })

  test('without a message is completed when it is delivered', async ({ transfers }) => {
    const transfer = await transfers.open({ inputAmount: 3_000_000n })
    await transfer.shows('bridging')
    const fill = await transfers.relayer.fill(transfer.deposit)
    await transfer.shows('completed', { fill })
  })

  test('is bridging while a slow fill is requested, and completed with the amount it delivers', async ({
    service,
    transfers,
  }) => {
    const vault = await openAsync(service)
    for (const difference of [-1_234n, 4_321n, 0n]) {
      const transfer = await transfers.open({ into: vault })
      await transfer.shows('bridging')
      const { nextPollAfterMs } = (await transfer.ask()).body
      await transfers.relayer.requestSlowFill(transfer.deposit)
      await transfer.shows('bridging')
      // The response must now tell the client to poll less often, because a slow fill takes hours.
      expect((await transfer.ask()).body.nextPollAfterMs).toBeGreaterThan(nextPollAfterMs)

      const before = await vault.read('pendingDepositRequest', 0n, ALICE.address)
      const outputAmount = transfer.deposit.outputAmount + difference
      const fill = await transfers.relayer.executeSlowFill(transfer.deposit, outputAmount)
      await transfer.shows('completed', { fill, outputAmount, protocol: 'lagoon', key: vault.key })
      expect(await vault.read('pendingDepositRequest', 0n, ALICE.address)).toBe(before + outputAmount)
    }
  })

  test('is completed if a relayer is faster than the requested slow fill', async ({ transfers }) => {
    const transfer = await transfers.open()
    await transfers.relayer.requestSlowFill(transfer.deposit)
    const fill = await transfers.relayer.fill(transfer.deposit)
    await transfer.shows('completed', { fill })
  })

  test('from a token of 18 decimals to one of 6 has both amounts', async ({ service, transfers }) => {
    const vault = await openAsync(service)
    const parts = await transfers.argumentsOf({ into: vault, outputAmount: 49_990_000n })
    const inDai = parts.with(2, pad(transfers.tokenOf(ARBITRUM, 'DAI'))).with(4, 50n * 10n ** 18n)
    const hash = await transfers.send(ARBITRUM, ALICE.address, call(transfers.poolOf(ARBITRUM), 'deposit', inDai))
    const [transfer] = (await transfers.transfersIn(ARBITRUM, hash)) as [Transfer]
    const fill = await transfers.relayer.fill(transfer.deposit)
    await transfer.shows('completed', { fill, protocol: 'lagoon', key: vault.key })
    expect((await transfer.ask()).body).toMatchObject({
      inputAmount: '50000000000000000000',
      outputAmount: '49990000',
    })
  })
})

describe('If the deposit fails on arrival, the transfer has failed and the user holds the tokens there:', () => {
  type Case = {
    readonly what: string
    readonly entry: DepositFunction
    readonly open: (service: Transfers['service']) => Promise<TestVault>
    readonly meanwhile: (vault: TestVault) => Promise<unknown>
  }
  const CASES: Case[] = [
    {
      what: 'an async vault is paused',
      entry: 'requestDeposit',
      open: openAsync,
      meanwhile: (vault) => vault.act(ROLES.admin, 'pause'),
    },
    {
      what: 'a sync vault reaches its cap',
      entry: 'deposit',
      open: openYieldVault,
      meanwhile: (vault) => vault.act(ROLES.admin, 'setDepositCap', 1n),
    },
    {
      what: 'the valuation of a vault ends',
      entry: 'syncDeposit',
      open: openSyncing,
      meanwhile: (vault) => vault.act(ROLES.safe, 'expireTotalAssets'),
    },
    {
      what: 'the vault is gone',
      entry: 'requestDeposit',
      open: openAsync,
      meanwhile: (vault) => vault.destroy(),
    },
  ]

  test.for(CASES)('$what', async ({ entry, open, meanwhile }, { service, transfers }) => {
    const vault = await open(service)
    const protocol = entry === 'deposit' ? 'erc4626' : 'lagoon'
    const transfer = await transfers.open({ into: vault, entry })
    await meanwhile(vault)
    const before = await vault.balanceOf(ALICE.address)
    await transfer.shows('bridging', { protocol, key: vault.key })

    const fill = await transfers.relayer.fill(transfer.deposit)
    const received = (await vault.balanceOf(ALICE.address)) - before
    expect(received).toBe(transfer.deposit.outputAmount)
    await transfer.shows('destination_action_failed', { fill, outputAmount: received, protocol, key: vault.key })
    expect(await vault.balanceOf(HANDLER)).toBe(0n)
  })

  test('the amount is that of a slow fill plus what others left at the handler', async ({ service, transfers }) => {
    const vault = await openAsync(service)
    const transfer = await transfers.open({ into: vault })
    await vault.act(ROLES.admin, 'pause')
    await transfers.relayer.requestSlowFill(transfer.deposit)
    await vault.mint(HANDLER, 17n)
    const before = await vault.balanceOf(ALICE.address)
    const fill = await transfers.relayer.executeSlowFill(transfer.deposit, 40_000_000n)
    const outputAmount = (await vault.balanceOf(ALICE.address)) - before
    expect(outputAmount).toBe(40_000_017n)
    await transfer.shows('destination_action_failed', { fill, outputAmount, protocol: 'lagoon', key: vault.key })
  })

  test('an async vault that starts to close still takes the request', async ({ service, transfers }) => {
    const vault = await openAsync(service)
    const transfer = await transfers.open({ into: vault })
    await vault.act(ROLES.admin, 'initiateClosing')
    const fill = await transfers.relayer.fill(transfer.deposit)
    await transfer.shows('completed', { fill, protocol: 'lagoon', key: vault.key })
    expect(await vault.read('pendingDepositRequest', 0n, ALICE.address)).toBe(transfer.deposit.outputAmount)
  })
})

describe('If the depositor agreed to another fill, the transfer', () => {
  const openSpedUp = async (transfers: Transfers, vault: TestVault, change: Parameters<Relayer['speedUp']>[1]) => {
    const transfer = await transfers.open({ into: vault })
    await transfers.relayer.speedUp(transfer.deposit, change)
    return { transfer, fill: await transfers.relayer.fill(transfer.deposit) }
  }
  const agreed = { outputAmount: 47_000_000n }

  test('is completed without a deposit if the tokens went to the wallet', async ({ service, transfers }) => {
    const vault = await openAsync(service)
    const { transfer, fill } = await openSpedUp(transfers, vault, {
      ...agreed,
      recipient: ALICE.address,
      message: '0x',
    })
    const shown = { fill, ...agreed, key: vault.key, protocol: 'lagoon' } as const
    await transfer.shows('completed', { ...shown, action: 'none' })
  })
})

describe('A fill that shares its transaction', () => {
  /** Opens a vault with a cap of 100 USDC. Of two deposits, only the small one fits. */
  const openCapped = async (service: Transfers['service']) => {
    const vault = await openYieldVault(service)
    await vault.act(ROLES.admin, 'setDepositCap', vault.units('100'))
    return vault
  }
  const SMALL = 60_000_000n
  const LARGE = 170_000_000n

  test.for<[string, 'first' | 'second', boolean]>([
    ['the first of two', 'first', false],
    ["the second of one user's two", 'second', true],
  ])('%s fails, and the other is completed', async ([, failing, sameUser], { service, transfers }) => {
    const vault = await openCapped(service)
    const order = { into: vault, entry: 'deposit' } as const
    const small = await transfers.open({ ...order, outputAmount: SMALL, inputAmount: SMALL })
    const user = sameUser ? ALICE : BOB
    const large = await transfers.open({ ...order, user, outputAmount: LARGE, inputAmount: LARGE })

    const together = failing === 'first' ? [large, small] : [small, large]
    const before = await vault.balanceOf(user.address)
    const [fill] = await transfers.relayer.fillTogether(together.map(({ deposit }) => deposit))
    expect((await vault.balanceOf(user.address)) - before).toBe(LARGE)
    const shown = { ...(fill && { fill }), protocol: 'erc4626', key: vault.key } as const
    await small.shows('completed', shown)
    await large.shows('destination_action_failed', shown)
  })

  test('with a claim of an earlier request is still a request', async ({ service, transfers }) => {
    const vault = await openAsync(service)
    await vault.request(ALICE.address, 8_000_000n)
    await vault.settle()
    const transfer = await transfers.open({ into: vault })
    const fill = await transfers.relayer.fill(transfer.deposit)
    expect(await vault.read('balanceOf', ALICE.address)).toBeGreaterThan(0n)
    expect(await vault.read('pendingDepositRequest', 0n, ALICE.address)).toBe(transfer.deposit.outputAmount)
    await transfer.shows('completed', { fill, protocol: 'lagoon', key: vault.key })
  })

  test('with a failed claim of an earlier request has failed', async ({ service, transfers }) => {
    const vault = await openAsync(service)
    await vault.request(ALICE.address, 8_000_000n)
    await vault.settleForADay()
    const transfer = await transfers.open({ into: vault })
    const fill = await transfers.relayer.fill(transfer.deposit)
    expect(await vault.read('balanceOf', ALICE.address)).toBe(0n)
    await transfer.shows('destination_action_failed', { fill, protocol: 'lagoon', key: vault.key })
  })
})

describe('An unfilled transfer', () => {
  /**
   * Opens transfers and lets their fill deadlines pass. Earlier transfers are at least two days older, so the service
   * cannot mistake their refunds for refunds of the new ones.
   */
  const openExpired = async (
    transfers: Transfers,
    ...orders: BridgeDepositOptions[]
  ): Promise<[Transfer, ...Transfer[]]> => {
    await transfers.passDays(2)
    const opened: Transfer[] = []
    for (const order of orders) opened.push(await transfers.open({ seconds: 600, ...order }))
    await transfers.letExpire(opened.at(-1) as Transfer)
    return opened as [Transfer, ...Transfer[]]
  }
  const refundAll = async (transfers: Transfers, ...expired: Transfer[]) => {
    for (const { deposit } of expired) await transfers.relayer.refund(deposit)
    await transfers.finalise()
  }

  test('is bridging until its deadline has passed on the destination, then expired, and refunded once that is final', async ({
    service,
    transfers,
  }) => {
    await transfers.passDays(2)
    const vault = await openAsync(service)
    const transfer = await transfers.open({ into: vault, seconds: 3_000 })
    const { fillDeadline } = transfer.deposit
    const shown = { protocol: 'lagoon', key: vault.key } as const
    await transfers.setClock(BASE, fillDeadline - 1)
    await transfer.shows('bridging', shown)
    await transfers.setClock(BASE, fillDeadline)
    await transfer.shows('bridging', shown)
    await transfers.setClock(BASE, fillDeadline + 1)
    await transfer.shows('expired', shown)
    await transfers.setClock(ARBITRUM, fillDeadline + 1)
    await transfer.shows('expired', shown)

    await transfers.relayer.refund(transfer.deposit)
    await transfer.shows('expired', shown)
    await transfers.finalise()
    await transfer.becomes('refunded', { ...shown, final: true })
  })

  test('is expired even if a slow fill was requested', async ({ transfers }) => {
    await transfers.passDays(2)
    const transfer = await transfers.open({ seconds: 600 })
    await transfers.relayer.requestSlowFill(transfer.deposit)
    await transfers.letExpire(transfer)
    await transfer.shows('expired')
    await refundAll(transfers, transfer)
    await transfer.becomes('refunded')
  })

  test('is not expired if it was filled in time, however late the poll', async ({ transfers }) => {
    const transfer = await transfers.open({ seconds: 600 })
    const fill = await transfers.relayer.fill(transfer.deposit)
    await transfers.relayer.advance(50_000)
    await transfer.shows('completed', { fill })
  })

  test('is not refunded by a smaller amount or by payments to others', async ({ transfers }) => {
    const less = { inputAmount: 49_999_999n }
    const all = await openExpired(transfers, {}, less, { user: BOB }, { asset: 'DAI' })
    const [transfer, second, ofBob, inDai] = all as [Transfer, Transfer, Transfer, Transfer]
    const token = transfers.tokenOf(ARBITRUM, 'USDC')
    await transfers.send(ARBITRUM, BOB.address, call(token, 'transfer', [ALICE.address, transfer.deposit.inputAmount]))
    await refundAll(transfers, second, ofBob, inDai)
    await ofBob.becomes('refunded')
    await inDai.becomes('refunded')
    // Only the second transfer has the refunded amount, so the refund belongs to it.
    await second.becomes('refunded', { final: true })
    for (let question = 0; question < 4; question += 1) await transfer.shows('expired')
    await refundAll(transfers, transfer)
    await transfer.becomes('refunded', { final: true })
  })

  test('is not refunded by the refund of an earlier one', async ({ transfers }) => {
    const [earlier] = await openExpired(transfers, {})
    await transfers.relayer.refund(earlier.deposit)
    const transfer = await transfers.open({ seconds: 600 })
    const other = await transfers.open({ seconds: 600 })
    await transfers.letExpire(other)
    await transfers.finalise()
    await earlier.becomes('refunded', { final: true })
    for (let question = 0; question < 4; question += 1) await transfer.shows('expired')
    await refundAll(transfers, transfer)
    // Both transfers have the refunded amount, so the service cannot tell which one is refunded.
    for (let question = 0; question < 4; question += 1) await transfer.shows('expired')
    for (let question = 0; question < 4; question += 1) await other.shows('expired')
    await refundAll(transfers, other)
    await transfer.becomes('refunded', { final: true })
    await other.becomes('refunded', { final: true })
  })

  test('is refunded although an earlier one was filled', async ({ transfers }) => {
    await transfers.passDays(2)
    const filled = await transfers.open({ seconds: 600 })
    await transfers.relayer.fill(filled.deposit)
    const transfer = await transfers.open({ seconds: 600 })
    await transfers.letExpire(transfer)
    await refundAll(transfers, transfer)
    await transfer.becomes('refunded', { final: true })
  })

  test('is refunded by a leaf that could not pay another user, who is refunded by a claim', async ({ transfers }) => {
    const [transfer, ofBob] = (await openExpired(transfers, {}, { user: BOB })) as [Transfer, Transfer]
    const { inputAmount: amount } = transfer.deposit
    const payment = { chainId: ARBITRUM, token: transfers.tokenOf(ARBITRUM, 'USDC'), account: ALICE.address, amount }
    await transfers.relayer.refundTogether([ofBob.deposit], { deferred: true, payments: [payment] })
    await transfers.finalise()
    await transfer.becomes('refunded', { final: true })
    await ofBob.becomes('refund_owed')
    const { refund, events } = (await ofBob.ask()).body
    expect(events.at(-1)).toMatchObject({ kind: 'refund_owed', account: BOB.address, txHash: refund.txHash })
    // Bob sends the claim whose calldata the response contains.
    await transfers.send(ARBITRUM, BOB.address, { target: refund.claim.to, callData: refund.claim.data })

    await transfers.finalise()
    await ofBob.becomes('refunded', { final: true })
  })

  test('is not refunded by a slow fill of its user in the same token', async ({ transfers }) => {
    await transfers.passDays(2)
    const transfer = await transfers.open({ seconds: 600 })
    const back = await transfers.open({ from: BASE, to: ARBITRUM, inputAmount: 90_000_000n })
    await transfers.letExpire(transfer)
    await transfers.relayer.requestSlowFill(back.deposit)
    const fill = await transfers.relayer.executeSlowFill(back.deposit)
    await transfers.finalise()
    await back.becomes('completed', { fill })
    for (let question = 0; question < 4; question += 1) await transfer.shows('expired')
  })

  test('with its first poll after days is refunded by the refund of its time', async ({ transfers }) => {
    const [transfer] = await openExpired(transfers, {})
    await transfers.relayer.refund(transfer.deposit)
    await transfers.passDays(9)
    await transfers.finalise()
    await transfer.becomes('refunded', { final: true })
  })

  test('is final two weeks after its deadline if no refund was found', async ({ transfers }) => {
    const [transfer, filler] = (await openExpired(transfers, {}, { user: BOB })) as [Transfer, Transfer]
    await transfers.passDays(13)
    await transfers.finalise()
    for (let question = 0; question < 8; question += 1) await transfer.shows('expired')
    await transfers.passDays(1)
    await transfers.relayer.refund(filler.deposit)
    await transfers.finalise()
    await transfer.becomes('refund_not_found', { final: true })
  })

  test('among equal ones with too few refunds is undecided two weeks after its deadline', async ({ transfers }) => {
    await transfers.passDays(2)
    const opened = await transfers.openTogether(Array.from({ length: 22 }, () => ({ seconds: 600 })))
    const transfer = opened.at(-1) as Transfer
    await transfers.letExpire(transfer)
    await refundAll(transfers, opened[0] as Transfer)
    for (let question = 0; question < 4; question += 1) await transfer.shows('expired')
    await transfers.setClock(ARBITRUM, transfer.deposit.fillDeadline + 14 * 86_400 + 1)
    for (let question = 0; question < 4; question += 1) await transfer.shows('expired')
    await transfers.finalise()
    await transfer.becomes('undecided', { final: true })
  })

  test('is refunded although a node reports the times of only some events', async ({ service, transfers }) => {
    const [transfer] = await openExpired(transfers, {})
    await refundAll(transfers, transfer)
    const wire = service.rpc[ARBITRUM] as RecordingProxy
    wire.rewrite = (answer, request) => {
      const isSearch = (id: number) =>
        JSON.parse(request).some((one: { id: number; method: string }) => one.id === id && one.method === 'eth_getLogs')
      const items: { id: number; result: Record<string, unknown>[] }[] = JSON.parse(answer)
      // The node adds a false event before each real one. Only the false event has a block time.
      const addFalseLog = (log: Record<string, unknown>) => [
        { ...log, data: '0x', blockTimestamp: '0x1' },
        { ...log, blockTimestamp: undefined },
      ]
      return JSON.stringify(
        items.map((item) => (isSearch(item.id) ? { ...item, result: item.result.flatMap(addFalseLog) } : item)),
      )
    }
    await transfer.becomes('refunded', { final: true })
  })

  test('has correct times although nodes report invalid times with events', async ({ service, transfers }) => {
    const [expired] = await openExpired(transfers, {})
    await refundAll(transfers, expired)
    const filled = await transfers.open({})
    const fill = await transfers.relayer.fill(filled.deposit)
    await transfers.finalise()
    let events = 0
    for (const wire of Object.values(service.rpc)) {
      wire.rewrite = (answer) =>
        answer.replaceAll(/"blockTimestamp":"0x[0-9a-f]+"/g, () => {
          events += 1
          return `"blockTimestamp":${events % 2 === 0 ? '"0x0"' : 1_700_000_000}`
        })
    }
    await filled.becomes('completed', { fill })
    await expired.becomes('refunded', { final: true })
    expect(events).toBeGreaterThan(1)
  })

  test('is undecided, not unrefunded, if its depositor was paid for some transfer', async ({ transfers }) => {
    const less = { inputAmount: 49_999_999n }
    const [transfer, second] = (await openExpired(transfers, {}, less)) as [Transfer, Transfer]
    await transfers.relayer.refund(second.deposit)
    await transfers.passDays(15)
    await transfers.finalise()
    await transfer.becomes('undecided', { final: true })
  })
})
