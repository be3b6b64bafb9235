import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App, Stage, Validations } from 'aws-cdk-lib/core'
import { VALIDATE_AGAINST_DEFAULT_RULES } from 'aws-cdk-lib/cx-api'
import { AwsSolutionsChecks } from 'cdk-nag'
import { afterAll, describe, expect, test } from 'vitest'
import { EdgeStack } from '../../infra/edge-stack.ts'
import { ENDPOINTS } from '../../infra/functions.ts'
import { parseStages } from '../../infra/stages.ts'
import { sha256 } from '../../lib/core/sha256.ts'
import { EDGE_HEADER } from '../../lib/frame/edge.ts'
import type { SynthesizedStack } from '../../sandbox/assembly.ts'
import { startEdge, VIEWER_HEADER } from '../../sandbox/edge.ts'
import { sendHttpRequest } from '../../sandbox/exchange.ts'
import { readBody } from '../../sandbox/read-body.ts'
import { DOCUMENTED_ERRORS } from '../support/errors.ts'
import { startTestServer } from '../support/serve.ts'
import { readStage } from './synthesize.ts'

const KEY = 'the key that CloudFront sends'
const HOST = 'a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com'
const ENVIRONMENT = parseStages(
  JSON.stringify({
    dev: {
      alarmEmail: 'on-call@wallet.vaultline.app',
      edge: {
        domain: {
          name: 'api.wallet.vaultline.app',
          certificateArn: 'arn:aws:acm:us-east-1:123456789012:certificate/12345678-1234-1234-1234-123456789012',
        },
        origin: `https://${HOST}`,
        keys: [sha256(KEY)],
        requestsPerMinute: { key: 30, address: 20, accounts: 10 },
        servers: ['198.51.100.0/24'],
      },
    },
  }),
).get('dev')

const folder = mkdtempSync(join(tmpdir(), 'vaultline-edge-'))
afterAll(() => rmSync(folder, { recursive: true }))

const { stacks, environments, ofType, outputs, findings } = await synthesize()

async function synthesize() {
  if (!ENVIRONMENT?.edge) throw new Error('dev has an edge')
  const { edge, alarmEmail } = ENVIRONMENT
  const app = new App({ outdir: folder, context: { [VALIDATE_AGAINST_DEFAULT_RULES]: true } })
  const nag = new AwsSolutionsChecks(app)
  Validations.of(app).addPlugins(nag)
  const endpoints = ENDPOINTS.map(([, contract]) => contract)
  const props = { tags: { stage: 'dev' }, terminationProtection: false }
  new EdgeStack(new Stage(app, 'vaultline-dev'), {
    ...props,
    stage: 'dev',
    edge,
    endpoints,
    observe: 'all',
    alarmEmail,
  })
  const assembly = app.synth().getNestedAssembly('assembly-vaultline-dev')
  const environments = assembly.stacks.map(({ environment }) => environment.region)
  const findings = assembly.stacks.flatMap(({ messages }) => messages.map(({ entry }) => entry.data))
  return { ...(await readStage(assembly.directory, 'vaultline-dev')), environments, findings }
}

type Change = (properties: Record<string, unknown>) => void

/** Copies the stacks of CloudFront (the edge) and changes all resources of one type. */
function change(type: string, apply: Change): SynthesizedStack[] {
  const changed = structuredClone(stacks)
  for (const { Properties, Type } of changed.flatMap(({ template }) => Object.values(template.Resources))) {
    if (Type === type) apply(Properties)
  }
  return changed
}

type Behaviors = { DistributionConfig: { DefaultCacheBehavior: object; CustomErrorResponses: unknown[] } }

const without = (rule: string) =>
  change('AWS::WAFv2::WebACL', (properties) => {
    // The cast is safe because every rule in the ACL has a name.
    properties['Rules'] = (properties['Rules'] as { Name: string }[]).filter(({ Name }) => Name !== rule)
  })

type OriginRequest = { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: string }

