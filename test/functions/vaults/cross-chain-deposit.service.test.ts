import { getAddress, type Hash, numberToHex, parseUnits, type TransactionReceipt } from 'viem'
import { describe, expect } from 'vitest'
import type { LagoonGeneration } from '../../../sandbox/deploy.ts'
import { callRpc } from '../../../sandbox/rpc.ts'
import { BNB, test } from '../../support/bnb.ts'
import { callHandler, createDepositJourney, type Journey, type SimulatedBridgeApi } from '../../support/cross-chain.ts'
import { expectError } from '../../support/errors.ts'
import { COIN, decodeBridgeDeposit, encodeCall, HANDLER } from '../../support/oracles.ts'
import { type HttpReply, type Service, USERS } from '../../support/service.ts'
import {
  type Asset,
  expectFairGas,
  expectSuccess,
  openLagoonVault,
  openYieldVault,
  ROLES,
  sharesFor,
  type TestVault,
} from '../../support/vaults.ts'

const [ALICE, BOB] = USERS
const POOR = { address: getAddress('0x1234567890abcdef1234567890abcdef12345678') }

const ASSETS = ['USDC', 'USDT', 'DAI'] as const
const NAMES: Readonly<Record<number, string>> = { 8453: 'Base', 42161: 'Arbitrum' }
/** Maximum age of a quote in seconds. The bridge's pool contract refuses deposits with an older quote. */
const QUOTE_TIME_BUFFER = 3600
/** Upper estimates of gas for an approval and for a bridge deposit, as documented in the API. */
const UPPER_APPROVE = 70_000
const UPPER_BRIDGE = 250_000

type Kind = {
  readonly kind: string
  readonly isAsync: boolean
  readonly protocol: 'lagoon' | 'erc4626'
  readonly open: (service: Service, place: { asset?: Asset; chainId?: number }) => Promise<TestVault>
}

/** Opens a vault with a share price that is not round, because the vault gained assets after another account's deposit. */
async function openSeasonedVault(
  service: Service,
  options: { readonly generation: LagoonGeneration; readonly asset?: Asset; readonly chainId?: number },
): Promise<TestVault> {
  const vault = await openLagoonVault(service, options)
  await vault.request(BOB.address, vault.units('1000.000007'))
  await vault.settle()
  await vault.settle(vault.units('123.456789'))
  return vault
}

const lagoon = (generation: LagoonGeneration): Kind => ({
  kind: `a Lagoon ${generation} vault`,
  isAsync: true,
  protocol: 'lagoon',
  open: (service, place) => openSeasonedVault(service, { generation, ...place }),
})
const inSyncMode = (generation: LagoonGeneration): Kind => ({
  kind: `a Lagoon ${generation} vault in sync mode`,
  isAsync: false,
  protocol: 'lagoon',
  async open(service, place) {
    const vault = await openSeasonedVault(service, { generation, ...place })
    await vault.settleForADay(vault.units('3.141593'))
    return vault
  },
})
const synchronous: Kind = {
  kind: 'a synchronous vault',
  isAsync: false,
  protocol: 'erc4626',
  async open(service, place) {
    const vault = await openYieldVault(service, place)
    // Assets in the vault before the first deposit make a share price that is not round.
    await vault.mint(vault.address, 1_234_567n)
    return vault
  },
}
const ASYNC = (['0.4', '0.5', '0.6'] as const).map(lagoon)
const SYNC_MODE = (['0.5', '0.6'] as const).map(inSyncMode)
const KINDS: readonly Kind[] = [synchronous, ...ASYNC, ...SYNC_MODE]
/** One kind of vault for each vault function that a bridge message can call. */
const OPERATIONS: readonly Kind[] = [synchronous, lagoon('0.5'), inSyncMode('0.6')]

/** Asserts that the user has a request for `amount`, or the shares that `amount` buys at the share price `before` the deposit. */
async function expectDeposited(vault: TestVault, { isAsync, protocol }: Kind, amount: bigint, before: Rate) {
  const virtualShares = protocol === 'lagoon' ? 10n ** BigInt(18 - decimalsOf(vault)) : 1n
  const [pending, shares] = [
    isAsync ? await vault.read('pendingDepositRequest', 0n, ALICE.address) : 0n,
    await vault.read('balanceOf', ALICE.address),
  ]
  expect({ pending, shares }).toEqual(
    isAsync
      ? { pending: amount, shares: 0n }
      : { pending: 0n, shares: sharesFor(amount, { ...before, virtualShares }) },
  )
}

