import { setTimeout } from 'node:timers/promises'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2, Context } from 'aws-lambda'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { Amount, UserAddress, VaultAddress } from '../../../lib/core/codecs.ts'
import { AppError } from '../../../lib/core/errors.ts'
import { field } from '../../../lib/core/field.ts'
import { createCallerLookup } from '../../../lib/frame/callers.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { endpoint, openEndpoint } from '../../../lib/frame/endpoint.ts'
import { type Services, version } from '../../../lib/services.ts'
import { createSigningKey, publicKeyOf, signerOf } from '../../../lib/signing/keys.ts'
import { createSignerReader } from '../../../lib/signing/secret.ts'
import { expectError } from '../../support/errors.ts'
import { isSignedBy } from '../../support/http-signatures.ts'
import { someContext, someEvent } from '../../support/lambda.ts'
import { captureLogs } from '../../support/logs.ts'

vi.mock('../../../lib/frame/callers.ts')
vi.mock('../../../lib/signing/secret.ts')

const contract = {
  method: 'POST',
  path: '/things/{thing}',
  title: 'Do something',
  summary: 'Does something with a thing.',
  tag: 'System',
  caller: 'anyone',
  uses: { version: true },
  request: {
    path: z.object({ thing: VaultAddress }),
    query: z.object({ userAddress: UserAddress.optional() }),
    body: z.strictObject({ amount: field(Amount, 'missing_or_invalid_amount') }),
  },
  response: z.object({ amount: Amount, parts: z.array(z.object({ name: z.string() })) }),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Nothing.',
} as const satisfies EndpointContract

const THING = '0x00000000000000000000000000000000000000A1'
const EVENT = { pathParameters: { thing: THING }, body: '{"amount":"5"}' }
const REPLY = { amount: 5n, parts: [] }

type Handler = (event: APIGatewayProxyEventV2, context: Context) => Promise<APIGatewayProxyStructuredResultV2>

async function invoke(handler: Handler, event: Partial<APIGatewayProxyEventV2> = {}, context = someContext()) {
  const sent = someEvent('POST', `/things/${THING}`, { ...EVENT, ...event })
  const { statusCode = 0, headers, body = '' } = await handler(sent, context)
  const requestId = sent.requestContext.requestId
  return {
    status: statusCode,
    headers: new Headers(headers as Record<string, string>),
    body: JSON.parse(body),
    requestId,
  }
}

beforeEach(() => {
  vi.stubEnv('CLIENTS_TABLE', 'clients')
  vi.stubEnv('CACHE_TABLE', 'unused')
  vi.stubEnv('SERVICE_VERSION', '1.2.3')
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
})

describe('A request', () => {
  test('reaches the implementation parsed, and its reply is encoded', async () => {
    const run = vi.fn(async () => REPLY)
    const handler = openEndpoint(contract, { version }, () => run)
    const reply = await invoke(handler, { queryStringParameters: { userAddress: THING.toLowerCase(), more: 'x' } })
    expect(reply).toMatchObject({ status: 200, body: { amount: '5', parts: [] } })
    expect(reply.headers.get('x-request-id')).toBe(reply.requestId)
    expect(reply.headers.get('cache-control')).toBe('no-store')
    expect(run).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({
        path: { thing: THING },
        query: { userAddress: THING },
        body: { amount: 5n },
        requestContext: expect.objectContaining({
          http: expect.objectContaining({ method: 'POST', path: `/things/${THING}`, sourceIp: '192.0.2.1' }),
        }),
      }),
    )
  })

  test('without parameters and body, as API Gateway omits them, lacks the required fields', async () => {
    const handler = openEndpoint(contract, { version }, () => async () => REPLY)
    const nothing = { pathParameters: undefined, queryStringParameters: undefined, body: undefined }
    const reply = await invoke(handler, nothing as unknown as Partial<APIGatewayProxyEventV2>)
    expectError(reply, 'missing_or_invalid_vault_address', ['thing', 'amount'])
    const nulls = { pathParameters: null, queryStringParameters: null, body: null }
    const other = await invoke(handler, nulls as unknown as Partial<APIGatewayProxyEventV2>)
    expectError(other, 'missing_or_invalid_vault_address', ['thing', 'amount'])
  })

  test('in base64 is decoded', async () => {
    const handler = openEndpoint(contract, { version }, () => async ({ body }) => ({ ...REPLY, amount: body.amount }))
    const body = Buffer.from('{"amount":"7"}').toString('base64')
    expect(await invoke(handler, { body, isBase64Encoded: true })).toMatchObject({ status: 200, body: { amount: '7' } })
  })

  test('initialises the container once, even if several arrive in parallel', async () => {
    const build = vi.fn((_: Services<'version'>) => async () => REPLY)
    const handler = openEndpoint(contract, { version }, build)
    await Promise.all([invoke(handler), invoke(handler)])
    await invoke(handler)
    expect(build).toHaveBeenCalledExactlyOnceWith({ version: '1.2.3' })
  })
})

