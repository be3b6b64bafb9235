import { generateKeyPairSync } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import type { RequestListener, ServerResponse } from 'node:http'
import { createServer as createTlsServer, request } from 'node:https'
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createSender } from '../../../lib/webhooks/send.ts'
import { createServerCertificate } from '../../support/certificates.ts'
import { startTestServer } from '../../support/serve.ts'

const NOW = Date.parse('2026-11-20T12:00:00.000Z')
const DELIVERY = { headers: { 'webhook-id': 'evt_1' }, body: '{"type":"vault.paused","text":"für alle"}' }

type Options = Partial<Parameters<typeof createSender>[0]>

function sender(options: Options = {}) {
  const send = createSender({ reach: 'loopback', now: () => NOW, ...options })
  return (url: string) => send(url, DELIVERY)
}

function watchConnections(): string[] {
  const dialled: string[] = []
  const watch = ({ socket }: { socket: Socket }) => {
    socket.on('connectionAttempt', (address: string) => dialled.push(address))
    socket.on('connect', () => dialled.push(`${socket.remoteAddress}`))
  }
  const listener = (message: unknown) => watch(message as { socket: Socket })
  subscribe('net.client.socket', listener)
  onTestFinished(() => void unsubscribe('net.client.socket', listener))
  return dialled
}

