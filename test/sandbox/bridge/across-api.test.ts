import { setTimeout as sleep } from 'node:timers/promises'
import { getBlock } from 'viem/actions'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { relayHashOf } from '../../../sandbox/bridge.ts'
import { type Providers, startProviders } from '../../../sandbox/providers.ts'
import { ALICE, BOB, callOf, messageOf, openBridge, RELAYER, type Side, STRANGER, transferOf } from './harness.ts'

let bridge: Awaited<ReturnType<typeof openBridge>>
let providers: Providers
beforeAll(async () => {
  // Dollars have 6 decimals on Base, and 18 on BNB Smart Chain.
  bridge = await openBridge({ to: 56 })
  const chains = [bridge.origin, bridge.destination].map((side) => ({ ...side.chain, tokens: tokensOf(side) }))
  providers = await startProviders({ secrets: {}, chains, relayer: bridge.relayer })
})
afterAll(async () => {
  await providers.stop()
  await bridge.stop()
})
afterEach(() => {
  providers.acrossApi.rewrite = undefined
})

const tokensOf = ({ chainId, usdc, usdt, decimals }: Side) => [
  { chainId, address: usdc, name: 'USD Coin', symbol: 'USDC', decimals },
  { chainId, address: usdt, name: 'Tether USD', symbol: 'USDT', decimals: 6 },
]

type Params = Readonly<Record<string, string>>
// Tests look into answers freely; what they must look like is what is tested.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Answer = { readonly status: number; readonly body: any }

const get = async (path: string, params: Params = {}, init: RequestInit = {}): Promise<Answer> => {
  const response = await fetch(`${providers.url}/api/${path}?${new URLSearchParams(params)}`, init)
  return { status: response.status, body: JSON.parse(await response.text()) }
}
const post = (path: string, body: object | string, params: Params = {}): Promise<Answer> =>
  get(path, params, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) })
/** USDT from Base: the same decimals on both sides. */
const tether = (): Params => ({
  inputToken: bridge.origin.usdt,
  outputToken: bridge.destination.usdt,
  originChainId: '8453',
  destinationChainId: '56',
})
/** USDC, with other decimals on the other side. */
const dollars = (): Params => ({
  ...tether(),
  inputToken: bridge.origin.usdc,
  outputToken: bridge.destination.usdc,
  allowUnmatchedDecimals: 'true',
})
const withMessage = (): Params => ({ recipient: bridge.destination.handler, message: messageOf([], ALICE) })
const without = (params: Params, name: string): Params =>
  Object.fromEntries(Object.entries(params).filter(([key]) => key !== name))

