import { encodeFunctionData, type Hash } from 'viem'
import { getBlock } from 'viem/actions'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type BridgeDeposit, readDeposits, relayHashOf, spokePoolAbi } from '../../../sandbox/bridge.ts'
import { type Providers, startProviders } from '../../../sandbox/providers.ts'
import {
  ALICE,
  BOB,
  type BridgeChain,
  buildMessageCall,
  encodeApproval,
  encodeHandlerMessage,
  openBridge,
  RELAYER,
  STRANGER,
  transferOf,
} from './harness.ts'

let bridge: Awaited<ReturnType<typeof openBridge>>
let providers: Providers
beforeAll(async () => {
  // The test uses Base and BNB Smart Chain, because USDC has 6 decimals on Base and 18 on BNB Smart Chain.
  bridge = await openBridge({ to: 56 })
  const chains = [bridge.origin, bridge.destination].map((side) => ({ ...side.chain, tokens: tokensOf(side) }))
  providers = await startProviders({ secrets: {}, chains, relayer: bridge.relayer })
})
afterAll(async () => {
  await providers.stop()
  await bridge.stop()
})

const tokensOf = ({ chainId, usdc, usdt, decimals }: BridgeChain) => [
  { chainId, address: usdc, name: 'USD Coin', symbol: 'USDC', decimals },
  { chainId, address: usdt, name: 'Tether USD', symbol: 'USDT', decimals: 6 },
]

type Params = Readonly<Record<string, string>>
// Response bodies have type `any` because the tests themselves verify their shape.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Answer = { readonly status: number; readonly body: any }

const ask = async (params: Params, path = 'suggested-fees'): Promise<Answer> => {
  const response = await fetch(`${providers.url}/api/${path}?${new URLSearchParams(params)}`)
  return { status: response.status, body: JSON.parse(await response.text()) }
}
/** Query parameters for a quote of USDT from Base. In this test, USDT has the same decimals on both chains. */
const tether = (): Params => ({
  inputToken: bridge.origin.usdt,
  outputToken: bridge.destination.usdt,
  originChainId: '8453',
  destinationChainId: '56',
})
const dollars = (): Params => ({
  ...tether(),
  inputToken: bridge.origin.usdc,
  outputToken: bridge.destination.usdc,
  allowUnmatchedDecimals: 'true',
})
const withMessage = (): Params => ({ recipient: bridge.destination.handler, message: encodeHandlerMessage([], ALICE) })
const without = (params: Params, name: string): Params =>
  Object.fromEntries(Object.entries(params).filter(([key]) => key !== name))

describe('suggested fees', () => {
  test('have every field of the real API’s quote', async () => {
    const { origin, destination } = bridge
    const { number, timestamp } = await getBlock(origin.client)
    const { status, body } = await ask({ ...tether(), amount: '100000000' })
    expect(status).toBe(200)
    expect(body).toEqual({
      estimatedFillTimeSec: 3,
      capitalFeePct: '400000000000000',
      capitalFeeTotal: '40000',
      relayGasFeePct: '500000000000000',
      relayGasFeeTotal: '50000',
      relayFeePct: '1000000000000000',
      relayFeeTotal: '100000',
      lpFeePct: '0',
      // The quote's timestamp is five minutes back, as in quotes of Across's real API.
      timestamp: (timestamp - 300n).toString(),
      isAmountTooLow: false,
      quoteBlock: number.toString(),
      exclusiveRelayer: RELAYER,
      exclusivityDeadline: 3,
      spokePoolAddress: origin.pool,
      destinationSpokePoolAddress: destination.pool,
      totalRelayFee: { pct: '1000000000000000', total: '100000' },
      relayerCapitalFee: { pct: '400000000000000', total: '40000' },
      relayerGasFee: { pct: '500000000000000', total: '50000' },
      lpFee: { pct: '100000000000000', total: '10000' },
      limits: {
        minDeposit: '200320',
        maxDeposit: '2000000000000',
        maxDepositInstant: '500000000000',
        maxDepositShortDelay: '2000000000000',
        recommendedDepositInstant: '500000000000',
      },
      fillDeadline: (timestamp + 6900n).toString(),
      outputAmount: '99900000',
      inputToken: { address: origin.usdt, symbol: 'USDT', decimals: 6, chainId: 8453 },
      outputToken: { address: destination.usdt, symbol: 'USDT', decimals: 6, chainId: 56 },
      id: expect.stringMatching(/^made-up-/),
    })
  })

  test('accept a plain account or a contract as the recipient without a message', async () => {
    const params = { ...tether(), amount: '100000000' }
    const { outputAmount, totalRelayFee } = (await ask(params)).body
    for (const recipient of [BOB, bridge.destination.handler]) {
      const { status, body } = await ask({ ...params, recipient })
      expect({ status, body }).toMatchObject({ status: 200, body: { outputAmount, totalRelayFee } })
    }
  })

  test('give the output in the decimals of the output token, in both directions', async () => {
    const there = (await ask({ ...dollars(), amount: '100000000' })).body
    expect([there.outputAmount, there.totalRelayFee.total]).toEqual(['99900000000000000000', '100000'])
    expect([there.inputToken.decimals, there.outputToken.decimals]).toEqual([6, 18])
    const back = await ask({
      inputToken: bridge.destination.usdc.toLowerCase(),
      outputToken: bridge.origin.usdc,
      originChainId: '56',
      destinationChainId: '8453',
      amount: '100000000000000000001',
      allowUnmatchedDecimals: 'true',
    })
    expect([back.body.outputAmount, back.body.limits.minDeposit]).toEqual(['99900000', '200320512820512820'])
  })
})