/** Addresses that are not public, in standard and unusual notations of IPv4 and IPv6. */
const HOSTILE = [
  ...['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '0.0.0.0', '0', '127.0.0.1.', '１２７.0.0.1'],
  ...['10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.0.1', '169.254.169.254', '100.64.0.1', '198.18.0.1'],
  ...['192.0.0.8', '192.0.2.1', '198.51.100.7', '203.0.113.9', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['[::]', '[::1]', '[fe80::1]', '[fc00::1]', '[fd12::1]', '[ff02::1]', '[2001:db8::1]', '[3fff::1]', '[100::1]'],
  ...['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::127.0.0.1]', '[::ffff:0:127.0.0.1]'],
  ...['[64:ff9b::7f00:1]', '[64:ff9b:1::1]', '[2002:7f00:1::]', '[2001:0:7f00:1::]', '[5f00::1]', '[2606:4700::1111]'],
]

describe('No connection is opened', () => {
  test.for(HOSTILE)('to an address that is not public: %s', async (host) => {
    const dialled = watchConnections()
    const resolve = vi.fn(async () => [])
    expect(await sender({ reach: 'public', resolve })(`https://${host}/`)).toEqual({
      delivered: false,
      reason: 'not_allowed',
    })
    expect(dialled).toEqual([])
    expect(resolve).not.toHaveBeenCalled()
  })

  test.for(HOSTILE.filter((host) => /^[\d.]{7,}$/.test(host)))(
    'to a name with an address that is not public, even beside a public one: %s',
    async (host) => {
      const dialled = watchConnections()
      const hostile = host.replace(/\.$/, '')
      const other = '93.184.216.34'
      for (const addresses of [[hostile], [hostile, other], [other, hostile]]) {
        const send = sender({ reach: 'public', resolve: async () => addresses })
        expect(await send('https://receiver.example/')).toEqual({ delivered: false, reason: 'not_allowed' })
      }
      expect(dialled).toEqual([])
    },
  )

  test.for([
    'http://receiver.example/',
    'https://receiver.example:8443/',
    'https://receiver.example:22/',
    'ftp://receiver.example/',
    'file:///etc/passwd',
    'no url',
    '',
  ])('except for HTTPS at port 443: %s', async (url) => {
    const dialled = watchConnections()
    const resolve = vi.fn(async () => ['93.184.216.34'])
    expect(await sender({ reach: 'public', resolve })(url)).toEqual({ delivered: false, reason: 'not_allowed' })
    expect(dialled).toEqual([])
    expect(resolve).not.toHaveBeenCalled()
  })

  test.for(['http://10.0.0.1:8080/', 'http://receiver.example/', 'https://93.184.216.34/', 'http://0.0.0.0:80/'])(
    'to another machine by a service that may only reach itself: %s',
    async (url) => {
      const dialled = watchConnections()
      const reason = 'not_allowed'
      expect(await sender()(url)).toEqual({ delivered: false, reason })
      expect(dialled).toEqual([])
    },
  )
})

const LOCAL = '127.0.0.1'

describe('A name', () => {
  test('is resolved once per delivery, and the connection uses these addresses', async () => {
    let reached = 0
    const { port } = new URL(
      await startTestServer((_, response) => {
        reached += 1
        response.end()
      }),
    )
    const dialled = watchConnections()
    const answers = [LOCAL, '10.0.0.1']
    const send = sender({ resolve: async () => answers.splice(0, 1) })
    expect(await send(`http://localhost:${port}/`)).toEqual({ delivered: true, status: 200 })
    expect(answers).toHaveLength(1)
    expect(await send(`http://localhost:${port}/`)).toEqual({ delivered: false, reason: 'not_allowed' })
    expect(new Set(dialled)).toEqual(new Set(['127.0.0.1']))
    expect(reached).toBe(1)
  })

  test('without an address is unresolved', async () => {
    const send = sender({ resolve: async () => [] })
    expect(await send('http://localhost:1/')).toEqual({ delivered: false, reason: 'unresolved' })
  })

  test('has all of its addresses tried', async () => {
    const { port } = new URL(await startTestServer((_, response) => response.end(), '127.0.0.2'))
    const send = sender({ resolve: async () => ['127.0.0.3', '127.0.0.2'] })
    expect(await send(`http://localhost:${port}/`)).toEqual({ delivered: true, status: 200 })
  })
})

describe('A delivery', () => {
  test('is a POST of the exact bytes, over a connection that is closed', async () => {
    const requests: object[] = []
    const url = await startTestServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk) => chunks.push(chunk))
      request.on('end', () => {
        const { method, url, headers } = request
        requests.push({ method, url, headers, body: Buffer.concat(chunks).toString() })
        response.end('{"ok":true}')
      })
    })
    expect(await sender()(`${url}/hook?a=b`)).toEqual({ delivered: true, status: 200 })
    expect(requests).toEqual([
      {
        ...{ method: 'POST', url: '/hook?a=b', body: DELIVERY.body },
        headers: {
          ...{ 'content-type': 'application/json', 'content-length': `${Buffer.byteLength(DELIVERY.body)}` },
          ...{ 'user-agent': 'Vaultline-Webhooks/1', 'webhook-id': 'evt_1' },
          ...{ host: new URL(url).host, connection: 'close' },
        },
      },
    ])
  })

  test.for([200, 201, 202, 204, 299])('with the status %i is delivered', async (status) => {
    const url = await startTestServer((_, response) => response.writeHead(status).end())
    expect(await sender()(url)).toEqual({ delivered: true, status })
  })

  test.for([400, 401, 404, 410, 429, 500, 502, 503, 504])('with the status %i is not delivered', async (status) => {
    const url = await startTestServer((_, response) => response.writeHead(status).end('no'))
    expect(await sender()(url)).toEqual({ delivered: false, reason: 'status', status })
  })

  test.for([301, 302, 303, 307, 308])('that is redirected by %i is not sent there', async (status) => {
    let reached = 0
    const elsewhere = await startTestServer((_, response) => {
      reached += 1
      response.end()
    })
    const url = await startTestServer((_, response) => response.writeHead(status, { location: elsewhere }).end())
    expect(await sender()(url)).toEqual({ delivered: false, reason: 'redirect', status })
    expect(reached).toBe(0)
  })

  test.for([
    ['120', 120_000],
    ['Fri, 20 Nov 2026 12:05:00 GMT', 300_000],
    ['Fri, 20 Nov 2026 11:00:00 GMT', undefined],
    ['soon', undefined],
    ['-5', undefined],
  ] as const)('returns the Retry-After %s in milliseconds', async ([text, retryAfterMs]) => {
    const url = await startTestServer((_, response) => response.writeHead(503, { 'retry-after': text }).end())
    const pause = retryAfterMs === undefined ? {} : { retryAfterMs }
    expect(await sender()(url)).toEqual({ delivered: false, reason: 'status', status: 503, ...pause })
  })
})

/** Timeout for servers that never finish a response. Other deliveries have five seconds. */
const SHORT_TIMEOUT = { timeoutMs: 150 }