/** Simulates CloudFront (the edge) in front of an origin. The origin records its requests and responds as a function does. */
async function run(of: readonly SynthesizedStack[] = stacks) {
  const requests: OriginRequest[] = []
  const clock = { now: 1_000_000 }
  const originUrl = await startTestServer(async (request, response) => {
    const { url: path = '', headers, method } = request
    requests.push({ path, headers, body: String(await readBody(request, 100_000)) })
    const body = JSON.stringify({ number: requests.length, of: headers['x-join-key'] ?? null, text: 'x'.repeat(2000) })
    const isDocument = path.startsWith('/openapi.json')
    response.setHeader('cache-control', isDocument ? 'public, max-age=300' : 'no-store')
    response.setHeader('content-digest', digestOf(body))
    response.setHeader('content-type', 'application/json')
    response.setHeader('content-length', Buffer.byteLength(body))
    response.writeHead(path.startsWith('/gone') ? 404 : method === 'POST' ? 201 : 200).end(body)
  })
  /**
   * A simulated Secrets Manager with the secret that contains CloudFront's key
   * (https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html).
   */
  const secretsmanager = await startTestServer(async (request, response) => {
    const { SecretId } = JSON.parse(String(await readBody(request, 100_000)))
    expect(SecretId).toBe('vaultline/dev/edge')
    const SecretString = JSON.stringify({ [sha256(KEY)]: KEY })
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify({ SecretString }))
  })
  const edge = await startEdge(of, { originUrl, secretsmanager, now: () => clock.now })
  const ask = (path: string, headers: Record<string, string> = {}, { method = 'GET', body = '' } = {}) =>
    sendHttpRequest(`${edge.url}${path}`, { method, headers, body })
  const askOften = async (times: number, path: string, headers: Record<string, string> = {}, options = {}) => {
    const statuses: number[] = []
    for (let time = 0; time < times; time += 1) statuses.push((await ask(path, headers, options)).status)
    return statuses
  }
  return { requests, ask, askOften, clock }
}

function digestOf(body: string): string {
  return `sha-256=:${createHash('sha256').update(body).digest('base64')}:`
}

describe('The stack of the edge', () => {
  test('is in CloudFront’s region for firewalls, refers to no other region, and violates no rule', () => {
    expect(environments).toEqual(['us-east-1'])
    expect(stacks.map(({ name, dependsOn }) => [name, dependsOn])).toEqual([['edge', []]])
    expect(findings).toEqual([])
    expect(outputs).toEqual({
      'vaultline-dev-edge.EdgeUrl': 'https://api.wallet.vaultline.app',
      'vaultline-dev-edge.EdgeDnsTarget': 'edge/Distribution.DomainName',
    })
  })

  test('takes only HTTPS by TLS 1.2 or later and HTTP/2 and 3, and leaves error responses unchanged', () => {
    const [distribution] = Object.values(ofType('AWS::CloudFront::Distribution'))
    expect(distribution).toMatchObject({
      DistributionConfig: {
        Aliases: ['api.wallet.vaultline.app'],
        HttpVersion: 'http2and3',
        IPV6Enabled: false,
        ViewerCertificate: { MinimumProtocolVersion: 'TLSv1.2_2021' },
        WebACLId: 'edge/FirewallAcl',
      },
    })
    const text = JSON.stringify(distribution)
    expect(text).not.toMatch(/ResponsePagePath|"Compress":true|ResponseHeadersPolicyId/)
    expect(text, 'the key is in no template').not.toContain(KEY)
  })

  test('has each blocking rule in its alarm’s runbook', () => {
    // The cast is safe because the ACL has the form that CloudFormation requires.
    const [acl] = Object.values(ofType('AWS::WAFv2::WebACL')) as { Rules: { Name: string; Action?: object }[] }[]
    const refusing = acl?.Rules.flatMap(({ Name, Action }) => (Action ? [Name] : [])) ?? []
    const [, named = ''] =
      /^for rule in (.+); do$/m.exec(readFileSync('docs/runbooks/blocked-requests.md', 'utf8')) ?? []
    expect(named.split(' ').toSorted()).toEqual(refusing.toSorted())
  })

  test('hides the keys and sessions of sampled requests', () => {
    const [acl] = Object.values(ofType('AWS::WAFv2::WebACL'))
    const hidden = (header: string) => ({
      Action: 'SUBSTITUTION',
      Field: { FieldType: 'SINGLE_HEADER', FieldKeys: [header] },
    })
    expect(acl).toMatchObject({
      DataProtectionConfig: { DataProtections: [hidden('x-join-key'), hidden('authorization')] },
    })
  })
})