function decimalsOf({ chain, token }: TestVault): number {
  return chain.tokens.find(({ address }) => address === token)?.decimals ?? 18
}

type Rate = { readonly totalAssets: bigint; readonly totalSupply: bigint }

async function rateOf(vault: TestVault): Promise<Rate> {
  const [totalAssets, totalSupply] = await Promise.all([vault.read('totalAssets'), vault.read('totalSupply')])
  return { totalAssets, totalSupply }
}

async function sendOff(
  journey: Journey,
  amount: bigint,
): Promise<{ reply: HttpReply; receipts: TransactionReceipt[] }> {
  const reply = await journey.ask(ALICE, amount)
  expect(reply).toMatchObject({ status: 200 })
  const receipts = await journey.send(ALICE, reply)
  expectSuccess(receipts)
  expectFairGas(reply, receipts)
  return { reply, receipts }
}

const outputOf = ({ body }: HttpReply) => BigInt(body.quote.outputAmount)

describe('a deposit from another chain', () => {
  const ways = [
    { to: 8453, from: 42161 },
    { to: 42161, from: 8453 },
  ]
  const cases = ways.flatMap(({ to, from }, turn) =>
    KINDS.map((kind, index) => {
      const asset = ASSETS[(index + turn) % ASSETS.length] ?? 'USDC'
      return { ...kind, asset, to, from, way: `${NAMES[from]} to ${NAMES[to]}` }
    }),
  )

  test.for(cases)(
    '$asset from $way into $kind arrive as promised, to the unit, and belong to the user',
    async ({ asset, to, from, ...kind }, { service, bridge }) => {
      const vault = await kind.open(service, { asset, chainId: to })
      const journey = createDepositJourney(vault, service)
      const amount = journey.units('1234.567891')
      const [balance, pooled] = await Promise.all([ALICE.address, journey.pool].map(journey.balanceOf))
      const [rate, balanceBefore] = await Promise.all([rateOf(vault), vault.balanceOf(ALICE.address)])

      const { reply, receipts } = await sendOff(journey, amount)
      // The transfer must contain exactly the message for which the bridge quoted the fee.
      const { offer } = bridge.quoteBehind(reply)
      const output = BigInt(offer.outputAmount)
      expect(reply.body).toEqual({
        approval: [journey.approving(amount)],
        operations: [{ chainId: from, to: journey.pool, data: expect.any(String), value: '0' }],
        calls: expect.objectContaining({ chainId: numberToHex(from), from: ALICE.address, atomicRequired: true }),
        protocol: kind.protocol,
        chainId: to,
        estimatedGas: expect.any(String),
        isCrossChain: true,
        isAsync: kind.isAsync,
        deposit: { shares: expect.any(String), assets: `${output}`, fee: expect.any(String), isEstimate: true },
        terms: expect.objectContaining({ entry: kind.isAsync ? 'request' : 'instant' }),
        simulation: { status: 'success' },
        evidence: [to, from].map((chainId) => expect.objectContaining({ chainId, nodes: 1 })),
        quote: {
          inputAmount: `${amount}`,
          outputAmount: `${output}`,
          feeTotal: `${amount - output}`,
          expectedFillSeconds: offer.estimatedFillTimeSec,
          expiresAt: new Date((Number(offer.timestamp) + QUOTE_TIME_BUFFER) * 1000).toISOString(),
        },
      })
      expect(decodeBridgeDeposit(reply.body.operations[0].data)).toEqual({
        depositor: ALICE.address,
        recipient: HANDLER,
        inputToken: journey.token.address,
        outputToken: vault.token,
        inputAmount: amount,
        outputAmount: output,
        destinationChainId: BigInt(to),
        exclusiveRelayer: service.backends.relayer.address,
        quoteTimestamp: Number(offer.timestamp),
        fillDeadline: Number(offer.fillDeadline),
        exclusivity: offer['exclusivityDeadline'],
        message: expect.any(String),
      })
      expect(await Promise.all([ALICE.address, journey.pool].map(journey.balanceOf))).toEqual([
        (balance as bigint) - amount,
        (pooled as bigint) + amount,
      ])
      expect(await journey.allowance(ALICE.address)).toBe(0n)

      await journey.fill(receipts)
      await expectDeposited(vault, kind, output, rate)
      expect(await vault.balanceOf(ALICE.address)).toBe(balanceBefore)
      expect(await journey.leftAtHandler()).toEqual({ balance: 0n, allowance: 0n })
    },
  )

  test.for([lagoon('0.4')])(
    'A deposit that arrived in $kind settles into shares that the user claims',
    async (kind, { service }) => {
      const vault = await kind.open(service, { asset: 'USDT' })
      const journey = createDepositJourney(vault, service)
      const { reply, receipts } = await sendOff(journey, 50_000_005n)
      await journey.fill(receipts)
      expect((await vault.status(ALICE)).body).toMatchObject({
        status: 'pending',
        amounts: { pendingDeposit: reply.body.quote.outputAmount },
      })

      await vault.settle()
      expect((await vault.status(ALICE)).body).toMatchObject({ status: 'claimable' })
      const claim = await vault.claim(ALICE)
      expectSuccess(await vault.send(ALICE, claim))
      expect(claim.body.claimable).toEqual({
        assets: reply.body.quote.outputAmount,
        shares: `${await vault.read('balanceOf', ALICE.address)}`,
      })
    },
  )

  test('Two deposits that arrive in one epoch add up', async ({ service }) => {
    const vault = await openLagoonVault(service, { generation: '0.5' })
    const journey = createDepositJourney(vault, service)
    const first = await sendOff(journey, 5_000_000n)
    const second = await sendOff(journey, 7_000_000n)
    await journey.fill(second.receipts)
    await journey.fill(first.receipts)
    expect(await vault.read('pendingDepositRequest', 0n, ALICE.address)).toBe(
      outputOf(first.reply) + outputOf(second.reply),
    )
  })

  test.for(ASYNC)('A deposit that arrives in $kind claims a settled one for the user', async (kind, { service }) => {
    const vault = await kind.open(service, {})
    await vault.request(ALICE.address, 9_000_009n)
    await vault.settle()
    const claimable = BigInt((await vault.status(ALICE)).body.amounts.claimableShares)
    const journey = createDepositJourney(vault, service)
    const { reply, receipts } = await sendOff(journey, 5_000_000n)
    await journey.fill(receipts)
    expect(await vault.read('balanceOf', ALICE.address)).toBe(claimable)
    expect(await vault.read('pendingDepositRequest', 0n, ALICE.address)).toBe(outputOf(reply))
  })
})