describe('the API refuses', () => {
  const error = (code: string, param?: string) => ({
    status: 400,
    body: {
      type: 'AcrossApiError',
      code,
      status: 400,
      message: expect.any(String),
      id: expect.stringMatching(/^made-up-/),
      ...(param && { param }),
    },
  })

  test('amounts below the minimum and above the maximum', async () => {
    expect(await ask({ ...tether(), amount: '200319' })).toEqual(error('AMOUNT_TOO_LOW', 'amount'))
    const carrying = { ...tether(), ...withMessage(), amount: '480768' }
    expect(await ask(carrying)).toEqual(error('AMOUNT_TOO_LOW', 'amount'))
    // With `skipAmountLimit` the API quotes even an amount that is smaller than its fee.
    expect(await ask({ ...tether(), amount: '1', skipAmountLimit: 'true' })).toMatchObject({
      status: 200,
      body: { isAmountTooLow: true, outputAmount: '-49999', limits: { minDeposit: '200320' } },
    })
    expect(await ask({ ...tether(), amount: '2000000000001' })).toEqual(error('AMOUNT_TOO_HIGH', 'amount'))
  })

  test('routes that it does not have', async () => {
    const { origin, destination } = bridge
    const routes = [
      { destinationChainId: '10' },
      { originChainId: '100' },
      { outputToken: destination.usdc },
      { inputToken: STRANGER },
      { destinationChainId: '8453', outputToken: origin.usdt },
    ]
    for (const route of routes) {
      expect(await ask({ ...tether(), amount: '5000000', ...route })).toEqual(error('ROUTE_NOT_ENABLED'))
    }
  })

  test('different decimals on the other side, unless the request allows them', async () => {
    const params = { ...without(dollars(), 'allowUnmatchedDecimals'), amount: '5000000' }
    expect(await ask(params)).toEqual(error('INVALID_PARAM', 'allowUnmatchedDecimals'))
  })

  test('parameters that are missing or make no sense', async () => {
    const params: Params = { ...tether(), amount: '5000000' }
    for (const name of Object.keys(params)) {
      expect(await ask(without(params, name))).toEqual(error('MISSING_PARAM', name))
      expect(await ask({ ...params, [name]: '-1' })).toEqual(error('INVALID_PARAM', name))
    }
    expect(await ask({ ...params, amount: '0' })).toEqual(error('INVALID_PARAM', 'amount'))
  })

  test('invalid messages, too long recipients, and messages to a recipient that cannot read them', async () => {
    const carrying = (params: Params) => ask({ ...tether(), ...withMessage(), amount: '5000000', ...params })
    expect(await carrying({ message: '0x123' })).toEqual(error('INVALID_PARAM', 'message'))
    expect(await carrying({ message: 'hello' })).toEqual(error('INVALID_PARAM', 'message'))
    expect(await carrying({ recipient: BOB })).toEqual(error('INVALID_PARAM', 'recipient'))
    expect(await ask({ ...tether(), message: '0x12', amount: '5000000' })).toEqual(error('MISSING_PARAM', 'recipient'))
    expect(await carrying({ message: `0x${'00'.repeat(12_000)}` })).toMatchObject({ status: 200 })
    expect(await carrying({ message: `0x${'00'.repeat(13_000)}` })).toEqual(error('INVALID_PARAM', 'message'))
    expect((await carrying({ relayer: STRANGER })).body).toMatchObject({
      code: 'INVALID_PARAM',
      param: 'relayer',
      message: expect.stringContaining("doesn't have enough funds"),
    })
  })

  test('every request with a server error while a chain does not respond', async () => {
    const chains = [{ ...bridge.origin.chain, rpcUrl: 'http://127.0.0.1:1', tokens: tokensOf(bridge.origin) }]
    const other = { ...bridge.destination.chain, tokens: tokensOf(bridge.destination) }
    const broken = await startProviders({ secrets: {}, chains: [...chains, other], relayer: bridge.relayer })
    const query = new URLSearchParams({ ...tether(), amount: '5000000' })
    const response = await fetch(`${broken.url}/api/suggested-fees?${query}`)
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ type: 'AcrossApiError', code: 'UPSTREAM_RPC_ERROR', status: 502 })
    await broken.stop()
  })
})