describe('A request through the edge', () => {
  test('reaches the API unchanged, at the API’s host, with the edge’s key and the caller’s address', async () => {
    const { requests, ask } = await run()
    const sent = {
      authorization: 'Bearer s',
      'x-join-key': 'k',
      platform: 'web',
      origin: 'https://wallet.vaultline.app',
      'if-none-match': 'W/"tag"',
    }
    const forged = { [EDGE_HEADER]: 'a guess', 'x-forwarded-for': '10.0.0.1', [VIEWER_HEADER]: '203.0.113.9' }
    const path = '/auth/./sessions//../a%2Fb/%2e?b=c&b=d'
    const body = '{"amount":"1"}'
    const response = await ask(path, { ...sent, ...forged, connection: 'keep-alive' }, { method: 'POST', body })
    expect(response.status).toBe(201)
    expect(requests).toMatchObject([
      {
        ...{ path, body },
        headers: { ...sent, host: HOST, [EDGE_HEADER]: KEY, 'x-forwarded-for': '10.0.0.1, 203.0.113.9' },
      },
    ])
    expect(requests[0]?.headers).not.toHaveProperty(VIEWER_HEADER)
  })

  test('with a body is refused for GET', async () => {
    const { ask, requests } = await run()
    expect((await ask('/vaults', {}, { body: '{}' })).status).toBe(403)
    expect(requests).toEqual([])
  })

  test('gets the function’s exact bytes, whatever encodings its caller accepts', async () => {
    const { ask } = await run()
    const response = await ask('/vaults', { 'accept-encoding': 'gzip, br' })
    expect(response.headers).not.toHaveProperty('content-encoding')
    expect(response.headers['content-digest']).toBe(digestOf(response.text))
  })

  test('is never cached, even after a failure', async () => {
    const { requests, ask } = await run()
    for (const path of ['/vaults', '/vaults', '/gone', '/gone']) await ask(path)
    expect(requests).toHaveLength(4)
    const unreported = change('AWS::CloudFront::Distribution', (properties) => {
      // The cast is safe because the stack has only one distribution, and it has this field.
      ;(properties as Behaviors).DistributionConfig.CustomErrorResponses = []
    })
    const keeping = await run(unreported)
    for (const key of ['one', 'two']) await keeping.ask('/gone', { 'x-join-key': key })
    expect(
      keeping.requests,
      'CloudFront keeps a failure for ten seconds, for everybody, unless it is told',
    ).toHaveLength(1)
    const optimized = await run(
      change('AWS::CloudFront::Distribution', (properties) => {
        // The cast is safe because the stack has only one distribution, and it has this field.
        const { DefaultCacheBehavior } = (properties as Behaviors).DistributionConfig
        Object.assign(DefaultCacheBehavior, { CachePolicyId: '658327ea-f89d-4fab-a63d-7e88639e58f6' })
      }),
    )
    for (const key of ['one', 'two']) await optimized.ask('/positions', { 'x-join-key': key })
    expect(optimized.requests, "one client would get what another asked for by CloudFront's usual policy").toHaveLength(
      1,
    )
  })

  test('for public data is cached by origin for the time that the response allows', async () => {
    const { requests, ask, clock } = await run()
    const page = { origin: 'https://wallet.vaultline.app' }
    for (const headers of [{}, { 'x-join-key': 'k' }, page, page]) await ask('/openapi.json', headers)
    expect(requests).toHaveLength(2)
    clock.now += 299_000
    expect((await ask('/openapi.json')).headers).toMatchObject({ age: '299' })
    clock.now += 2_000
    await ask('/openapi.json')
    expect(requests).toHaveLength(3)
    expect(
      (await ask('/openapi.json', {}, { method: 'POST' })).status,
      'also what it cannot do is the API to say',
    ).toBe(201)
  })

  test('needs a key that CloudFormation finds, or the deploy fails', async () => {
    const other = JSON.parse(JSON.stringify(stacks).replaceAll(sha256(KEY), sha256('another')))
    await expect(run(other)).rejects.toThrow('Could not find a value associated with JSONKey')
  })
})