describe("a deposit in the chain's coin", () => {
  const ways = [
    { to: 42161, from: 8453, ...synchronous },
    { to: 8453, from: 42161, ...lagoon('0.5') },
  ]

  test.for(ways)('from $from goes into $kind of WETH on $to', async ({ to, from, ...kind }, { service, bridge }) => {
    const vault =
      kind.protocol === 'lagoon'
        ? await openLagoonVault(service, { generation: '0.5', asset: 'WETH', chainId: to })
        : await openYieldVault(service, { asset: 'WETH', chainId: to })
    const journey = createDepositJourney(vault, service, from)
    const amount = journey.units('1.234567890123456789')
    const [coin, pooled] = await Promise.all([journey.coinOf(ALICE.address), journey.balanceOf(journey.pool)])

    const reply = await journey.askInCoin(ALICE, amount)
    const [operation] = reply.body.operations
    expect(reply).toMatchObject({
      status: 200,
      body: {
        approval: [],
        operations: [{ chainId: from, to: journey.pool, value: `${amount}` }],
        calls: { atomicRequired: false, calls: [{ value: numberToHex(amount) }] },
        simulation: { status: 'success' },
      },
    })
    // The bridge's quote and deposit name the native coin by its wrapped token.
    const { offer, request } = bridge.quoteBehind(reply)
    expect(request.url.searchParams.get('inputToken')).toBe(journey.token.address)
    expect(decodeBridgeDeposit(operation.data)).toMatchObject({
      depositor: ALICE.address,
      inputToken: journey.token.address,
      outputToken: vault.token,
      inputAmount: amount,
    })

    const receipts = await journey.send(ALICE, reply)
    expectSuccess(receipts)
    expectFairGas(reply, receipts)
    const gas = receipts.reduce((sum, { gasUsed, effectiveGasPrice }) => sum + gasUsed * effectiveGasPrice, 0n)
    expect(await journey.coinOf(ALICE.address)).toBe(coin - amount - gas)
    expect(await journey.balanceOf(journey.pool)).toBe(pooled + amount)

    await journey.fill(receipts)
    await expectDeposited(vault, kind, BigInt(offer.outputAmount), { totalAssets: 0n, totalSupply: 0n })
    expect(await journey.leftAtHandler()).toEqual({ balance: 0n, allowance: 0n })
  })

  test('is prepared for a user with too little of it, and reports that it would fail now', async ({ service }) => {
    const journey = createDepositJourney(await openYieldVault(service, { asset: 'WETH' }), service)
    const amount = journey.units('2')
    const give = (coin: bigint) =>
      callRpc(journey.source, [{ method: 'anvil_setBalance', params: [POOR.address, numberToHex(coin)] }])
    await give(amount - 1n)
    expect(await journey.askInCoin(POOR, amount)).toMatchObject({
      status: 200,
      body: {
        approval: [],
        operations: [{ value: `${amount}` }],
        estimatedGas: `${UPPER_BRIDGE}`,
        simulation: { status: 'reverted', reason: 'InsufficientBalance' },
      },
    })
    await give(amount)
    expect((await journey.askInCoin(POOR, amount)).body.simulation).toEqual({ status: 'success' })
  })

  test('is refused for vaults of other assets, and on its own chain', async ({ service }) => {
    const dollars = await openYieldVault(service)
    expectError(await createDepositJourney(dollars, service).askInCoin(ALICE, 10n ** 18n), 'unsupported_source_token')
    const ether = await openYieldVault(service, { asset: 'WETH' })
    const here = { srcChainId: ether.chain.chainId, srcToken: COIN }
    expectError(await ether.deposit(ALICE, 10n ** 18n, here), 'unsupported_source_token')
  })
})

