import { execFile } from 'node:child_process'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { type FailedTry, ResponseTooLarge, sendOnce } from '../../lib/core/http.ts'
import { type Fetch, fetchDirectly } from '../../lib/core/outbound.ts'
import { listen } from '../../sandbox/listen.ts'

type Server = (response: ServerResponse, request: IncomingMessage) => unknown

const MAX_BYTES = 10_000
const TEXT = JSON.stringify({ price: 'é'.repeat(1_000) })
const HUGE = JSON.stringify('a'.repeat(MAX_BYTES))

const sends =
  (body: string | Uint8Array, headers = {}, status = 200): Server =>
  (response) =>
    response.writeHead(status, headers).end(body)
const gzip = { 'content-encoding': 'gzip' }
const stalls: Server = (response) => response.writeHead(200).write('{"pr')

const SERVERS: readonly (readonly [string, Server, unknown])[] = [
  ['sends text', sends(TEXT), TEXT],
  [
    'sends its text in chunks',
    (response) => [...Buffer.from(TEXT)].map((byte) => response.write(Buffer.of(byte))) && response.end(),
    TEXT,
  ],
  ['compresses by gzip', sends(gzipSync(TEXT), gzip), TEXT],
  ['compresses by Brotli', sends(brotliCompressSync(TEXT), { 'content-encoding': 'br' }), TEXT],
  ['compresses in a way that was not requested', sends(TEXT, { 'content-encoding': 'pack200-gzip' }), TEXT],
  ['refuses', sends('{"no":1}', {}, 403), '{"no":1}'],
  ['refuses with nothing, as gzip', sends('', gzip, 401), undefined],
  ['answers 204', sends('', {}, 204), 'upstream_bad_answer: not JSON'],
  ['answers 204 as gzip', sends('', gzip, 204), 'upstream_bad_answer: not JSON'],
  ['announces gzip and sends text', sends(TEXT, gzip), 'upstream_unavailable: no connection'],
  ['ends its gzip too early', sends(gzipSync(TEXT).subarray(0, 20), gzip), 'upstream_bad_answer: not JSON'],
  ['sends too much', sends(HUGE), `upstream_bad_answer: more than ${MAX_BYTES} bytes`],
  [
    'sends few bytes that expand to too many',
    sends(gzipSync(HUGE), gzip),
    `upstream_bad_answer: more than ${MAX_BYTES} bytes`,
  ],
  ['redirects', sends('{}', { location: '/' }, 307), 'upstream_bad_answer: HTTP status 307'],
  ['resets the connection', (response) => response.socket?.resetAndDestroy(), 'upstream_unavailable: no connection'],
  [
    'resets the connection in the body',
    (response) => response.writeHead(200).write('{"pr', () => response.socket?.resetAndDestroy()),
    'upstream_unavailable: no connection',
  ],
  [
    'switches to another protocol',
    sends('', { connection: 'upgrade', upgrade: 'other' }, 101),
    'upstream_unavailable: no connection',
  ],
  [
    'has headers of more than 16 KiB',
    sends('{}', { 'x-long': 'a'.repeat(17_000) }),
    'upstream_unavailable: no connection',
  ],
  ['stalls in the body', stalls, 'upstream_timeout: no answer in time'],
  ['never answers', () => {}, 'upstream_timeout: no answer in time'],
]

async function start(serve: Server) {
  const requests: { readonly headers: IncomingMessage['headers']; readonly port: number | undefined }[] = []
  const { url, stop } = await listen((request, response) => {
    requests.push({ headers: request.headers, port: request.socket.remotePort })
    serve(response, request)
  })
  onTestFinished(stop)
  return { url, requests }
}