describe('A server', () => {
  test('that is unreachable or hangs up is reported as a connection failure', async () => {
    const url = await startTestServer((request) => request.socket.destroy())
    expect(await sender()(url)).toEqual({ delivered: false, reason: 'connection' })
    expect(await sender()('http://127.0.0.1:1/')).toEqual({ delivered: false, reason: 'connection' })
  })

  test.for<[string, RequestListener]>([
    ['cut off', (_, response) => void response.on('error', () => {}).write('a', () => response.destroy())],
    ['never sent', (_, response) => response.flushHeaders()],
    ['sent byte by byte', (_, response) => drip(response.socket as Socket, '', '1\r\nx\r\n')],
    ['endless', (_, response) => flood(response)],
  ])('has its status accepted if its body is %s', async ([, listener]) => {
    for (const [status, expected] of [
      [200, { delivered: true }],
      [410, { delivered: false, reason: 'status' }],
      [429, { delivered: false, reason: 'status', retryAfterMs: 120_000 }],
    ] as const) {
      const closed = Promise.withResolvers<void>()
      const url = await startTestServer((request, response) => {
        request.socket.on('close', () => closed.resolve())
        response.writeHead(status, status === 429 ? { 'retry-after': '120' } : {}).flushHeaders()
        listener(request, response)
      })
      expect(await sender()(url)).toEqual({ ...expected, status })
      await closed.promise
    }
  })

  test.for<[string, RequestListener]>([
    ['nothing', () => {}],
    ['its headers byte by byte', ({ socket }) => drip(socket, 'HTTP/1.1 200 OK\r\n', 'x')],
  ])('that sends %s is given up at the timeout of the delivery', async ([, listener]) => {
    const closed = Promise.withResolvers<void>()
    const url = await startTestServer((request, response) => {
      request.socket.on('close', () => closed.resolve())
      listener(request, response)
    })
    expect(await sender(SHORT_TIMEOUT)(url)).toEqual({ delivered: false, reason: 'timeout' })
    await closed.promise
  })

  test('whose name is never resolved is given up at the same timeout', async () => {
    const send = sender({ ...SHORT_TIMEOUT, resolve: () => new Promise(() => {}) })
    expect(await send('http://localhost:1/')).toEqual({ delivered: false, reason: 'timeout' })
  })

  test.for([
    ['endless headers', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(64 * 1024)}\r\n\r\n`],
    ['another protocol', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ] as const)('that sends %s has not taken the delivery', async ([, text]) => {
    const url = await startTestServer(({ socket }) => void socket.on('error', () => {}).write(text))
    expect(await sender()(url)).toEqual({ delivered: false, reason: 'bad_answer' })
  })
})

function flood(response: ServerResponse): void {
  const chunk = Buffer.alloc(16 * 1024)
  const write = () => {
    while (!response.destroyed && response.write(chunk));
  }
  response.on('drain', write).on('error', () => {})
  write()
}

function drip(socket: Socket, first: string, then: string): void {
  socket.on('error', () => {}).write(first)
  const timer = setInterval(() => socket.write(then), 10)
  socket.on('close', () => clearInterval(timer))
}

describe('Over TLS', () => {
  async function serveTls(name: string) {
    const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const cert = createServerCertificate(keys, name)
    const key = keys.privateKey.export({ type: 'pkcs8', format: 'pem' })
    let reached = 0
    const server = createTlsServer({ key, cert }, (_, response) => {
      reached += 1
      response.end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    const ask: Options['request'] = (url, options) => request(url, { ...options, ca: cert })
    return { url: `https://localhost:${(server.address() as AddressInfo).port}/`, ask, count: () => reached }
  }

  test('a server with a trusted certificate of its name gets the delivery', async () => {
    const { url, ask, count } = await serveTls('localhost')
    expect(await sender({ request: ask })(url)).toEqual({ delivered: true, status: 200 })
    expect(count()).toBe(1)
  })

  test('a server with an untrusted certificate or one of another name gets no delivery', async () => {
    const other = await serveTls('receiver.example')
    expect(await sender({ request: other.ask })(other.url)).toEqual({ delivered: false, reason: 'tls' })
    const own = await serveTls('localhost')
    expect(await sender()(own.url)).toEqual({ delivered: false, reason: 'tls' })
    expect(other.count() + own.count()).toBe(0)
  })

  test('a server without TLS gets no delivery', async () => {
    const url = await startTestServer((_, response) => response.end())
    expect(await sender()(url.replace('http:', 'https:'))).toEqual({ delivered: false, reason: 'tls' })
  })
})

describe('A response without a final status', () => {
  const serveRaw = async (text: string, isRepeated: boolean) => {
    const server = createSocketServer((socket) => {
      socket.on('error', () => {})
      const say = () => {
        if (!socket.destroyed && socket.write(text) && isRepeated) setImmediate(say)
        else if (isRepeated) socket.once('drain', say)
      }
      say()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  test('fails with bad_answer after endless interim responses', async () => {
    const url = await serveRaw('HTTP/1.1 103 Early Hints\r\n\r\n', true)
    expect(await sender({ timeoutMs: 60_000 })(url)).toEqual({ delivered: false, reason: 'bad_answer' })
  })

  test('fails with bad_answer after a switch of protocols', async () => {
    const url = await serveRaw('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', false)
    expect(await sender({ timeoutMs: 60_000 })(url)).toEqual({ delivered: false, reason: 'bad_answer' })
  })

  test('may follow a single interim response', async () => {
    const url = await serveRaw('HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n', false)
    expect(await sender()(url)).toEqual({ delivered: true, status: 204 })
  })
})