describe('approvals for the bridge', () => {
  const AMOUNT = 5_000_000n

  test.for(ASSETS.map((asset) => ({ asset })))(
    'A sufficient allowance of $asset needs no approval, and its excess remains',
    async ({ asset }, { service }) => {
      const journey = createDepositJourney(await openYieldVault(service, { asset }), service)
      const amount = journey.units('5')
      await journey.approve(ALICE.address, amount)
      expect((await sendOff(journey, amount)).reply.body.approval).toEqual([])
      await journey.approve(ALICE.address, amount + 1n)
      expect((await sendOff(journey, amount)).reply.body.approval).toEqual([])
      expect(await journey.allowance(ALICE.address)).toBe(1n)
      await journey.approve(ALICE.address, 0n)
    },
  )

  test.for([{ asset: 'USDC' }, { asset: 'DAI' }] as const)(
    'An allowance of $asset that is one unit too small is replaced by exactly the amount',
    async ({ asset }, { service }) => {
      const journey = createDepositJourney(await openYieldVault(service, { asset }), service)
      const amount = journey.units('5')
      await journey.approve(ALICE.address, amount - 1n)
      const { reply } = await sendOff(journey, amount)
      expect(reply.body.approval).toEqual([journey.approving(amount)])
      expect(await journey.allowance(ALICE.address)).toBe(0n)
    },
  )

  test.for([
    { what: 'of one unit', leftover: 1n },
    { what: 'one unit too small', leftover: AMOUNT - 1n },
  ])('An allowance of USDT $what is first set to zero', async ({ leftover }, { service }) => {
    const journey = createDepositJourney(await openYieldVault(service, { asset: 'USDT' }), service)
    await journey.approve(ALICE.address, leftover)
    const { reply } = await sendOff(journey, AMOUNT)
    expect(reply.body.approval).toEqual([journey.approving(0n), journey.approving(AMOUNT)])
    expect(await journey.allowance(ALICE.address)).toBe(0n)
  })

  test("An allowance for the vault, for the other chain's pool or by another account does not count", async ({
    service,
  }) => {
    const vault = await openYieldVault(service)
    const journey = createDepositJourney(vault, service)
    await vault.approve(ALICE.address, AMOUNT)
    await journey.approve(BOB.address, AMOUNT)
    const { reply } = await sendOff(journey, AMOUNT)
    expect(reply.body.approval).toEqual([journey.approving(AMOUNT)])
    await journey.approve(BOB.address, 0n)
  })
})