async function outcomeOf(fetch: Fetch, url: string): Promise<unknown> {
  const request = { url, mostBytes: MAX_BYTES, body: '{}' }
  return await sendOnce({ fetch }, request, AbortSignal.timeout(500)).then(
    ({ body }) => body && JSON.stringify(body),
    // The codes of connection errors are Node's or undici's own.
    (error: FailedTry) => `${error.code}: ${error.message.replace(/ \([A-Z_\d]+\)$/, '')}`,
  )
}

test.for(SERVERS)('A server that %s has the same outcome as with fetch', async ([, serve, outcome]) => {
  const { url } = await start(serve)
  expect(await outcomeOf(fetchDirectly, url)).toBe(outcome)
  expect(await outcomeOf(fetch, url)).toBe(outcome)
})

test.for(['http://127.0.0.1:9', 'https://127.0.0.1:9', 'https://name.invalid', 'http://no host', 'ftp://127.0.0.1'])(
  'The server of %s cannot be reached',
  async (url) => {
    expect(await outcomeOf(fetchDirectly, url)).toBe('upstream_unavailable: no connection')
  },
)

test('A server gets the user agent of fetch and the encodings that are decoded', async () => {
  const { url, requests } = await start(sends('{}'))
  await outcomeOf(fetchDirectly, url)
  expect(requests[0]?.headers).toMatchObject({
    'user-agent': 'node',
    'accept-encoding': 'br, gzip',
    accept: 'application/json',
    'content-type': 'application/json',
    'content-length': '2',
  })
})

test('A connection is kept after a whole response, even if aborted later, but not after a partial one', async () => {
  const answers = [sends('{}'), sends('{}'), sends(HUGE), sends('{}')]
  const { url, requests } = await start((...args) => answers[requests.length - 1]?.(...args))
  for (const _ of answers) {
    const over = new AbortController()
    await sendOnce({ fetch: fetchDirectly }, { url, mostBytes: MAX_BYTES }, over.signal).catch((error: unknown) => {
      if (!(error instanceof ResponseTooLarge)) throw error
    })
    over.abort()
  }
  const [first, second, third, fourth] = requests.map(({ port }) => port)
  expect([second, third]).toEqual([first, first])
  expect(fourth).not.toBe(first)
})

test('A request is sent again while the reused connection turns out to be closed, as with fetch', async () => {
  const { url, requests } = await start((response, { socket }) => {
    // Each connection serves one request and resets at the next.
    if (requests.filter(({ port }) => port === socket.remotePort).length > 1) socket.resetAndDestroy()
    else setTimeout(() => response.end('{}'), 50)
  })
  const ask = () => outcomeOf(fetchDirectly, url)
  await Promise.all([ask(), ask(), ask()])
  expect(await Promise.all([ask(), ask(), ask()])).toEqual(['{}', '{}', '{}'])
})

test('A connection error names its code, which contains no URL', async () => {
  const { url } = await start((response) => response.socket?.resetAndDestroy())
  const request = sendOnce({ fetch: fetchDirectly }, { url }, AbortSignal.timeout(500))
  await expect(request).rejects.toThrow('no connection (ECONNRESET)')
})

test('The connection of a redirect closes unread', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const { url } = await start((response) => {
    response.socket?.once('close', resolve)
    response.writeHead(302, { location: '/' }).write('never ends')
  })
  expect(await outcomeOf(fetchDirectly, url)).toBe('upstream_bad_answer: HTTP status 302')
  await closed
})

test('A request loads no undici', async () => {
  const { url } = await start(sends('{}'))
  const script = `import { fetchDirectly } from '${new URL('../../lib/core/outbound.ts', import.meta.url)}'
    const init = { headers: {}, redirect: 'manual', signal: new AbortController().signal }
    const { status } = await fetchDirectly('${url}', init)
    await fetchDirectly('https://127.0.0.1:9', init).catch(() => {})
    const isLoaded = () => process.moduleLoadList.some((each) => each.endsWith('/undici'))
    console.log(status, isLoaded(), typeof Headers, isLoaded())
    process.exit()`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
  expect(stdout).toBe('200 false function true\n')
})