describe('The caller', () => {
  const clientContract = { ...contract, caller: 'client' } as const satisfies EndpointContract
  const client = { clientId: 'AbCdE01234', name: 'Some wallet', createdAt: new Date(), vaults: [] }

  test('is passed to the implementation', async () => {
    const run = vi.fn(async () => REPLY)
    vi.mocked(createCallerLookup).mockReturnValue(async () => ({ client }))
    const handler = endpoint(clientContract, {}, () => run)
    await invoke(handler)
    expect(run).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ client }))
  })

  test('is identified before the request is parsed, and while the container starts', async () => {
    const started = Promise.withResolvers<void>()
    const lookupStarted = Promise.withResolvers<void>()
    const run = vi.fn(async () => REPLY)
    const slow = async () => {
      started.resolve()
      await lookupStarted.promise
    }
    vi.mocked(createCallerLookup).mockReturnValue(async () => {
      lookupStarted.resolve()
      await started.promise
      return { client }
    })
    const handler = endpoint(clientContract, { slow }, () => run)
    const context = someContext({ remainingMs: 2_000 })
    expectError(await invoke(handler, { body: 'not JSON' }, context), 'invalid_json')
    expect(await invoke(handler)).toMatchObject({ status: 200 })
    expect(run).toHaveBeenCalledOnce()
  })

  test.for<[string, () => Promise<never>]>([
    ['never starts', () => new Promise(() => {})],
    ['cannot start', () => Promise.reject(new Error('the secret hunter2 cannot be read'))],
  ])('gets its refusal even if the container %s', async ([, build]) => {
    vi.mocked(createCallerLookup).mockReturnValue(async () => {
      await setTimeout(20)
      throw new AppError('invalid_api_key')
    })
    const handler = endpoint(clientContract, { build }, () => async () => REPLY)
    expectError(await invoke(handler, { body: 'not JSON' }, someContext({ remainingMs: 2_000 })), 'invalid_api_key')
  })
})

describe('A reply', () => {
  test('has only fields that the contract declares, at any depth', async () => {
    const secret = { hunter2: 'hunter2' }
    const handler = openEndpoint(contract, { version }, () => async () => ({
      ...REPLY,
      parts: [{ name: 'part', ...secret }],
      ...secret,
    }))
    const { body } = await invoke(handler)
    expect(body).toEqual({ amount: '5', parts: [{ name: 'part' }] })
  })

  test.for<[string, unknown]>([
    ['lacks a field', { amount: 5n }],
    ['has a field of another type', { amount: 'hunter2', parts: [] }],
    ['has an invalid amount', { amount: -5n, parts: [] }],
    ['is undefined', undefined],
  ])('that %s is not sent', async ([, reply]) => {
    const handler = openEndpoint(contract, { version }, () => async () => reply as typeof REPLY)
    expectError(await invoke(handler), 'internal')
  })
})