describe('deposits that would fail now', () => {
  test.for([
    { asset: 'USDC', reason: 'ERC20InsufficientBalance' },
    { asset: 'DAI', reason: 'ERC20InsufficientBalance' },
    { asset: 'USDT', reason: 'reverted without a reason' },
  ] as const)(
    'A user with too little $asset gets the transactions and the reason why they would fail now',
    async ({ asset, reason }, { service }) => {
      const journey = createDepositJourney(await openYieldVault(service, { asset }), service)
      const amount = journey.units('5')
      await journey.mint(POOR.address, amount - 1n)
      const { status, body } = await journey.ask(POOR, amount)
      expect({ status, body }).toMatchObject({
        status: 200,
        body: {
          approval: [journey.approving(amount)],
          operations: [{ to: journey.pool }],
          estimatedGas: `${UPPER_APPROVE + UPPER_BRIDGE}`,
          simulation: { status: 'reverted', reason },
        },
      })
      await journey.mint(POOR.address, 1n)
      expect((await journey.ask(POOR, amount)).body.simulation).toEqual({ status: 'success' })
    },
  )
})

describe('fills of the bridge', () => {
  const DELIVERIES = [
    { what: 'less than promised', difference: -1_000_001n },
    { what: 'more than promised', difference: 2_000_003n },
    { what: 'a single unit', difference: undefined },
  ]
  const cases = DELIVERIES.flatMap((delivery, turn) =>
    [KINDS[turn], KINDS[turn + DELIVERIES.length]].flatMap((kind) => (kind ? [{ ...kind, ...delivery }] : [])),
  )

  test.for(cases)(
    'A slow fill that delivers $what into $kind deposits exactly the delivered amount',
    async ({ difference, what: _, ...kind }, { service }) => {
      const vault = await kind.open(service, { asset: 'USDT' })
      const journey = createDepositJourney(vault, service)
      const { reply, receipts } = await sendOff(journey, 50_000_000n)
      const rate = await rateOf(vault)
      const delivered = difference === undefined ? 1n : outputOf(reply) + difference
      await journey.fillSlowly(receipts, delivered)
      await expectDeposited(vault, kind, delivered, rate)
      expect(await journey.leftAtHandler()).toEqual({ balance: 0n, allowance: 0n })
    },
  )

  test.for(OPERATIONS)(
    'An allowance of one unit left at the handler does not prevent a deposit of USDT into $kind',
    async (kind, { service }) => {
      const vault = await kind.open(service, { asset: 'USDT' })
      const journey = createDepositJourney(vault, service)
      const { reply, receipts } = await sendOff(journey, 50_000_000n)
      const rate = await rateOf(vault)
      await callHandler(vault.chain, BOB.address, vault.token, encodeCall('approve', [vault.address, 1n]))
      expect(await journey.leftAtHandler()).toEqual({ balance: 0n, allowance: 1n })

      await journey.fill(receipts)
      await expectDeposited(vault, kind, outputOf(reply), rate)
      expect(await journey.leftAtHandler()).toEqual({ balance: 0n, allowance: 0n })
    },
  )

  test.for(OPERATIONS)(
    'If $kind has no code on arrival, the user gets the tokens, and the next deposit clears the allowance',
    async (kind, { service }) => {
      const vault = await kind.open(service, { asset: 'USDT' })
      const journey = createDepositJourney(vault, service)
      const first = await sendOff(journey, 50_000_000n)
      const second = await sendOff(journey, 40_000_000n)
      const [balanceBefore, rate] = await Promise.all([vault.balanceOf(ALICE.address), rateOf(vault)])

      const setCode = (code: unknown) =>
        callRpc(vault.chain, [{ method: 'anvil_setCode', params: [vault.address, code] }])
      const [code] = await callRpc(vault.chain, [{ method: 'eth_getCode', params: [vault.address, 'latest'] }])
      await setCode('0x')
      await journey.fill(first.receipts)
      expect(await vault.balanceOf(ALICE.address)).toBe(balanceBefore + outputOf(first.reply))
      expect(await journey.leftAtHandler()).toEqual({ balance: 0n, allowance: outputOf(first.reply) })

      await setCode(code)
      await journey.fill(second.receipts)
      await expectDeposited(vault, kind, outputOf(second.reply), rate)
      expect(await journey.leftAtHandler()).toEqual({ balance: 0n, allowance: 0n })
    },
  )

  test.for(OPERATIONS)(
    'If $kind is paused before arrival, the user gets the whole amount as tokens on the destination',
    async (kind, { service }) => {
      const vault = await kind.open(service, { asset: 'USDT' })
      const journey = createDepositJourney(vault, service)
      const { reply, receipts } = await sendOff(journey, 50_000_000n)
      const balanceBefore = await vault.balanceOf(ALICE.address)
      await vault.act(ROLES.admin, 'pause')
      await journey.fill(receipts)
      expect(await vault.balanceOf(ALICE.address)).toBe(balanceBefore + outputOf(reply))
      expect(await vault.read('balanceOf', ALICE.address)).toBe(0n)
      expect(await journey.leftAtHandler()).toEqual({ balance: 0n, allowance: 0n })
    },
  )
})

