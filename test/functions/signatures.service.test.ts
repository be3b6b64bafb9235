import type { JsonWebKey } from 'node:crypto'
import { describe, expect } from 'vitest'
import { describeFailure, runCommandLine } from '../../admin/command-line.ts'
import { contentDigest } from '../../lib/frame/signature.ts'
import { sendHttpRequest } from '../../sandbox/exchange.ts'
import { expectError } from '../support/errors.ts'
import { isSignedBy } from '../support/http-signatures.ts'
import { chainlessTest, startNewContainers, USERS } from '../support/service.ts'

const POSITIONS = `/defi-vaults/v1/defi/user/${USERS[0].address}/positions`
const LOGIN = '/auth/login/init'
const OF_REQUEST_BODY = ' "content-digest";req'
const HEADERS = ['content-digest', 'signature', 'signature-input']

const test = chainlessTest.extend('run', ({ service }) => async (...args: string[]) => {
  const lines = await runCommandLine(args, async () => service.backends.admin).catch((error: unknown) => [
    describeFailure(error),
  ])
  return lines.join('\n')
})

describe('A response', () => {
  test('to a request with a digest is signed together with it, which binds it to that body', async ({ service }) => {
    const text = JSON.stringify({ email: 'alice@example.com' })
    const headers = { 'content-digest': contentDigest(Buffer.from(text)) }
    const bound = await service.call('POST', LOGIN, { body: text, headers })
    expect(bound.status).toBe(200)
    expect(bound.headers.get('signature-input')).toContain(OF_REQUEST_BODY)
    const unbound = await service.call('POST', LOGIN, { body: text })
    expect(unbound.headers.get('signature-input')).not.toContain(OF_REQUEST_BODY)
  })

  test('to a request whose contract has its own headers is signed together with its digest', async ({ service }) => {
    const body = '{"email":"signed@example.com"}'
    const headers = { platform: 'web', 'content-digest': contentDigest(Buffer.from(body)) }
    const reply = await service.call('POST', '/auth/register/init', { body, headers })
    expect(reply.headers.get('signature-input')).toContain(OF_REQUEST_BODY)
  })

  test('is an error if the digest is malformed or not that of the body', async ({ service }) => {
    const digest = contentDigest(Buffer.from('{}'))
    for (const wrong of [digest.replace('sha-256', 'sha-512'), `${digest}, ${digest}`, '', 'sha-256=::']) {
      const headers = { 'content-digest': wrong }
      expectError(await service.call('POST', LOGIN, { body: {}, headers }), 'invalid_content_digest')
    }
    const headers = { 'content-digest': digest }
    expectError(await service.call('POST', LOGIN, { body: '{ }', headers }), 'invalid_content_digest')
    expect((await service.call('POST', LOGIN, { body: '{}', headers })).status).toBe(200)
    // The API gateway passes bodies of this content type to the Lambda in base64.
    const sent = { ...headers, 'content-type': 'application/octet-stream' }
    expect((await service.call('POST', LOGIN, { body: '{}', headers: sent })).status).toBe(200)
  })

  test('to HEAD, an error, a market and a document are not signed', async ({ service }) => {
    const replies = [
      await service.call('HEAD', POSITIONS),
      await service.call('GET', POSITIONS, { key: null }),
      await service.call('GET', '/portfolio-indexor/markets'),
      await service.call('POST', '/portfolio-indexor/markets/coins/search', { body: { search: 'usd' } }),
      await service.call('GET', '/health'),
      await service.call('GET', '/.well-known/jwks.json'),
      await service.call('GET', '/nowhere'),
    ]
    expect(replies.map(({ status }) => status)).toEqual([200, 401, 200, 200, 200, 200, 404])
    for (const { headers } of replies) for (const name of HEADERS) expect(headers.has(name)).toBe(false)
  })

  test('is available to browsers with its signature headers, and can be revalidated by its ETag', async ({
    service,
  }) => {
    const { headers } = await sendHttpRequest(`${service.baseUrl}${POSITIONS}`, {
      method: 'OPTIONS',
      headers: { origin: 'http://localhost:3000' },
    })
    const listOf = (name: string) => String(headers[name]).split(',')
    expect(listOf('access-control-expose-headers')).toEqual(expect.arrayContaining([...HEADERS, 'etag']))
    expect(listOf('access-control-allow-headers')).toEqual(expect.arrayContaining(['content-digest', 'if-none-match']))
  })
})

