import fc from 'fast-check'
import { type Address, getAddress, zeroAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { createAcross, type Quote } from '../../../lib/bridge/across.ts'
import { BridgeApi } from '../../../lib/bridge/apis.ts'
import { type BridgeRequest, encodeMessage } from '../../../lib/bridge/calldata.ts'
import { agreeTerms, type Clocks, computeQuoteExpiry } from '../../../lib/bridge/terms.ts'
import { max } from '../../../lib/core/bigint.ts'
import { AppError, type ErrorCode } from '../../../lib/core/errors.ts'
import { createUpstream } from '../../../lib/core/http.ts'
import { OPERATIONS } from '../../../lib/protocols/operations.ts'
import { someVault } from '../../support/clients.ts'
import { catchError, catchErrorCode } from '../../support/errors.ts'
import { HANDLER } from '../../support/oracles.ts'
import { scaleSampleCount } from '../../support/runs.ts'

const [requestDeposit] = OPERATIONS.lagoon.deposits

const POOL: Address = '0xe35e9842fceaCA96570B734083f4a58e8F7C5f2A'
const INPUT: Address = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'
const OUTPUT: Address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const MINUTE = 60
const NOW = 1_795_132_800

function someRequest({ inputAmount = 50_000_000n, inputDecimals = 6, outputDecimals = 6 } = {}) {
  const destinationPool: Address = '0x09aea4b2242abC8bb4BB78D537A67a245A7bEC64'
  return {
    account: getAddress('0x15d34aaf54267db7d7c367839aaf71a00a2c6a65'),
    route: {
      source: { chainId: 42161, pool: POOL, handler: HANDLER, token: INPUT, decimals: inputDecimals },
      destination: { chainId: 8453, pool: destinationPool, handler: HANDLER, token: OUTPUT, decimals: outputDecimals },
    },
    inputAmount,
    deposit: { vault: someVault({ asset: OUTPUT }), operation: requestDeposit },
  } satisfies BridgeRequest
}

describe('A quote', () => {
  /** Converts an amount to 36 decimals, more than any token has. Amounts of different tokens are then comparable. */
  const worth = (amount: bigint, decimals: number) => amount * 10n ** BigInt(36 - decimals)

  const anyDecimals = fc.constantFrom(0, 2, 6, 8, 18, 27)
  const near = (amount: bigint) =>
    fc.bigInt({ min: -2n, max: 2n }).map((step) => (amount + step > 0n ? amount + step : 0n))

  /** Input and output amounts. Many are close to the limits of what the service accepts. */
  const anyAmounts = fc
    .record({
      inputAmount: fc.oneof(fc.bigInt({ min: 1n, max: 10n ** 30n }), fc.bigInt({ min: 1n, max: 100n })),
      inputDecimals: anyDecimals,
      outputDecimals: anyDecimals,
    })
    .chain((request) => {
      const { inputAmount, inputDecimals, outputDecimals } = request
      const whole = (inputAmount * 10n ** BigInt(outputDecimals)) / 10n ** BigInt(inputDecimals)
      const output = fc.oneof(
        { arbitrary: near(whole), weight: 3 },
        { arbitrary: near((whole * 9n) / 10n), weight: 3 },
        { arbitrary: fc.bigInt({ min: 0n, max: 2n * whole + 2n }), weight: 2 },
        { arbitrary: fc.constantFrom(-1n, 0n, inputAmount, 2n ** 256n - 1n), weight: 1 },
      )
      const limits = fc.record({
        min: fc.oneof({ arbitrary: fc.constant(0n), weight: 8 }, near(inputAmount), near(inputAmount / 10n)),
        max: fc.oneof({ arbitrary: fc.constant(2n ** 256n), weight: 8 }, near(inputAmount)),
      })
      return fc.tuple(fc.constant(request), output, limits)
    })

  const mostly = (usual: number, ...others: number[]) =>
    fc.oneof({ arbitrary: fc.constant(usual), weight: 10 }, fc.constantFrom(...others))
  /** Times of a quote. Many are valid, and many are close to a limit. */
  const anyTimes = fc
    .record({
      source: fc.integer({ min: NOW - 1_000, max: NOW + 1_000 }),
      destination: fc.integer({ min: NOW - 4_000, max: NOW + 4_000 }),
      quoteTimeBuffer: mostly(60 * MINUTE, 0, 30 * MINUTE, 120 * MINUTE),
      fillDeadlineBuffer: mostly(360 * MINUTE, 0, 45 * MINUTE),
    })
    .chain((clocks) => {
      const { source, destination, quoteTimeBuffer, fillDeadlineBuffer } = clocks
      const edge = (...times: number[]) =>
        fc.tuple(fc.constantFrom(...times), fc.integer({ min: -1, max: 1 })).map(([time, step]) => time + step)
      return fc.tuple(
        fc.constant(clocks),
        fc.oneof(
          { arbitrary: fc.integer({ min: source - 30 * MINUTE, max: source }), weight: 5 },
          edge(source, source + MINUTE, source - quoteTimeBuffer, source - quoteTimeBuffer + 30 * MINUTE),
          fc.constantFrom(0, 2 ** 32 - 1),
        ),
        fc.oneof(
          { arbitrary: fc.integer({ min: source + 90 * MINUTE, max: source + 300 * MINUTE }), weight: 5 },
          edge(source + fillDeadlineBuffer, source + 45 * MINUTE, destination + 30 * MINUTE, source),
          fc.constantFrom(0, 2 ** 32 - 1),
        ),
      )
    })

  const isPossible = (inputWorth: bigint, outputWorth: bigint) => outputWorth > 0n && outputWorth <= inputWorth
  const isFair = (inputWorth: bigint, outputWorth: bigint) =>
    isPossible(inputWorth, outputWorth) && (inputWorth - outputWorth) * 10n <= inputWorth
  const isTimely = (clocks: Clocks, quoteTimestamp: number, fillDeadline: number) => {
    const { source, destination, quoteTimeBuffer, fillDeadlineBuffer } = clocks
    const quotedAt = Math.min(quoteTimestamp, source)
    const lastMoment = Math.min(quotedAt + quoteTimeBuffer, fillDeadline - 15 * MINUTE)
    return (
      // The pool accepts the quote's time and fill deadline. The quote may be a minute ahead of the source chain's
      // clock.
      quoteTimestamp - source <= MINUTE &&
      source - quoteTimestamp <= quoteTimeBuffer &&
      fillDeadline - source <= fillDeadlineBuffer &&
      // The user has at least half an hour to send the deposit, and relayers have at least half an hour to fill it.
      lastMoment - source >= 30 * MINUTE &&
      fillDeadline - destination >= 30 * MINUTE
    )
  }
  const nobody = { exclusiveRelayer: zeroAddress, exclusivityParameter: 0 } as const
  const goodTimes = { quoteTimestamp: NOW - 5 * MINUTE, fillDeadline: NOW + 115 * MINUTE, expectedFillSeconds: 3 }
  const goodClocks = { source: NOW, destination: NOW, quoteTimeBuffer: 60 * MINUTE, fillDeadlineBuffer: 360 * MINUTE }

  test('is accepted within its limits, with an output between 90 and 100 percent of the input', () => {
    fc.assert(
      fc.property(anyAmounts, ([request, outputAmount, limits]) => {
        const { inputAmount, inputDecimals, outputDecimals } = request
        const quote: Quote = { ...goodTimes, ...nobody, outputAmount, limits }
        const worths = [worth(inputAmount, inputDecimals), worth(outputAmount, outputDecimals)] as const
        const expected =
          inputAmount < limits.min
            ? 'amount_too_low_for_bridge'
            : inputAmount > limits.max
              ? 'amount_too_high_for_bridge'
              : isFair(...worths)
                ? undefined
                : isPossible(...worths) && inputAmount < limits.min * 10n
                  ? 'amount_too_low_for_bridge'
                  : 'upstream_bad_answer'
        expect(catchErrorCode(() => agreeTerms(someRequest(request), quote, goodClocks))).toBe(expected)
      }),
      { numRuns: scaleSampleCount(1_500) },
    )
  })

  /**
   * Simulated bridges. Their fee is a fixed amount for gas plus at most 1 %. If the fee exceeds the amount, some
   * report an output of zero and others a negative output.
   */
  const anyBridge = fc.record({
    gas: fc.bigInt({ min: 1n, max: 10n ** 9n }),
    basisPoints: fc.bigInt({ min: 0n, max: 100n }),
    gasInLeast: fc.bigInt({ min: 2n, max: 5n }),
    most: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    tellsBelowZero: fc.boolean(),
  })
  type SomeBridge = typeof anyBridge extends fc.Arbitrary<infer T> ? T : never
  function quoteBy({ gas, basisPoints, gasInLeast, most, tellsBelowZero }: SomeBridge, inputAmount: bigint): Quote {
    const output = inputAmount - gas - (inputAmount * basisPoints) / 10_000n
    const limits = { min: (gas * gasInLeast * 10_000n) / (10_000n - basisPoints) + 1n, max: most }
    return { ...goodTimes, ...nobody, outputAmount: tellsBelowZero ? output : max(output, 0n), limits }
  }

  test('is accepted for each amount that a refusal suggests, and no suggestion exceeds the maximum', () => {
    const anyAmount = fc.oneof(fc.bigInt({ min: 1n, max: 10n ** 13n }), fc.bigInt({ min: 1n, max: 10n ** 6n }))
    fc.assert(
      fc.property(anyBridge, anyAmount, (someBridge, inputAmount) => {
        const ask = (amount: bigint) =>
          catchError(() => agreeTerms(someRequest({ inputAmount: amount }), quoteBy(someBridge, amount), goodClocks))
        const refused = ask(inputAmount)
        if (!refused) return
        expect(refused.code).toMatch(/^amount_too_(low|high)_for_bridge$/)
        const [{ field, atLeast, atMost } = {}] = refused.details ?? []
        expect(field).toBe('amount')
        const limit = atLeast ?? atMost
        if (limit !== undefined) expect(ask(BigInt(limit))).toBe(undefined)
        expect(atLeast === undefined || refused.code === 'amount_too_low_for_bridge').toBe(true)
      }),
      { numRuns: scaleSampleCount(1_500) },
    )
  })

  test.for([
    { amount: 1_000n, fee: 50_000n, min: 60_000n, most: 10n ** 12n, suggested: 720_000n },
    { amount: 60_000n, fee: 50_000n, min: 60_000n, most: 10n ** 12n, suggested: 600_000n },
    { amount: 40_000n, fee: 39_000n, min: 30_000n, most: 100_000n, suggested: undefined },
    { amount: 100n, fee: 5_000n, min: 1_000n, most: 0n, suggested: undefined },
  ])('with a fee of $fee for $amount suggests a minimum of $suggested', ({ amount, fee, min, most, suggested }) => {
    const quote = { ...goodTimes, ...nobody, outputAmount: max(amount - fee, 0n), limits: { min, max: most } }
    const refused = catchError(() => agreeTerms(someRequest({ inputAmount: amount }), quote, goodClocks))
    expect(refused?.code).toBe('amount_too_low_for_bridge')
    expect(refused?.details?.[0]?.atLeast).toBe(suggested?.toString())
  })

  test('is accepted with times that the pool takes, 30 minutes to sign and 15 minutes to fill', () => {
    fc.assert(
      fc.property(anyTimes, ([clocks, quoteTimestamp, fillDeadline]) => {
        const limits = { min: 0n, max: 2n ** 256n }
        const times = { quoteTimestamp, fillDeadline, expectedFillSeconds: 3 }
        const quote = { outputAmount: 49_900_000n, ...times, ...nobody, limits }
        const expected = isTimely(clocks, quoteTimestamp, fillDeadline) ? undefined : 'upstream_bad_answer'
        expect(catchErrorCode(() => agreeTerms(someRequest(), quote, clocks))).toBe(expected)
      }),
      { numRuns: scaleSampleCount(1_500) },
    )
  })

  test('is accepted only if both its output and its times are', () => {
    fc.assert(
      fc.property(anyAmounts, anyTimes, ([request, outputAmount], [clocks, quoteTimestamp, fillDeadline]) => {
        const limits = { min: 0n, max: 2n ** 256n }
        const times = { quoteTimestamp, fillDeadline, expectedFillSeconds: 3 }
        const quote = { outputAmount, ...times, ...nobody, limits }
        const { inputAmount, inputDecimals, outputDecimals } = request
        const passes =
          isFair(worth(inputAmount, inputDecimals), worth(outputAmount, outputDecimals)) &&
          isTimely(clocks, quoteTimestamp, fillDeadline)
        expect(catchErrorCode(() => agreeTerms(someRequest(request), quote, clocks)) === undefined).toBe(passes)
      }),
      { numRuns: scaleSampleCount(1_500) },
    )
  })

  test('leads to terms without a future time, and with at most five minutes of exclusivity', () => {
    const year = 31_536_000
    const exclusivity = fc.oneof(
      fc.constantFrom(0, 1, 299, 300, 301, year, year + 1, 2 ** 32 - 1),
      fc.integer({ min: NOW - 400, max: NOW + 400 }),
    )
    const relayer = fc.constantFrom(zeroAddress, POOL, HANDLER)
    const anyTime = fc.integer({ min: NOW - 1_000, max: NOW + MINUTE })
    fc.assert(
      fc.property(exclusivity, relayer, anyTime, (exclusivityParameter, exclusiveRelayer, quoteTimestamp) => {
        const limits = { min: 0n, max: 2n ** 256n }
        const times = { ...goodTimes, quoteTimestamp, exclusiveRelayer, exclusivityParameter }
        const terms = agreeTerms(someRequest(), { outputAmount: 49_900_000n, ...times, limits }, goodClocks)
        const { exclusiveRelayer: agreed, exclusivityParameter: agreedUntil, ...others } = terms
        const { fillDeadline } = goodTimes
        expect(others).toEqual({
          outputAmount: 49_900_000n,
          quoteTimestamp: Math.min(quoteTimestamp, NOW),
          fillDeadline,
        })
        // Converts the pool's exclusivity parameter into a time: the pool takes a large number as a time and a small
        // one as seconds from now.
        const end = (parameter: number) => (parameter > year ? parameter : parameter === 0 ? 0 : NOW + parameter)
        const isAccepted =
          exclusiveRelayer !== zeroAddress && exclusivityParameter > 0 && end(exclusivityParameter) <= NOW + 300
        expect([agreed, agreedUntil]).toEqual(isAccepted ? [exclusiveRelayer, exclusivityParameter] : [zeroAddress, 0])
        expect(end(agreedUntil)).toBeLessThanOrEqual(NOW + 300)
      }),
      { numRuns: scaleSampleCount(300) },
    )
  })

  test("expires with the pool's buffer for quotes or 15 minutes before its deadline", () => {
    fc.assert(
      fc.property(anyTimes, ([clocks, quoteTimestamp, fillDeadline]) => {
        const expiry = computeQuoteExpiry({ quoteTimestamp, fillDeadline }, clocks)
        expect(expiry).toBe(Math.min(quoteTimestamp + clocks.quoteTimeBuffer, fillDeadline - 900))
      }),
    )
  })
})

describe("The client of the bridge's API", () => {
  const API = 'https://bridge.example/api'
  const OFFER = {
    outputAmount: '49900000',
    timestamp: `${NOW}`,
    fillDeadline: `${NOW + 7200}`,
    estimatedFillTimeSec: 3,
    exclusiveRelayer: HANDLER,
    exclusivityDeadline: 3,
    isAmountTooLow: false,
    spokePoolAddress: POOL,
    inputToken: { address: INPUT, symbol: 'USDC', decimals: 6, chainId: 42161 },
    outputToken: { address: OUTPUT, symbol: 'USDC', decimals: 6, chainId: 8453 },
    limits: { minDeposit: '1200000', maxDeposit: '2000000000000' },
  }
  const CODES: readonly ErrorCode[] = [
    'upstream_bad_answer',
    'upstream_unavailable',
    'upstream_timeout',
    'amount_too_low_for_bridge',
    'amount_too_high_for_bridge',
    'cross_chain_not_available',
  ]

  const acrossOver = (fetch: typeof globalThis.fetch, apiKey?: string) => {
    const { integratorId: _, ...api } = BridgeApi.parse({ url: API, apiKey })
    const world = { fetch, random: () => 0, now: () => performance.now() }
    return createAcross(createUpstream({ ...api, name: 'Across' }, world))
  }

  const outcomeOf = (response: Response): Promise<Quote | ErrorCode> =>
    acrossOver(async () => response.clone())
      .fetchQuote(someRequest())
      .catch((error: unknown) => {
        if (error instanceof AppError) return error.code
        throw error
      })

  test('reads amounts and times to the digit', async () => {
    const time = fc.integer({ min: 0, max: 2 ** 32 - 1 })
    const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
    const numbers = fc.record({
      output: amount,
      min: amount,
      max: amount,
      quotedAt: time,
      deadline: time,
      seconds: time,
    })
    await fc.assert(
      fc.asyncProperty(numbers, async ({ output, min, max, quotedAt, deadline, seconds }) => {
        const offer = {
          ...OFFER,
          outputAmount: `${output}`,
          limits: { minDeposit: `${min}`, maxDeposit: `${max}` },
          timestamp: `${quotedAt}`,
          fillDeadline: deadline,
          estimatedFillTimeSec: seconds,
        }
        expect(await outcomeOf(Response.json(offer))).toEqual({
          outputAmount: output,
          quoteTimestamp: quotedAt,
          fillDeadline: deadline,
          exclusiveRelayer: HANDLER,
          exclusivityParameter: 3,
          expectedFillSeconds: seconds,
          limits: { min, max },
        })
      }),
    )
  })

  test('returns the value of any field exactly, or one of the known errors', async () => {
    const odd = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(
        '-1',
        '+1',
        '1.5',
        '0x10',
        '1e6',
        ' 1',
        '1 ',
        '1\n',
        '',
        '9'.repeat(79),
        '٣',
        -1,
        1.5,
        2 ** 53,
        1e300,
      ),
      fc.constantFrom(undefined, POOL, POOL.toLowerCase(), INPUT, OUTPUT, { address: POOL }, { address: OUTPUT }),
    )
    const path = fc.constantFrom<string[]>(
      ...Object.keys(OFFER).map((name) => [name]),
      ...[
        ['inputToken', 'address'],
        ['outputToken', 'address'],
        ['limits', 'minDeposit'],
        ['limits', 'maxDeposit'],
      ],
    )
    await fc.assert(
      fc.asyncProperty(path, odd, async ([name = '', inner], value) => {
        const whole = inner ? { ...(OFFER[name as 'limits'] as object), [inner]: value } : value
        const body = JSON.stringify({ ...OFFER, [name]: whole })
        const outcome = await outcomeOf(new Response(body))
        if (typeof outcome === 'string') {
          expect(CODES).toContain(outcome)
          return
        }
        // The expected values come from the sent JSON text, because JSON.stringify turns negative zero into zero.
        const said: typeof OFFER = JSON.parse(body)
        const tooLow = said.isAmountTooLow ? someRequest().inputAmount + 1n : 0n
        expect(outcome).toEqual({
          outputAmount: BigInt(said.outputAmount),
          quoteTimestamp: Number(said.timestamp),
          fillDeadline: Number(said.fillDeadline),
          exclusiveRelayer: said.exclusiveRelayer,
          exclusivityParameter: Number(said.exclusivityDeadline),
          expectedFillSeconds: said.estimatedFillTimeSec,
          // The API called this amount too low, so the minimum must be larger, whatever minimum the API reports.
          limits: { min: max(BigInt(said.limits.minDeposit), tooLow), max: BigInt(said.limits.maxDeposit) },
        })
        const { limits, quoteTimestamp, fillDeadline, expectedFillSeconds } = outcome
        for (const number of [limits.min, limits.max, quoteTimestamp, fillDeadline, expectedFillSeconds]) {
          expect(number >= 0).toBe(true)
        }
        expect(`${said.spokePoolAddress}`.toLowerCase()).toBe(POOL.toLowerCase())
        expect(`${said.inputToken.address}`.toLowerCase()).toBe(INPUT.toLowerCase())
        expect(`${said.outputToken.address}`.toLowerCase()).toBe(OUTPUT.toLowerCase())
      }),
      { numRuns: scaleSampleCount(600) },
    )
  })

  test('reports a refusal that concerns the user, and any other as upstream_bad_answer', async () => {
    const refused = (body: object, status = 400) => outcomeOf(Response.json(body, { status }))
    expect(await refused({ code: 'AMOUNT_TOO_LOW' })).toBe('amount_too_low_for_bridge')
    expect(await refused({ code: 'AMOUNT_TOO_HIGH' })).toBe('amount_too_high_for_bridge')
    expect(await refused({ code: 'INVALID_PARAM', param: 'relayer' })).toBe('amount_too_high_for_bridge')
    expect(await refused({ code: 'ROUTE_NOT_ENABLED' })).toBe('cross_chain_not_available')
    expect(await refused({ code: 'AMOUNT_TOO_LOW' }, 200)).toBe('upstream_bad_answer')
    for (const code of ['INVALID_PARAM', 'SIMULATION_ERROR', 'constructor', '__proto__', '', 7, null]) {
      expect(await refused({ code })).toBe('upstream_bad_answer')
    }
  })

  test('reports one of the known errors for any other response', async () => {
    const status = fc.constantFrom(200, 201, 400, 401, 403, 404, 418, 429, 500, 502, 503, 504)
    const body = fc.oneof(fc.string(), fc.json(), fc.constantFrom('null', '[]', '{}', '<html>', '{"code":"__proto__"}'))
    await fc.assert(
      fc.asyncProperty(status, body, async (status, body) => {
        expect(CODES).toContain(await outcomeOf(new Response(body, { status })))
      }),
      { numRuns: scaleSampleCount(500) },
    )
  })

  test('sends one request with the message of the deposit, and the key only in a header', async () => {
    const requests: { url: URL; init: RequestInit | undefined }[] = []
    const request = someRequest()
    const fetch = async (input: string | URL | Request, init?: RequestInit) => {
      requests.push({ url: new URL(input.toString()), init })
      return Response.json(OFFER)
    }
    await acrossOver(fetch, 'some-key').fetchQuote(request)
    await acrossOver(fetch).fetchQuote(request)
    const accept = 'application/json'
    expect(requests.map(({ init }) => init?.headers)).toEqual([
      { accept, authorization: 'Bearer some-key' },
      { accept },
    ])
    for (const { url } of requests) {
      expect(`${url.origin}${url.pathname}`).toBe('https://bridge.example/api/suggested-fees')
      expect(url.searchParams.get('message')).toBe(encodeMessage(request))
      expect(url.href).not.toContain('some-key')
    }
  })

  test('requests a transfer without a message if the tokens go to a wallet', async () => {
    const urls: URL[] = []
    const { account, route, inputAmount } = someRequest()
    const fetch = async (input: string | URL | Request) => {
      urls.push(new URL(input.toString()))
      return Response.json(OFFER)
    }
    await acrossOver(fetch).fetchQuote({ account, route, inputAmount })
    expect(urls.map(({ searchParams }) => Object.fromEntries(searchParams))).toEqual([
      {
        inputToken: INPUT,
        outputToken: OUTPUT,
        originChainId: '42161',
        destinationChainId: '8453',
        amount: `${inputAmount}`,
        recipient: account,
        allowUnmatchedDecimals: 'true',
        skipAmountLimit: 'true',
      },
    ])
  })
})

describe('The configuration of the bridge', () => {
  test('defaults to the real API, without a key and an integrator id', () => {
    expect(BridgeApi.parse({})).toEqual({
      url: 'https://app.across.to/api',
      headers: {},
    })
  })

  test('takes an integrator id of two bytes in hex', () => {
    expect(BridgeApi.parse({ integratorId: '0x00c4' }).integratorId).toBe('0x00c4')
    for (const integratorId of ['00c4', '0x00C4', '0xc4', '0x00c4aa', '0x', '', '0x00c4\n', 'x0x00c4', 196]) {
      expect(BridgeApi.safeParse({ integratorId }).success).toBe(false)
    }
  })

  test('refuses an empty key and an invalid URL', () => {
    expect(BridgeApi.safeParse({ apiKey: '' }).success).toBe(false)
    expect(BridgeApi.safeParse({ url: 'across' }).success).toBe(false)
  })
})