describe('round trips', () => {
  async function countRoundTrips(service: Service, bridge: SimulatedBridgeApi, vault: TestVault) {
    const journey = createDepositJourney(vault, service)
    for (const wire of Object.values(service.rpc)) wire.reset()
    const { status } = await journey.ask(ALICE, 5_000_000n)
    expect(status).toBe(200)
    const countRequests = (chainId: number) => service.rpc[chainId]?.bodies.length
    return {
      source: countRequests(journey.source.chainId),
      destination: countRequests(vault.chain.chainId),
      api: bridge.quotesFor(vault).length,
    }
  }

  test.for([synchronous, lagoon('0.6')])(
    'A deposit into $kind takes two requests to the source, one to the destination and one to the bridge',
    async (kind, { service, bridge }) => {
      const vault = await kind.open(service, {})
      expect(await countRoundTrips(service, bridge, vault)).toEqual({ source: 2, destination: 1, api: 1 })
    },
  )

  test.for([inSyncMode('0.5')])(
    'A deposit into $kind takes a second quote, for the message of another operation',
    async (kind, { service, bridge }) => {
      const vault = await kind.open(service, {})
      expect(await countRoundTrips(service, bridge, vault)).toEqual({ source: 2, destination: 1, api: 2 })
      const [first, second] = bridge.quotesFor(vault).map(({ request }) => request.url.searchParams.get('message'))
      expect(first).not.toBe(second)
    },
  )

  test('A leftover allowance takes no further request', async ({ service, bridge }) => {
    const vault = await openYieldVault(service, { asset: 'USDT' })
    const journey = createDepositJourney(vault, service)
    await journey.approve(ALICE.address, 1n)
    expect(await countRoundTrips(service, bridge, vault)).toEqual({ source: 2, destination: 1, api: 1 })
    await journey.approve(ALICE.address, 0n)
  })

  test('The bridge and both chains get their requests in parallel', async ({ service, bridge }) => {
    const vault = await openLagoonVault(service, { generation: '0.6' })
    const journey = createDepositJourney(vault, service)
    const wires = Object.values(service.rpc)
    const { promise: bridgeRequested, resolve } = Promise.withResolvers<void>()
    for (const wire of wires) {
      wire.reset()
      wire.hold = bridgeRequested
    }
    bridge.answer = async (reply) => {
      await expect.poll(() => wires.every(({ bodies }) => bodies.length > 0), { interval: 1 }).toBe(true)
      resolve()
      return reply
    }
    expect(await journey.ask(ALICE, 5_000_000n)).toMatchObject({ status: 200, body: { isCrossChain: true } })
  })
})

describe("a deposit whose source is the vault's own chain", () => {
  test.for(OPERATIONS)(
    'A deposit into $kind with its own chain as the source equals one without a source',
    async (kind, { service, bridge }) => {
      const vault = await kind.open(service, {})
      const { chainId: srcChainId } = vault.chain
      for (const wire of Object.values(service.rpc)) wire.reset()
      const named = await vault.deposit(ALICE, 5_000_000n, { srcChainId, srcToken: vault.token })
      expect(named.status).toBe(200)
      expect(named.body).toMatchObject({ isCrossChain: false, operations: [{ to: vault.address }] })
      expect(named.body).not.toHaveProperty('quote')
      expect(bridge.quotesFor(vault)).toEqual([])
      expect([8453, 42161].map((chainId) => service.rpc[chainId]?.bodies.length)).toEqual([1, 0])

      expect((await vault.deposit(ALICE, 5_000_000n)).body).toEqual(named.body)
      expectSuccess(await vault.send(ALICE, named))
    },
  )
})