describe('suggested fees', () => {
  test('are a quote with every field that the real API has', async () => {
    const { origin, destination } = bridge
    const { number, timestamp } = await getBlock(origin.client)
    const { status, body } = await get('suggested-fees', { ...tether(), amount: '100000000' })
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
      // Of some minutes ago, as the real API's.
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

  test('are the same for the same question, whoever asks, and cost more with a message', async () => {
    const { id: _, ...first } = (await get('suggested-fees', { ...tether(), amount: '5000000' })).body
    const key = { headers: { authorization: 'Bearer a-key' } }
    const { id: __, ...second } = (await get('suggested-fees', { ...tether(), amount: '5000000' }, key)).body
    expect(second).toEqual(first)
    const carrying = (await get('suggested-fees', { ...tether(), ...withMessage(), amount: '5000000' })).body
    expect(carrying.relayerGasFee.total).toBe('120000')
    expect(carrying.limits.minDeposit).toBe('480769')
    expect(carrying.outputAmount).toBe((5_000_000n - 2_500n - 120_000n).toString())
  })

  test('take the parameters from the query and the body of a POST', async () => {
    const { message = '', recipient = '' } = withMessage()
    const long = `0x${message.slice(2)}${'00'.repeat(13_000)}`
    const { body } = await post('suggested-fees', { message: long, recipient }, { ...tether(), amount: '5000000' })
    expect(body.relayerGasFee.total).toBe('120000')
    const { status } = await post('suggested-fees', { ...tether(), amount: 5_000_000 })
    expect(status).toBe(200)
    expect((await post('suggested-fees', 'no JSON', { ...tether(), amount: '5000000' })).body).toMatchObject({
      code: 'INVALID_PARAM',
      param: 'body',
    })
  })

  test('give the output in the decimals of the output token, in both directions', async () => {
    const there = (await get('suggested-fees', { ...dollars(), amount: '100000000' })).body
    expect([there.outputAmount, there.totalRelayFee.total]).toEqual(['99900000000000000000', '100000'])
    expect([there.inputToken.decimals, there.outputToken.decimals]).toEqual([6, 18])
    const back = await get('suggested-fees', {
      inputToken: bridge.destination.usdc.toLowerCase(),
      outputToken: bridge.origin.usdc,
      originChainId: '56',
      destinationChainId: '8453',
      amount: '100000000000000000001',
      allowUnmatchedDecimals: 'true',
    })
    expect([back.body.outputAmount, back.body.limits.minDeposit]).toEqual(['99900000', '200320512820512820'])
  })

  test('take at most a quarter of the least amount, and the share of the pool', async () => {
    const { body } = await get('suggested-fees', { ...tether(), ...withMessage(), amount: '480769' })
    expect(body).toMatchObject({ isAmountTooLow: false, totalRelayFee: { total: '120240' } })
  })

  test('may be quoted for another time, and below the minimum when that is asked for', async () => {
    const { body } = await get('suggested-fees', {
      ...tether(),
      amount: '10000',
      skipAmountLimit: 'true',
      timestamp: '1700000000',
    })
    expect(body).toMatchObject({
      isAmountTooLow: true,
      outputAmount: '0',
      timestamp: '1700000000',
      fillDeadline: '1700007200',
    })
  })

  test('follow the clock of the origin', async () => {
    const ask = async () => Number((await get('suggested-fees', { ...tether(), amount: '5000000' })).body.timestamp)
    const before = await ask()
    await bridge.relayer.advance(1000)
    expect((await ask()) - before).toBeGreaterThanOrEqual(1000)
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
    expect(await get('suggested-fees', { ...tether(), amount: '200319' })).toEqual(error('AMOUNT_TOO_LOW', 'amount'))
    const carrying = { ...tether(), ...withMessage(), amount: '480768' }
    expect(await get('suggested-fees', carrying)).toEqual(error('AMOUNT_TOO_LOW', 'amount'))
    expect(await get('suggested-fees', { ...tether(), amount: '2000000000001' })).toEqual(
      error('AMOUNT_TOO_HIGH', 'amount'),
    )
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
      expect(await get('suggested-fees', { ...tether(), amount: '5000000', ...route })).toEqual(
        error('ROUTE_NOT_ENABLED'),
      )
    }
  })

  test('other decimals on the other side, unless they are allowed', async () => {
    const params = { ...without(dollars(), 'allowUnmatchedDecimals'), amount: '5000000' }
    expect(await get('suggested-fees', params)).toEqual(error('INVALID_PARAM', 'allowUnmatchedDecimals'))
    expect(await get('limits', params)).toEqual(error('INVALID_PARAM', 'allowUnmatchedDecimals'))
  })

  test('parameters that are missing or make no sense', async () => {
    const params: Params = { ...tether(), amount: '5000000' }
    for (const name of Object.keys(params)) {
      expect(await get('suggested-fees', without(params, name))).toEqual(error('MISSING_PARAM', name))
      expect(await get('suggested-fees', { ...params, [name]: '-1' })).toEqual(error('INVALID_PARAM', name))
    }
    expect(await get('suggested-fees', { ...params, amount: '0' })).toEqual(error('INVALID_PARAM', 'amount'))
    expect(await get('suggested-fees', { ...params, skipAmountLimit: 'maybe' })).toEqual(
      error('INVALID_PARAM', 'skipAmountLimit'),
    )
  })

  test('messages that are none, too long for an address, or to nobody who reads them', async () => {
    const ask = (params: Params) =>
      get('suggested-fees', { ...tether(), ...withMessage(), amount: '5000000', ...params })
    expect(await ask({ message: '0x123' })).toEqual(error('INVALID_PARAM', 'message'))
    expect(await ask({ message: 'hello' })).toEqual(error('INVALID_PARAM', 'message'))
    expect(await ask({ recipient: BOB })).toEqual(error('INVALID_PARAM', 'recipient'))
    expect(await get('suggested-fees', { ...tether(), message: '0x12', amount: '5000000' })).toEqual(
      error('MISSING_PARAM', 'recipient'),
    )
    expect(await ask({ message: `0x${'00'.repeat(12_000)}` })).toMatchObject({ status: 200 })
    expect(await ask({ message: `0x${'00'.repeat(13_000)}` })).toEqual(error('INVALID_PARAM', 'message'))
    expect((await ask({ relayer: STRANGER })).body).toMatchObject({
      code: 'INVALID_PARAM',
      param: 'relayer',
      message: expect.stringContaining("doesn't have enough funds"),
    })
  })

  test('other methods', async () => {
    expect(await get('suggested-fees', tether(), { method: 'PUT' })).toEqual(error('INVALID_METHOD'))
  })

  test('everything, as a fault of its own, while a chain does not answer', async () => {
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

describe('limits and routes', () => {
  test('the limits are those of the fees', async () => {
    const limits = await get('limits', tether())
    expect(limits.body).toEqual((await get('suggested-fees', { ...tether(), amount: '5000000' })).body.limits)
    const carrying = await post('limits', { ...withMessage(), amount: '5000000' }, tether())
    expect(carrying.body.minDeposit).toBe('480769')
    expect(await get('limits', { ...tether(), ...withMessage() })).toMatchObject({
      status: 400,
      body: { code: 'MISSING_PARAM', param: 'amount' },
    })
  })

  test('the routes are those between the tokens of one symbol, by any of their fields', async () => {
    const { origin, destination } = bridge
    const { body: all } = await get('available-routes')
    expect(all).toHaveLength(4)
    expect(all).toContainEqual({
      originChainId: 8453,
      originToken: origin.usdc,
      destinationChainId: 56,
      destinationToken: destination.usdc,
      originTokenSymbol: 'USDC',
      destinationTokenSymbol: 'USDC',
      isNative: false,
    })
    const count = async (params: Params) => (await get('available-routes', params)).body.length
    expect(await count({ originChainId: '8453' })).toBe(2)
    expect(await count({ originChainId: '8453', destinationToken: destination.usdt.toLowerCase() })).toBe(1)
    expect(await count({ originTokenSymbol: 'usdc', destinationChainId: '56' })).toBe(1)
    expect(await count({ destinationChainId: '1' })).toBe(0)
  })
})

describe('the status of a deposit', () => {
  const statusOf = (params: Params) => get('deposit/status', params)

  test('is pending, then filled, by its transaction, its id or its hash', async () => {
    const { relayer } = bridge
    const deposit = await bridge.deposit()
    const hash = deposit.transactionHash
    const pending = await statusOf({ depositTxnRef: hash })
    expect(pending).toEqual({
      status: 200,
      body: {
        status: 'pending',
        originChainId: 8453,
        depositId: deposit.depositId.toString(),
        depositTxHash: hash,
        depositTxnRef: hash,
        fillTx: null,
        fillTxnRef: null,
        destinationChainId: 56,
        depositRefundTxHash: null,
        depositRefundTxnRef: null,
        actionsSucceeded: null,
        pagination: { currentIndex: 0, maxIndex: 0 },
      },
    })
    const fill = await relayer.fill(deposit)
    const asked = [
      { depositTxHash: hash },
      { originChainId: '8453', depositId: deposit.depositId.toString() },
      { relayDataHash: relayHashOf(deposit) },
    ]
    for (const params of asked) {
      expect((await statusOf(params)).body).toMatchObject({ status: 'filled', fillTx: fill, fillTxnRef: fill })
    }
  })

  test('is asked for, filled slowly, expired or refunded', async () => {
    const { relayer } = bridge
    const [slow, late] = [
      await bridge.deposit({ message: '0x12', recipient: BOB }),
      await bridge.deposit({ deadlineIn: 50 }),
    ]
    const [ofSlow, ofLate] = [slow, late].map(({ transactionHash }) => ({ depositTxnRef: transactionHash }))
    if (!ofSlow || !ofLate) throw new Error('No deposits')
    await relayer.requestSlowFill(slow)
    expect((await statusOf(ofSlow)).body.status).toBe('slowFillRequested')
    await relayer.executeSlowFill(slow, 5n)
    // The indexer says nothing of the actions of a slow fill.
    expect((await statusOf(ofSlow)).body).toMatchObject({ status: 'slowFilled', actionsSucceeded: null })
    await relayer.advance(100)
    expect((await statusOf(ofLate)).body.status).toBe('expired')
    const refund = await relayer.refund(late)
    expect((await statusOf(ofLate)).body).toMatchObject({ status: 'refunded', depositRefundTxnRef: refund })
  })

  test('says whether the actions succeeded, and blames the wrong deposit of a batch, as the real one does', async () => {
    const { destination, relayer } = bridge
    const { handler, usdc } = destination
    const carrying = (amount: bigint) =>
      bridge.deposit({ recipient: handler, message: messageOf([callOf(usdc, transferOf(BOB, amount))], ALICE) })
    const succeeded = async ({ transactionHash }: { transactionHash: string }) =>
      (await statusOf({ depositTxnRef: transactionHash })).body.actionsSucceeded
    const [fine, failing] = [await carrying(1n), await carrying(10n ** 30n)]
    await relayer.fillAll()
    expect([await succeeded(fine), await succeeded(failing)]).toEqual([true, false])
    const batch = [await carrying(1n), await carrying(10n ** 30n)] as const
    await relayer.fillTogether(batch)
    expect([await succeeded(batch[0]), await succeeded(batch[1])]).toEqual([false, true])
  })

  test('is refused without a deposit to speak of', async () => {
    const { transactionHash } = await bridge.deposit()
    expect(await statusOf({})).toMatchObject({ status: 400, body: { error: 'IncorrectQueryParamsException' } })
    expect(await statusOf({ depositId: '1' })).toMatchObject({ status: 400 })
    expect(await statusOf({ depositTxnRef: `0x${'00'.repeat(32)}` })).toMatchObject({
      status: 404,
      body: { error: 'DepositNotFoundException' },
    })
    expect(await statusOf({ depositTxnRef: transactionHash, index: '1' })).toMatchObject({
      status: 400,
      body: { error: 'IndexParamOutOfRangeException' },
    })
  })
})

describe('a rewritten answer', () => {
  const ask = (init: RequestInit = {}) =>
    fetch(`${providers.url}/api/suggested-fees?${new URLSearchParams({ ...tether(), amount: '5000000' })}`, init)

  test('lies as it is told to', async () => {
    providers.acrossApi.rewrite = (reply, { url }) => ({
      ...reply,
      body: { ...Object(reply.body), spokePoolAddress: RELAYER, asked: url.searchParams.get('amount') },
    })
    expect(await (await ask()).json()).toMatchObject({
      spokePoolAddress: RELAYER,
      asked: '5000000',
      isAmountTooLow: false,
    })
  })

  test('is a failure, text that is no JSON, late, or none', async () => {
    const { acrossApi } = providers
    acrossApi.rewrite = () => ({ status: 500, body: 'Internal Server Error', contentType: 'text/plain' })
    expect([(await ask()).status, await (await ask()).text()]).toEqual([500, 'Internal Server Error'])
    acrossApi.rewrite = () => ({ status: 200, body: '<html></html>', contentType: 'text/html' })
    const page = await ask()
    expect([page.headers.get('content-type'), await page.text()]).toEqual(['text/html', '<html></html>'])
    acrossApi.rewrite = async (reply) => {
      await sleep(200)
      return reply
    }
    await expect(ask({ signal: AbortSignal.timeout(50) })).rejects.toThrow('aborted due to timeout')
    acrossApi.rewrite = () => 'hang up'
    await expect(ask()).rejects.toThrow('fetch failed')
    acrossApi.rewrite = undefined
    expect((await ask()).status).toBe(200)
  })
})

test('what no provider answers is not found', async () => {
  expect((await fetch(`${providers.url}/api/swap/approval`)).status).toBe(404)
  expect((await fetch(`${providers.url}/`)).status).toBe(404)
})