describe('the status of a deposit', () => {
  const statusBy = (params: Params) => ask(params, 'deposit/status')
  const statusOf = async ({ depositId }: BridgeDeposit) =>
    (await statusBy({ originChainId: '8453', depositId: `${depositId}` })).body
  const refused = (status: number, error: string) => ({ status, body: { error, message: expect.any(String) } })

  test('has every field of the real API’s status for every way to name a deposit', async () => {
    const deposit = await bridge.deposit({ recipient: BOB })
    const { depositId, transactionHash } = deposit
    const pending = {
      status: 'pending',
      originChainId: 8453,
      depositId: `${depositId}`,
      depositTxHash: transactionHash,
      depositTxnRef: transactionHash,
      fillTx: null,
      fillTxnRef: null,
      destinationChainId: 56,
      depositRefundTxHash: null,
      depositRefundTxnRef: null,
      actionsSucceeded: null,
      pagination: { currentIndex: 0, maxIndex: 0 },
    }
    for (const params of [
      { originChainId: '8453', depositId: `${depositId}` },
      { depositTxnRef: transactionHash },
      { depositTxHash: transactionHash, index: '0' },
      { relayDataHash: relayHashOf(deposit) },
    ]) {
      expect(await statusBy(params)).toEqual({ status: 200, body: pending })
    }
    const fill = await bridge.relayer.fill(deposit)
    expect(await statusOf(deposit)).toEqual({ ...pending, status: 'filled', fillTx: fill, fillTxnRef: fill })
  })

  test('finds each of several deposits of one transaction by its index', async () => {
    const { origin } = bridge
    const calls = await Promise.all(
      [3n, 5n].map(async (inputAmount) => {
        const args = await bridge.argsOf({ inputAmount, outputAmount: 1n })
        return encodeFunctionData({ abi: spokePoolAbi, functionName: 'depositV3', args })
      }),
    )
    await origin.mint(ALICE, 8n)
    await origin.act(ALICE, origin.usdc, encodeApproval(origin.pool, 8n))
    const data = encodeFunctionData({ abi: spokePoolAbi, functionName: 'multicall', args: [calls] })
    const [depositTxnRef = '0x'] = await origin.act(ALICE, origin.pool, data)
    const ids = (await readDeposits(origin.chain))
      .filter(({ transactionHash }) => transactionHash === depositTxnRef)
      .map(({ depositId }) => `${depositId}`)
    for (const [index, depositId] of ids.entries()) {
      expect(await statusBy({ depositTxnRef, index: `${index}` })).toMatchObject({
        body: { depositId, pagination: { currentIndex: index, maxIndex: 1 } },
      })
    }
    expect(await statusBy({ depositTxnRef, index: '2' })).toEqual(refused(400, 'IndexParamOutOfRangeException'))
    await bridge.relayer.fillAll()
  })

  test('is an error without a deposit, with an incomplete name, and with invalid parameters', async () => {
    const nobody: Hash = `0x${'ab'.repeat(32)}`
    expect(await statusBy({ depositTxnRef: nobody })).toEqual(refused(404, 'DepositNotFoundException'))
    for (const params of [{}, { originChainId: '8453' }, { depositId: '1' }, { index: '1' }]) {
      expect(await statusBy(params)).toEqual(refused(400, 'IncorrectQueryParamsException'))
    }
    for (const params of [{ depositTxnRef: '0x12' }, { depositTxnRef: nobody, index: '-1' }]) {
      expect(await statusBy(params)).toEqual(refused(400, 'InputValidationError'))
    }
  })

  test('names the fill of another relayer, and neither another deposit nor a look-alike', async () => {
    const { destination } = bridge
    const [deposit, other] = [await bridge.deposit(), await bridge.deposit()]
    const [{ outputAmount, ...data }, ...rest] = bridge.fillArgs(deposit)
    await destination.mint(STRANGER, 2n * outputAmount)
    await destination.act(STRANGER, destination.usdc, encodeApproval(destination.pool, 2n * outputAmount))
    // The pool on the destination chain accepts any fill for which a relayer pays, even with changed relay data.
    const fills = [
      { ...data, outputAmount: 1n },
      { ...data, outputAmount },
    ].map((relayData) =>
      encodeFunctionData({ abi: spokePoolAbi, functionName: 'fillRelay', args: [relayData, ...rest] }),
    )
    const hashes = []
    for (const fill of fills) hashes.push(...(await destination.act(STRANGER, destination.pool, fill)))
    expect(await statusOf(deposit)).toMatchObject({ status: 'filled', fillTxnRef: hashes[1] })
    expect(await statusOf(other)).toMatchObject({ status: 'pending', fillTxnRef: null })
    await bridge.relayer.fill(other)
  })

  test('reports whether the actions succeeded and blames the first fill of a transaction', async () => {
    const { destination, relayer } = bridge
    const { usdc, handler } = destination
    const depositFor = (amount: string) =>
      bridge.deposit({
        recipient: handler,
        message: encodeHandlerMessage([buildMessageCall(usdc, transferOf(BOB, destination.units(amount)))], ALICE),
      })
    const [good, bad] = [await depositFor('1'), await depositFor('1000')]
    await relayer.fill(good)
    await relayer.fill(bad)
    expect(await statusOf(good)).toMatchObject({ status: 'filled', actionsSucceeded: true })
    expect(await statusOf(bad)).toMatchObject({ status: 'filled', actionsSucceeded: false })

    const together = [await depositFor('1'), await depositFor('1000')] as const
    await relayer.fillTogether(together)
    expect(await Promise.all(together.map(statusOf))).toMatchObject([
      { actionsSucceeded: false },
      { actionsSucceeded: true },
    ])
  })

  test('goes through a slow fill', async () => {
    const { destination, relayer } = bridge
    const { handler } = destination
    const deposit = await bridge.deposit({ recipient: handler, message: encodeHandlerMessage([], ALICE) })
    await relayer.requestSlowFill(deposit)
    expect(await statusOf(deposit)).toMatchObject({ status: 'slowFillRequested', fillTx: null })
    const fillTx = await relayer.executeSlowFill(deposit)
    // Across's indexer does not report whether the message of a slow fill succeeded.
    expect(await statusOf(deposit)).toMatchObject({ status: 'slowFilled', fillTx, actionsSucceeded: null })
  })

  test('goes through expiry to the refund, shown by any leaf of the bundle, paid or deferred', async () => {
    const { origin, relayer } = bridge
    const [paid, deferred] = [await bridge.deposit({ deadlineIn: 900 }), await bridge.deposit({ deadlineIn: 900 })]
    await relayer.ignore(paid)
    // The relayer advances the clock past the deadline of `deferred`. It is the later one, so both deposits expire.
    await relayer.expire(deferred)
    expect(await statusOf(paid)).toMatchObject({ status: 'expired', depositRefundTxnRef: null })
    // The bundle of refunds also pays Bob. His larger amount is in the first leaf of the bundle's Merkle tree, and the
    // deposit's refund is in the second.
    const payment = { chainId: 8453, token: origin.usdc, account: BOB, amount: 2n * paid.inputAmount }
    const [first, second] = await relayer.refundTogether([paid], { payments: [payment], paymentsPerLeaf: 1 })
    expect(await relayer.listDeposits({ depositId: paid.depositId })).toMatchObject([{ refundTransaction: second }])
    expect(await statusOf(paid)).toMatchObject({
      ...{ status: 'refunded', fillTx: null },
      ...{ depositRefundTxHash: first, depositRefundTxnRef: first },
    })
    const [bundle] = await relayer.refundTogether([deferred], { deferred: true })
    expect(await statusOf(deferred)).toMatchObject({ status: 'refunded', depositRefundTxnRef: bundle })
    await relayer.claimRefund(deferred)
    expect(await statusOf(deferred)).toMatchObject({ status: 'refunded', depositRefundTxnRef: bundle })
  })

  test('lies, lags and fails if a test rewrites it', async () => {
    const deposit = await bridge.deposit()
    onTestFinished(async () => {
      providers.acrossApi.rewrite = undefined
      await bridge.relayer.fillAll()
    })
    providers.acrossApi.rewrite = (reply, { url }) =>
      url.pathname === '/api/deposit/status' ? { status: 404, body: { error: 'DepositNotFoundException' } } : reply
    expect(await statusBy({ depositTxnRef: deposit.transactionHash })).toMatchObject({ status: 404 })
    expect(await ask({ ...tether(), amount: '5000000' })).toMatchObject({ status: 200 })
  })
})