describe('USDC of 18 decimals on BNB Smart Chain and of 6 on Base', () => {
  const SCALE = 10n ** 12n
  const FROM_BNB = parseUnits('1234.567891234567890123', 18)
  const TO_BNB = parseUnits('1234.567891', 6)

  const toBase = async ({ service }: { service: Service }, kind: Kind = synchronous) => {
    const vault = await kind.open(service, {})
    const journey = createDepositJourney(vault, service, BNB.CHAIN)
    await journey.mint(ALICE.address, FROM_BNB)
    return { vault, journey }
  }
  const toBnb = async ({ service }: { service: Service }, kind: Kind = synchronous) => {
    const vault = await kind.open(service, { chainId: BNB.CHAIN })
    return { vault, journey: createDepositJourney(vault, service, 8453) }
  }

  test.for(OPERATIONS)('18 decimals arrive as 6 in $kind', async (kind, { withBnb }) => {
    const { vault, journey } = await toBase(withBnb, kind)
    const rate = await rateOf(vault)
    const balance = await journey.balanceOf(ALICE.address)
    const { reply, receipts } = await sendOff(journey, FROM_BNB)
    const output = BigInt(withBnb.bridge.quoteBehind(reply).offer.outputAmount)
    expect(output * SCALE).toBeGreaterThan((FROM_BNB * 99n) / 100n)
    expect(reply.body).toMatchObject({
      approval: [journey.approving(FROM_BNB)],
      chainId: 8453,
      quote: { inputAmount: `${FROM_BNB}`, outputAmount: `${output}`, feeTotal: `${FROM_BNB - output * SCALE}` },
    })
    expect(await journey.balanceOf(ALICE.address)).toBe(balance - FROM_BNB)

    await journey.fill(receipts)
    await expectDeposited(vault, kind, output, rate)
    expect(await journey.leftAtHandler()).toEqual({ balance: 0n, allowance: 0n })
  })

  test.for(OPERATIONS)('6 decimals arrive as 18 in $kind', async (kind, { withBnb }) => {
    const { vault, journey } = await toBnb(withBnb, kind)
    const rate = await rateOf(vault)
    // The asset has 6 decimals on the source chain. Digits of the output after the sixth decimal are counted as fee.
    withBnb.bridge.changeQuote((offer) => ({
      ...offer,
      outputAmount: `${BigInt(offer.outputAmount) - 876_543_210_987n}`,
    }))
    const { reply, receipts } = await sendOff(journey, TO_BNB)
    const output = BigInt(withBnb.bridge.quoteBehind(reply).offer.outputAmount) - 876_543_210_987n
    expect(output).toBeGreaterThan((TO_BNB * SCALE * 99n) / 100n)
    expect(reply.body).toMatchObject({
      approval: [journey.approving(TO_BNB)],
      chainId: BNB.CHAIN,
      quote: { inputAmount: `${TO_BNB}`, outputAmount: `${output}`, feeTotal: `${TO_BNB - output / SCALE}` },
    })

    await journey.fill(receipts)
    await expectDeposited(vault, kind, output, rate)
    expect(await journey.leftAtHandler()).toEqual({ balance: 0n, allowance: 0n })
  })

  const ways = [
    { way: '18 decimals to 6', open: toBase, amount: FROM_BNB, worth: FROM_BNB / SCALE },
    { way: '6 decimals to 18', open: toBnb, amount: TO_BNB, worth: TO_BNB * SCALE },
  ]

  test.for(ways)('From $way all of the input may arrive', async ({ open, amount, worth }, { withBnb }) => {
    const { journey } = await open(withBnb)
    withBnb.bridge.changeQuote((offer) => ({ ...offer, outputAmount: `${worth}` }))
    const { status, body } = await journey.ask(ALICE, amount)
    expect(status).toBe(200)
    expect(body.quote.outputAmount).toBe(`${worth}`)
    expect(BigInt(body.quote.feeTotal)).toBe(amount === FROM_BNB ? FROM_BNB % SCALE : 0n)
  })

  test.for(ways)('From $way one unit more than the input is refused', async ({ open, amount, worth }, { withBnb }) => {
    const { journey } = await open(withBnb)
    withBnb.bridge.changeQuote((offer) => ({ ...offer, outputAmount: `${worth + 1n}` }))
    expectError(await journey.ask(ALICE, amount), 'upstream_bad_answer')
  })

  test.for(ways)(
    'From $way an output with the same digits as the input is refused',
    async ({ open, amount }, { withBnb }) => {
      const { journey } = await open(withBnb)
      withBnb.bridge.changeQuote((offer) => ({ ...offer, outputAmount: `${amount}` }))
      expectError(await journey.ask(ALICE, amount), 'upstream_bad_answer')
    },
  )
})