describe('A public reply', () => {
  const cacheableContract = {
    ...contract,
    method: 'GET',
    request: {},
    response: z.object({ name: z.string() }),
    cacheControl: 'public, max-age=60',
  } as const satisfies EndpointContract
  const LONG = { name: 'long '.repeat(300) }
  const open = (reply = LONG) => openEndpoint(cacheableContract, { version }, () => async () => reply)
  const ask = (handler: Handler, headers: Record<string, string> = {}, method = 'GET') =>
    handler(someEvent(method, '/things', { headers }), someContext())
  const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = { br: brotliDecompressSync, gzip: gunzipSync }

  test.for([
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['GZIP ; Q=0.001', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *;q=0.5', 'gzip'],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
  ] as const)('is compressed if the caller accepts %s', async ([accepted, coding]) => {
    const { body = '', headers, isBase64Encoded } = await ask(open(), { 'accept-encoding': accepted })
    expect(isBase64Encoded).toBe(true)
    expect(headers).toMatchObject({ 'content-encoding': coding, vary: 'origin, accept-encoding' })
    const bytes = Buffer.from(body, 'base64')
    expect(bytes.length).toBeLessThan(100)
    expect(JSON.parse(`${DECODERS[coding]?.(bytes)}`)).toEqual(LONG)
  })

  test.for([
    undefined,
    '',
    'identity',
    'deflate, zstd',
    'gzip;q=0, br;q=0.000',
    '*;q=0',
    'gzip;q=high',
    'gzip;q=0.4, identity;q=0.5',
    'identity;q=0',
  ])('is not compressed if the caller accepts %s', async (accepted) => {
    const reply = await ask(open(), accepted === undefined ? {} : { 'accept-encoding': accepted })
    expect(reply.body).toBe(JSON.stringify(LONG))
    expect(reply.headers).toMatchObject({ vary: 'origin, accept-encoding' })
    expect(reply.headers).not.toHaveProperty('content-encoding')
    expect(reply).not.toHaveProperty('isBase64Encoded')
  })

  test('is not compressed below a kilobyte, and neither is an error', async () => {
    const compressing = { 'accept-encoding': 'gzip' }
    expect((await ask(open({ name: 'short' }), compressing)).body).toBe('{"name":"short"}')
    const details = Array.from({ length: 100 }, (_, i) => ({ field: `${i}`, issue: 'is required' }))
    const failing = openEndpoint(cacheableContract, { version }, () => async () => {
      throw new AppError('invalid_json', { details })
    })
    expect(JSON.parse((await ask(failing, compressing)).body ?? '')).toMatchObject({ code: 'invalid_json', details })
  })

  test('is not sent again to a caller that has it, compressed or not', async () => {
    const handler = open()
    const { headers: responseHeaders } = await ask(handler, { 'accept-encoding': 'gzip' })
    const tag = String(responseHeaders?.['etag'])
    expect(tag).toMatch(/^W\/"[\w-]{22}"$/)
    expect((await ask(handler)).headers).toMatchObject({ etag: tag })
    for (const etag of [tag, tag.slice(2), `"other", ${tag}`, '*']) {
      const { statusCode, headers, body } = await ask(handler, { 'if-none-match': etag, 'accept-encoding': 'br' })
      expect([statusCode, body]).toEqual([304, undefined])
      expect(headers).toMatchObject({
        etag: tag,
        'cache-control': 'public, max-age=60',
        vary: 'origin, accept-encoding',
      })
      expect(headers).not.toHaveProperty('content-encoding')
    }
    const other = await ask(open({ name: 'another' }), { 'if-none-match': tag })
    expect([other.statusCode, other.headers?.['etag'] === tag]).toEqual([200, false])
  })

  test('has no ETag if it may not be stored', async () => {
    const handler = openEndpoint(
      { ...cacheableContract, cacheControl: 'no-store' },
      { version },
      () => async () => LONG,
    )
    const { statusCode, headers } = await ask(handler, { 'if-none-match': '*', 'accept-encoding': 'gzip' })
    expect(statusCode).toBe(200)
    expect(headers).toMatchObject({ vary: 'accept-encoding', 'content-encoding': 'gzip' })
    expect(headers).not.toHaveProperty('etag')
  })

  test('to HEAD has only headers', async () => {
    const reply = await ask(open(), { 'accept-encoding': 'gzip' }, 'HEAD')
    expect(reply.headers).toMatchObject({ 'content-encoding': 'gzip' })
    expect([reply.body, reply.isBase64Encoded]).toEqual([undefined, undefined])
  })

  test('is encoded and compressed once per object', async () => {
    const encodings = vi.fn((name: string) => name)
    const name = z.codec(z.string(), z.string(), { decode: (text) => text, encode: encodings })
    const reply = { ...LONG }
    const handler = openEndpoint(
      { ...cacheableContract, response: z.object({ name }) },
      { version },
      () => async () => reply,
    )
    const accepted = ['gzip', 'gzip', 'br', 'identity']
    const replies = await Promise.all(accepted.map((one) => ask(handler, { 'accept-encoding': one })))
    expect(encodings).toHaveBeenCalledTimes(1)
    expect(replies[0]?.body).toBe(replies[1]?.body)
  })
})

describe('A signed reply', () => {
  const key = createSigningKey(new Date())
  const { body: _, ...request } = contract.request
  const signed = {
    ...contract,
    tag: 'Vaults',
    request: { ...request, path: z.object({ thing: field(z.string(), 'vault_not_found') }) },
  } as const satisfies EndpointContract
  const handle = (run: () => Promise<z.output<typeof contract.response>>) => {
    vi.stubEnv('SIGNING_SECRET', 'signing')
    vi.mocked(createCallerLookup).mockReturnValue(async () => ({}))
    return endpoint(signed, {}, () => run)
  }

  test('is never compressed, and an error in its place is not signed', async () => {
    vi.mocked(createSignerReader).mockReturnValue(async () => signerOf(key))
    const long = { ...REPLY, parts: [{ name: 'long '.repeat(300) }] }
    const accepting = { headers: { 'accept-encoding': 'gzip, br' } }
    const { headers, body } = await invoke(
      handle(async () => long),
      accepting,
    )
    expect(headers.has('content-encoding')).toBe(false)
    const request = { method: 'POST', url: `https://api.example/things/${THING}`, headers: {} }
    const response = { status: 200, headers: Object.fromEntries(headers) }
    expect(await isSignedBy(publicKeyOf(key), { request, response }, JSON.stringify(body))).toBe(true)
    const failed = await invoke(handle(async () => Promise.reject(new AppError('vault_is_paused'))))
    expectError(failed, 'vault_is_paused')
    expect(failed.headers.has('signature')).toBe(false)
  })

  test('is an error if the keys cannot be read, and unsigned if there is no key yet', async () => {
    const unreachable = Object.assign(new Error('no such secret'), { $metadata: {} })
    vi.mocked(createSignerReader).mockReturnValue(() => Promise.reject(unreachable))
    expectError(await invoke(handle(async () => REPLY)), 'service_unavailable')
    vi.mocked(createSignerReader).mockReturnValue(async () => undefined)
    const { status, headers } = await invoke(handle(async () => REPLY))
    expect([status, headers.has('signature')]).toEqual([200, false])
  })

  test.for(['/things/a thing', '/things/a%thing', '/things/a"thing', '/things/ä'])(
    'is an error for the ambiguous path %s, and the implementation does not run',
    async (rawPath) => {
      vi.mocked(createSignerReader).mockReturnValue(async () => signerOf(key))
      const run = vi.fn(async () => REPLY)
      expectError(await invoke(handle(run), { rawPath }), 'invalid_path')
      expect(run).not.toHaveBeenCalled()
    },
  )
})

describe('A failure', () => {
  test.for<[string, unknown]>([
    ['an Error', new Error('hunter2 at https://node.example/hunter2')],
    ['a TypeError', new TypeError("Cannot read properties of undefined (reading 'hunter2')")],
    [
      'an Error that looks like an AppError',
      Object.assign(new Error('hunter2'), { statusCode: 418, code: 'vault_not_found' }),
    ],
    ['a text', 'hunter2'],
    ['nothing', undefined],
    ['an object', { hunter2: 'hunter2' }],
  ])('that is %s hides internal details', async ([, thrown]) => {
    const handler = openEndpoint(contract, { version }, () => async () => {
      throw thrown
    })
    expectError(await invoke(handler), 'internal')
  })

  test('that is an AppError has its own text, and never its cause', async () => {
    const handler = openEndpoint(contract, { version }, () => async () => {
      throw new AppError('upstream_unavailable', { cause: new Error('hunter2') })
    })
    expectError(await invoke(handler), 'upstream_unavailable')
  })

  test('of one request does not affect the next', async () => {
    const run = vi.fn(async () => REPLY).mockRejectedValueOnce(new Error('once'))
    const handler = openEndpoint(contract, { version }, () => run)
    expectError(await invoke(handler), 'internal')
    expect(await invoke(handler)).toMatchObject({ status: 200 })
  })
})

describe('A misconfigured function', () => {
  test.for<[string, string | undefined]>([
    ['a setting missing', undefined],
    ['a setting empty', ''],
  ])('with %s returns 500 to every request, and works after the repair', async ([, value]) => {
    vi.stubEnv('SERVICE_VERSION', value)
    const build = vi.fn(() => async () => REPLY)
    const handler = openEndpoint(contract, { version }, build)
    const reply = await invoke(handler)
    expectError(reply, 'internal')
    expect(JSON.stringify(reply.body)).not.toContain('SERVICE_VERSION')
    expect(build).not.toHaveBeenCalled()

    vi.stubEnv('SERVICE_VERSION', '1.2.3')
    expect(await invoke(handler)).toMatchObject({ status: 200 })
  })

  test('whose services cannot be built tries again with the next request', async () => {
    const part = vi.fn(version).mockImplementationOnce(() => {
      throw new Error('the secret hunter2 cannot be read')
    })
    const handler = openEndpoint(contract, { part }, () => async () => REPLY)
    expectError(await invoke(handler), 'internal')
    expect(await invoke(handler)).toMatchObject({ status: 200 })
  })
})

describe('A request that takes too long', () => {
  test('gets its error before Lambda ends it', async () => {
    const handler = openEndpoint(contract, { version }, () => () => new Promise(() => {}))
    expectError(await invoke(handler, {}, someContext({ remainingMs: 600 })), 'timed_out')
  })

  test('gets its error even while the caller is being identified', async () => {
    const clientContract = { ...contract, caller: 'client' } as const satisfies EndpointContract
    vi.mocked(createCallerLookup).mockReturnValue(() => new Promise(() => {}))
    const handler = endpoint(clientContract, {}, () => async () => REPLY)
    expectError(await invoke(handler, {}, someContext({ remainingMs: 600 })), 'timed_out')
  })

  test('does not delay the next one', async () => {
    const run = vi.fn(async () => REPLY).mockImplementationOnce(() => new Promise(() => {}))
    const handler = openEndpoint(contract, { version }, () => run)
    expectError(await invoke(handler, {}, someContext({ remainingMs: 600 })), 'timed_out')
    expect(await invoke(handler)).toMatchObject({ status: 200 })
  })
})

describe('The log', () => {
  const throwing = (thrown: unknown) =>
    openEndpoint(contract, { version }, () => async () => {
      throw thrown
    })

  test.for<[string, Handler, Partial<APIGatewayProxyEventV2>, number]>([
    ['that succeeds', openEndpoint(contract, { version }, () => async () => REPLY), {}, 200],
    ['that is refused', openEndpoint(contract, { version }, () => async () => REPLY), { body: 'no' }, 400],
    ['that fails', throwing(new Error('broken')), {}, 500],
    ['that throws an AppError', throwing(new AppError('upstream_timeout')), {}, 504],
  ])('has one line for a request %s: its id, route, status and duration', async ([, handler, event, status]) => {
    const { lines } = captureLogs()
    const { requestId } = await invoke(handler, event)
    const requests = lines.filter(({ message }) => message === 'request')
    expect(requests).toMatchObject([{ level: 'INFO', requestId, status, milliseconds: expect.any(Number) }])
    expect(lines.every((line) => line['requestId'] === requestId)).toBe(true)
  })

  test('has one line for a request that takes too long', async () => {
    const { lines } = captureLogs()
    const { requestId } = await invoke(
      openEndpoint(contract, { version }, () => () => new Promise(() => {})),
      {},
      someContext({ remainingMs: 600 }),
    )
    expect(lines.filter(({ message }) => message === 'request')).toMatchObject([{ requestId, status: 504 }])
  })

  test('has the cause of an internal failure', async () => {
    const { lines, text } = captureLogs()
    const { requestId } = await invoke(throwing(new Error('the very reason')))
    const errors = lines.filter(({ level }) => level === 'ERROR')
    expect(errors).toMatchObject([{ requestId }])
    expect(text()).toContain('the very reason')
    expect(text()).toContain('endpoint.test.ts')
  })

  test('has the code of an AppError as a warning', async () => {
    const { lines } = captureLogs()
    await invoke(throwing(new AppError('upstream_unavailable', { cause: new Error('HTTP status 500') })))
    expect(lines.filter(({ level }) => level !== 'INFO')).toMatchObject([
      { level: 'WARN', code: 'upstream_unavailable', cause: 'HTTP status 500' },
    ])
  })

  test('keeps nothing of one request for the next', async () => {
    const { lines } = captureLogs()
    const handler = openEndpoint(contract, { version }, () => async () => REPLY)
    const ids = [await invoke(handler), await invoke(handler)].map(({ requestId }) => requestId)
    expect(lines.map((line) => line['requestId'])).toEqual(ids)
  })

  test('has neither body nor headers of a refused request', async () => {
    const { text } = captureLogs()
    const handler = openEndpoint(contract, { version }, () => async () => REPLY)
    const headers = { 'x-join-key': 'jk_hunter2', authorization: 'Bearer hunter2', cookie: 'hunter2' }
    for (const body of ['hunter2', '{"amount":"hunter2"}', '"hunter2', '{hunter2@example.com}', '{"amount":hunter2}']) {
      expect(await invoke(handler, { headers, body })).toMatchObject({ status: 400 })
    }
    expect(text()).not.toContain('hunter2')
  })
})