describe('The firewall refuses', () => {
  const LOGIN = '/auth/login/init'
  const keyed = (key: string, address = '203.0.113.1') => ({ 'x-join-key': key, [VIEWER_HEADER]: address })
  const post = { method: 'POST', body: '{}' }
  const server = (number: number) => `198.51.100.${number}`

  test('a key’s requests above the highest rate, from any addresses, in the functions’ error format', async () => {
    const { ask, clock, requests } = await run()
    const from = (number: number) => keyed('one', `192.0.2.${number}`)
    for (let number = 0; number < 30; number += 1) expect((await ask('/vaults', from(number))).status).toBe(200)
    const refused = await ask('/vaults', from(99))
    const [status, error] = DOCUMENTED_ERRORS.rate_limit_exceeded
    expect(refused).toMatchObject({
      status,
      headers: {
        'content-type': 'application/json',
        'retry-after': '60',
        'cache-control': 'no-store',
        'access-control-allow-origin': '*',
        'access-control-expose-headers': 'retry-after',
      },
    })
    expect(JSON.parse(refused.text)).toEqual({
      ...{ success: false, statusCode: status, error, code: 'rate_limit_exceeded', requestId: 'edge' },
      message: expect.any(String),
    })
    expect((await ask('/vaults', keyed('two', '192.0.2.99'))).status, 'another key').toBe(200)
    expect(requests).toHaveLength(31)
    clock.now += 61_000
    expect((await ask('/vaults', from(99))).status).toBe(200)
  })

  test('too many requests of one address with any keys, but not those of a named server', async () => {
    const { askOften, ask } = await run()
    expect(new Set(await askOften(20, '/vaults', keyed('one')))).toEqual(new Set([200]))
    const refused = await ask('/vaults', keyed('two'))
    expect(JSON.parse(refused.text)).toMatchObject({ code: 'too_many_requests', statusCode: 429 })
    expect((await ask('/vaults', {})).status).toBe(429)
    expect(new Set(await askOften(25, '/vaults', keyed('three', server(7))))).toEqual(new Set([200]))
  })

  test('preflights of an address separately from its requests, so that pages can read the refusals', async () => {
    const { askOften, ask } = await run()
    const preflight = { method: 'OPTIONS' }
    expect(new Set(await askOften(19, LOGIN, {}, preflight))).toEqual(new Set([200]))
    expect(new Set(await askOften(20, '/vaults'))).toEqual(new Set([200]))
    expect((await ask('/vaults')).status).toBe(429)
    expect(await askOften(2, '/vaults', {}, preflight)).toEqual([200, 429])
  })

  test('too many registrations, logins and recoveries from one address, even a server’s, however the path is written', async () => {
    for (const path of ['/auth/register', '/auth/recover/init', '/auth/log%69n/init']) {
      const { askOften, ask } = await run()
      expect(new Set(await askOften(10, path, keyed('one', server(7)), post))).toEqual(new Set([201]))
      const refused = await ask(path, keyed('one', server(7)), post)
      expect(JSON.parse(refused.text)).toMatchObject({ code: 'too_many_requests' })
      expect((await ask(path, keyed('one', server(8)), post)).status, 'from another address').toBe(201)
      expect((await ask('/auth/sessions', keyed('one', server(7)))).status, 'who is logged in').toBe(200)
    }
  })

  test('bodies larger than any function takes', async () => {
    const { ask } = await run()
    const bodyOf = (bytes: number) => ({ method: 'POST', body: 'x'.repeat(bytes) })
    expect((await ask('/vaults', {}, bodyOf(16 * 1024))).status).toBe(201)
    const refused = await ask('/vaults', {}, bodyOf(16 * 1024 + 1))
    expect(JSON.parse(refused.text)).toMatchObject({ code: 'payload_too_large', statusCode: 413 })
  })

  test.for([
    ['by-key', 40, '/vaults', (number: number) => keyed('one', server(number)), {}],
    ['by-address', 25, '/vaults', () => keyed('one'), {}],
    ['accounts-by-address', 15, LOGIN, () => keyed('one'), post],
    ['preflights-by-address', 25, '/vaults', () => keyed('one'), { method: 'OPTIONS' }],
    ['large-bodies', 1, '/vaults', () => ({}), { method: 'POST', body: 'x'.repeat(20_000) }],
  ] as const)('nothing of this kind without the rule %s', async ([rule, times, path, headers, options]) => {
    const refusals = async (of: readonly SynthesizedStack[]) => {
      const { ask } = await run(of)
      const statuses: number[] = []
      for (let number = 0; number < times; number += 1)
        statuses.push((await ask(path, headers(number), options)).status)
      return statuses.filter((status) => status >= 400).length
    }
    expect(await refusals(stacks), 'with it').toBeGreaterThan(0)
    expect(await refusals(without(rule)), 'without it').toBe(0)
  })
})