// These tests come last, because they advance the chains' clocks. The service also remembers afterwards that a node
// cannot simulate transactions.
describe('the expiry of a quote', () => {
  test('The pool takes the deposit until the quote expires, and not a second longer', async ({ service }) => {
    const vault = await openYieldVault(service)
    const journey = createDepositJourney(vault, service)
    const sendAt = async ({ body }: HttpReply, secondsAfterExpiry: number) => {
      await service.send(journey.source.chainId, ALICE, body.approval)
      const time = new Date(body.quote.expiresAt).getTime() / 1000 + secondsAfterExpiry
      await callRpc(journey.source, [{ method: 'evm_setNextBlockTimestamp', params: [time] }])
      const receipts = await service.send(journey.source.chainId, ALICE, body.operations)
      // The destination chain's clock advances like the source chain's, so that both stay equal.
      await callRpc(vault.chain, [{ method: 'evm_increaseTime', params: [QUOTE_TIME_BUFFER] }])
      await vault.mint(ROLES.admin, 1n)
      return receipts
    }
    const intime = await journey.ask(ALICE, 5_000_000n)
    const receipts = await sendAt(intime, 0)
    expectSuccess(receipts)
    await journey.fill(receipts)
    expect(await vault.read('balanceOf', ALICE.address)).toBe(outputOf(intime))

    const late = await sendAt(await journey.ask(ALICE, 5_000_000n), 1)
    expect(late.map(({ status }) => status)).toEqual(['reverted'])
  })
})

describe('a source chain that cannot simulate', () => {
  test.for([
    { what: 'no allowance', allowance: 0n, approvals: 1 },
    { what: 'too small an allowance', allowance: 1n, approvals: 2 },
    { what: 'an allowance of exactly the amount', allowance: 5_000_000n, approvals: 0 },
  ])('With $what, the estimate is the documented upper one', async ({ allowance, approvals }, { service }) => {
    const journey = createDepositJourney(await openYieldVault(service), service)
    await journey.approve(ALICE.address, allowance)
    const wire = service.rpc[journey.source.chainId]
    if (wire) {
      wire.rewrite = (answer, request) => {
        if (!request.includes('eth_simulateV1')) return answer
        const error = { code: -32601, message: 'the method does not exist' }
        return JSON.stringify(JSON.parse(answer).map(({ id }: { id: number }) => ({ jsonrpc: '2.0', id, error })))
      }
    }
    const reply = await journey.ask(ALICE, 5_000_000n)
    expect(reply.body).toMatchObject({
      approval: [journey.approving(0n), journey.approving(5_000_000n)].slice(2 - approvals),
      estimatedGas: `${approvals * UPPER_APPROVE + UPPER_BRIDGE}`,
      simulation: { status: 'unavailable' },
    })
    expectSuccess(await journey.send(ALICE, reply))
  })
})

// This test comes last, because it advances the chains' clocks by hours.
test('A deposit in the coin is refunded in WETH', async ({ service }) => {
  const { relayer } = service.backends
  const journey = createDepositJourney(await openYieldVault(service, { asset: 'WETH' }), service)
  const reply = await journey.askInCoin(ALICE, journey.units('2'))
  const receipts = await journey.send(ALICE, reply)
  expectSuccess(receipts)
  const balanceBefore = await journey.balanceOf(ALICE.address)
  const [relay] = await relayer.listDeposits({ transactionHash: receipts[0]?.transactionHash as Hash })
  if (!relay) throw new Error('No pool took the deposit')
  await relayer.expire(relay.deposit)
  await relayer.refund(relay.deposit)
  expect(await journey.balanceOf(ALICE.address)).toBe(balanceBefore + journey.units('2'))
})
