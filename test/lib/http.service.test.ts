import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { AppError } from '../../lib/core/errors.ts'
import { createUpstream, parseResponseBody, type UpstreamRequest } from '../../lib/core/http.ts'
import { fetchDirectly } from '../../lib/core/outbound.ts'

type Answer = (response: ServerResponse, request: IncomingMessage) => unknown

const KEY = 'hunter2'
const DEADLINE_MS = 20_000
/** Deadline in milliseconds for requests whose response must come too late. */
const SHORT_DEADLINE_MS = 500
const QUICK = { random: () => 0 }

let server: ReturnType<typeof createServer>
let origin: string
/** Replies of the local server in order. The last reply is repeated. */
let script: Answer[] = []
let requests: { line: string; headers: IncomingMessage['headers']; body: string }[] = []

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    requests.push({
      line: `${request.method} ${request.url}`,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    })
    await script[Math.min(requests.length, script.length) - 1]?.(response, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
beforeEach(() => {
  requests = []
})

const json =
  (body: unknown, status = 200): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
const status =
  (code: number, headers = {}): Answer =>
  (response) =>
    response.writeHead(code, headers).end('<html>https://inside.example/secret</html>')
const dawdle: Answer = () => sleep(10_000, undefined, { ref: false })
const hangUp: Answer = (_, request) => request.socket.destroy()
const truncate: Answer = (response) => response.end('{"prices":[1,2')
const cut: Answer = (response, request) => {
  response.writeHead(200, { 'content-length': 1000 })
  response.write('{"prices":[1,2', () => request.socket.destroy())
}
const dawdleInTheBody =
  (code: number): Answer =>
  (response) => {
    response.writeHead(code, { 'content-type': 'application/json' }).write('{"err')
    return sleep(10_000, undefined, { ref: false })
  }

const upstream = ({ url = `${origin}/v1/${KEY}`, random = Math.random, deadlineMs = DEADLINE_MS } = {}) =>
  createUpstream(
    { name: 'some service', url, headers: { 'x-key': KEY }, deadlineMs },
    { fetch: fetchDirectly, random, now: () => performance.now() },
  )
const ask = (request: UpstreamRequest = { path: '/things' }) => upstream()(request)

async function errorOf(question: Promise<unknown>): Promise<AppError> {
  const error = await question.then(
    () => new Error('It was answered'),
    (error) => error,
  )
  if (!(error instanceof AppError)) throw error
  return error
}

describe('A request', () => {
  test('is a GET with its query and the service’s headers', async () => {
    script = [json({ ok: true })]
    const answer = await ask({ path: '/things', query: { ids: 'a,b&c', 'name of': 'ü' } })
    expect(answer).toEqual({ status: 200, body: { ok: true } })
    expect(requests.map(({ line }) => line)).toEqual([`GET /v1/${KEY}/things?ids=a%2Cb%26c&name+of=%C3%BC`])
    expect(requests[0]?.headers).toMatchObject({ accept: 'application/json', 'x-key': KEY })
    expect(requests[0]?.headers['content-type']).toBeUndefined()
  })

  test('with a body is a POST of JSON', async () => {
    script = [json({ ok: true })]
    await ask({ path: '/things', body: { id: 1 } })
    expect(requests[0]).toMatchObject({ line: `POST /v1/${KEY}/things`, body: '{"id":1}' })
    expect(requests[0]?.headers['content-type']).toBe('application/json')
  })

  test('that is refused returns the refusal and is not repeated', async () => {
    script = [json({ error: 'coin not found' }, 404)]
    expect(await ask()).toEqual({ status: 404, body: { error: 'coin not found' } })
    expect(requests).toHaveLength(1)
  })

  test('that is refused without JSON returns a response without a body', async () => {
    script = [status(403)]
    expect(await ask()).toEqual({ status: 403, body: undefined })
    expect(requests).toHaveLength(1)
  })
})

/** Failing replies of a server. Each has the expected error code and the number of requests, including retries. */
const FAILURES: readonly (readonly [string, Answer, string, number])[] = [
  ['hangs up', hangUp, 'upstream_unavailable', 2],
  ['cuts the connection', cut, 'upstream_unavailable', 2],
  ['answers 500', status(500), 'upstream_unavailable', 2],
  ['answers 503', status(503), 'upstream_unavailable', 2],
  ['answers 429', status(429), 'upstream_unavailable', 1],
  ['dawdles', dawdle, 'upstream_timeout', 1],
  ['dawdles in the body', dawdleInTheBody(200), 'upstream_timeout', 1],
  ['dawdles in the body of a refusal', dawdleInTheBody(404), 'upstream_timeout', 1],
  ['answers HTML', status(200), 'upstream_bad_answer', 2],
  ['truncates the JSON', truncate, 'upstream_bad_answer', 2],
  ['redirects', status(302, { location: '/elsewhere' }), 'upstream_bad_answer', 1],
  ['redirects for good', status(308, { location: 'https://elsewhere.example' }), 'upstream_bad_answer', 1],
]

describe.each(FAILURES)('A service that %s', (_, failure, code, times) => {
  test(`is ${code} after ${times} in all, within the deadline, and the error hides its URL`, async () => {
    script = [failure]
    const deadlineMs = code === 'upstream_timeout' ? SHORT_DEADLINE_MS : DEADLINE_MS
    const error = await errorOf(upstream({ deadlineMs })({ path: '/things', query: { key: KEY } }))
    expect(error.code).toBe(code)
    expect(requests).toHaveLength(times)

    const texts = [error, error.cause].flatMap((part) => (part instanceof Error ? [part.message, `${part.stack}`] : []))
    expect(texts).toHaveLength(4)
    expect(texts[2]).toMatch(/^some service: /)
    for (const text of texts)
      expect(text.split('\n')[0]).not.toMatch(/http:|https:|127\.0\.0\.1|hunter2|things|secret/i)
    expect(error.cause).not.toHaveProperty('cause')
  })

  test.runIf(times === 2)('in its first response is called again, and its second response counts', async () => {
    script = [failure, json({ ok: true })]
    expect(await upstream(QUICK)({ path: '/things' })).toEqual({ status: 200, body: { ok: true } })
    expect(requests).toHaveLength(2)
  })
})

test('A service that refuses connections is upstream_unavailable', async () => {
  const closed = createServer()
  await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`
  await new Promise((resolve) => closed.close(resolve))
  expect((await errorOf(upstream({ url })({ path: '/' }))).code).toBe('upstream_unavailable')
})

test('A service that fails twice is reported with its second failure', async () => {
  script = [status(500), status(429, { 'retry-after': '17' })]
  const error = await errorOf(ask())
  expect(error.headers).toEqual({ 'retry-after': '17' })
  expect(requests).toHaveLength(2)
})

test('A slow service is not called again before its deadline', async () => {
  const deadlineMs = 4_000
  script = [(response, request) => sleep(deadlineMs / 2).then(() => json({ ok: true })(response, request))]
  expect(await upstream({ deadlineMs })({ path: '/things' })).toEqual({ status: 200, body: { ok: true } })
  expect(requests).toHaveLength(1)
})

test('An endless response is not read to its end', async () => {
  const megabyte = Buffer.alloc(2 ** 20, 'a')
  script = [
    (response) => {
      const flood = () => {
        while (!response.destroyed && response.write(megabyte));
        if (!response.destroyed) response.once('drain', flood)
      }
      flood()
    },
  ]
  // The client aborts the response because of its size, before the deadline.
  expect((await errorOf(ask())).code).toBe('upstream_bad_answer')
  expect(requests).toHaveLength(1)
})

test('A service that fails close to the deadline is not called again', async () => {
  const moments = [0]
  const question = createUpstream(
    { name: 'some service', url: origin, deadlineMs: DEADLINE_MS },
    { fetch: fetchDirectly, random: () => 0, now: () => moments.shift() ?? DEADLINE_MS - 150 },
  )
  script = [status(500)]
  expect((await errorOf(question({ path: '/' }))).code).toBe('upstream_unavailable')
  expect(requests).toHaveLength(1)
})

describe('Retry-After', () => {
  test.each([
    [429, '17', '17'],
    [503, '17', '17'],
    [429, '0', '1'],
    [429, '86400', '600'],
    [429, '', '30'],
    [429, '-5', '30'],
    [429, '1.5', '30'],
    [429, 'Wed, 21 Oct 2026 07:30:00 GMT', '120'],
    [503, 'Wednesday, 21-Oct-26 07:28:05 GMT', '5'],
    [503, 'Wed Oct 21 07:28:05 2026', '5'],
    [429, 'Wed, 21 Oct 2026 07:28:00 GMT', '1'],
    [429, 'Tue, 20 Oct 2026 07:28:00 GMT', '1'],
    [429, 'Wed, 21 Oct 2099 07:28:00 GMT', '600'],
    [429, 'Wed, 99 Oct 2026 07:28:00 GMT', '30'],
    [429, 'in 2 minutes', '30'],
  ])('of a %i is reported in whole seconds from 1 to 600: %j is %j', async (code, header, expected) => {
    script = [status(code, { 'retry-after': header, date: 'Wed, 21 Oct 2026 07:28:00 GMT' })]
    expect((await errorOf(ask())).headers['retry-after']).toBe(expected)
  })

  test('that is a date is ignored if the response has no date of its own', async () => {
    script = [
      (response) => {
        response.sendDate = false
        response.writeHead(429, { 'retry-after': 'Wed, 21 Oct 2026 07:30:00 GMT' }).end()
      },
    ]
    expect((await errorOf(ask())).headers['retry-after']).toBe('30')
  })

  test.each([
    [429, { 'retry-after': '30' }],
    [503, {}],
  ])('of a %i without the header comes from our pause: %j', async (code, headers) => {
    script = [status(code)]
    expect((await errorOf(ask())).headers).toEqual(headers)
  })
})

test('A service with limits per second is called again after a 429, and paused only by its Retry-After', async () => {
  const begun: number[] = []
  const pause = { secondsLeft: async () => 0, begin: async (seconds: number) => void begun.push(seconds) }
  const limited = createUpstream(
    { name: 'some service', url: origin, pause, isLimitedBySecond: true },
    { fetch: fetchDirectly, random: () => 0, now: () => performance.now() },
  )
  script = [status(429), json({ ok: true })]
  expect(await limited({ path: '/' })).toEqual({ status: 200, body: { ok: true } })
  requests = []
  script = [status(429)]
  expect(await errorOf(limited({ path: '/' }))).toMatchObject({ code: 'upstream_unavailable', headers: {} })
  expect([requests.length, begun]).toEqual([2, []])
  script = [status(429, { 'retry-after': '5' })]
  await errorOf(limited({ path: '/' }))
  expect(begun).toEqual([5])
})

describe('A response', () => {
  const Schema = z.object({ price: z.number() })

  test('is parsed by its schema, and other fields are ignored', () => {
    expect(parseResponseBody(Schema, { status: 200, body: { price: 1, more: true } })).toEqual({ price: 1 })
  })

  test.each([
    [200, { price: 'https://inside.example/hunter2' }],
    [200, undefined],
    [404, { price: 1 }],
    [401, undefined],
  ])('of status %i and %j is upstream_bad_answer, and the error hides its body', (code, body) => {
    const parse = () => parseResponseBody(Schema, { status: code, body })
    expect(parse).toThrow(expect.objectContaining({ code: 'upstream_bad_answer' }))
    expect(parse).toThrow(expect.objectContaining({ cause: new Error(expected(code)) }))
  })
  const expected = (code: number) => (code < 300 ? 'a response of another shape' : `HTTP status ${code}`)
})