describe('A path', () => {
  // The signature covers the path that API Gateway has decoded. A caller that encodes more characters sends another
  // path and fails.
  test('with unnecessary encoding is signed as the gateway decodes it', async ({ service }) => {
    const encoded = POSITIONS.replace('positions', 'p%6Fsitions').replace('0x', '%30x')
    const reply = await sendHttpRequest(`${service.baseUrl}${encoded}`, { method: 'GET' })
    expect(reply.status).toBe(404)
    const path = POSITIONS.replace('0x', '%30x')
    await expect(service.call('GET', path)).rejects.toThrow('not signed as it should be')
    const headers = { 'x-join-key': service.apiKey }
    const answer = await sendHttpRequest(`${service.baseUrl}${path}`, { method: 'GET', headers })
    const response = { status: answer.status, headers: answer.headers as Record<string, string> }
    const request = { method: 'GET', url: `${service.baseUrl}${POSITIONS}`, headers }
    expect(await isSignedBy(service.backends.signingKey, { request, response }, answer.text)).toBe(true)
  })
})

describe('The keys', () => {
  test('are created, published, rotated and removed by an operator, while every response is signed', async ({
    service,
    run,
  }) => {
    const { signingKey } = service.backends
    const askAnew = async () => {
      const { service: anew, stop } = await startNewContainers(service)
      const { keys } = (await anew.call('GET', '/.well-known/jwks.json', { key: null })).body
      const headers = { 'x-join-key': service.apiKey }
      const request = { method: 'GET', url: `${anew.baseUrl}${POSITIONS}`, headers }
      const { status, text, headers: received } = await sendHttpRequest(request.url, request)
      await stop()
      const response = { status, headers: received as Record<string, string> }
      const exchanged = { request, response }
      const verdicts: boolean[] = await Promise.all(keys.map((key: JsonWebKey) => isSignedBy(key, exchanged, text)))
      const ids: string[] = keys.map(({ kid }: { kid: string }) => kid)
      return { published: ids, signing: ids.filter((_, index) => verdicts[index]) }
    }
    const first = signingKey.kid
    expect(await askAnew()).toEqual({ published: [first], signing: [first] })

    const added = await run('add-signing-key')
    const { kid: second, ...key } = JSON.parse(added.split('\n')[0] ?? '')
    expect(Object.keys(key)).toEqual(['kty', 'crv', 'x'])
    expect(added).toContain('is published')
    expect(await askAnew()).toEqual({ published: [first, second], signing: [first] })
    expect(await run('add-signing-key')).toContain('two keys already')
    expect(await run('remove-signing-key', '--key', first)).toContain('is the one that signs')

    expect(await run('use-signing-key', '--key', second)).toContain('within five minutes')
    expect(await run('use-signing-key', '--key', second)).toContain('already')
    expect(await askAnew()).toEqual({ published: [second, first], signing: [second] })
    expect(await run('list-signing-keys')).toMatch(new RegExp(`${second} .* signs\\n${first} .* published$`))

    expect(await run('remove-signing-key', '--key', 'another')).toContain('There is no key another')
    expect(await run('remove-signing-key', '--key', first)).toContain('is gone')
    expect(await askAnew()).toEqual({ published: [second], signing: [second] })
  })

  test('reach running containers within five minutes', async ({ clock, coldService, run }) => {
    const keysNow = async () => (await coldService.call('GET', '/.well-known/jwks.json')).body.keys.length
    expect(await keysNow()).toBe(1)
    await run('add-signing-key')
    expect(await keysNow()).toBe(1)
    clock.pass(5 * 60)
    expect(await keysNow()).toBe(2)
  })
})
