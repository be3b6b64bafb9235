import type { APIGatewayProxyEventV2 } from 'aws-lambda'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { sha256 } from '../../../lib/core/sha256.ts'
import type { EndpointContract } from '../../../lib/frame/contract.ts'
import { EDGE_HEADER, EDGE_VARIABLE, type EdgeSettings } from '../../../lib/frame/edge.ts'
import { openEndpoint } from '../../../lib/frame/endpoint.ts'
import { expectError } from '../../support/errors.ts'
import { someContext, someEvent } from '../../support/lambda.ts'
import { captureLogs } from '../../support/logs.ts'

const contract = {
  method: 'GET',
  path: '/things',
  title: 'Show things',
  summary: 'Shows things.',
  tag: 'System',
  caller: 'anyone',
  uses: {},
  request: {},
  response: z.object({ from: z.string(), headers: z.array(z.string()) }),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Nothing.',
} as const satisfies EndpointContract

const [KEY, NEXT] = ['a key that CloudFront sends', 'the next one']
const CLOUDFRONT = '192.0.2.1'
const VIEWER = '203.0.113.77'

async function ask(edge: EdgeSettings | undefined, headers: APIGatewayProxyEventV2['headers']) {
  vi.stubEnv(EDGE_VARIABLE, edge && JSON.stringify(edge))
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const handler = openEndpoint(contract, {}, () => async (request) => ({
    from: request.requestContext.http.sourceIp,
    headers: Object.keys((request as unknown as APIGatewayProxyEventV2).headers),
  }))
  const event = someEvent('GET', '/things', { headers })
  const { statusCode: status = 0, body = '', headers: responseHeaders } = await handler(event, someContext())
  const { requestId } = event.requestContext
  return { status, body: JSON.parse(body), headers: new Headers(responseHeaders as Record<string, string>), requestId }
}

describe('The caller’s address', () => {
  const open = { keys: [sha256(KEY)], isOnlyWay: false }

  test.for([
    ['the viewer', `${VIEWER}, ${CLOUDFRONT}`, VIEWER],
    ['the viewer if the gateway adds nothing', VIEWER, VIEWER],
    ['the viewer despite forged addresses', `10.0.0.1, 198.51.100.1, ${VIEWER}, ${CLOUDFRONT}`, VIEWER],
    ['an IPv6 viewer', `2001:db8::7, ${CLOUDFRONT}`, '2001:db8::7'],
    ['CloudFront without a header', undefined, CLOUDFRONT],
    ['CloudFront if the header has no address', `somebody, ${CLOUDFRONT}`, CLOUDFRONT],
  ] as const)('of a request through CloudFront is %s', async ([, forwarded, expected]) => {
    const response = await ask(open, { [EDGE_HEADER]: KEY, 'x-forwarded-for': forwarded })
    expect(response).toMatchObject({ status: 200, body: { from: expected } })
  })

  test.for([
    ['without a key', {}],
    ['with a wrong key', { [EDGE_HEADER]: 'a guess' }],
    ['with an empty key', { [EDGE_HEADER]: '' }],
    ['with the hash in stages.json', { [EDGE_HEADER]: sha256(KEY) }],
  ] as const)('of a request past CloudFront %s is that of the connection', async ([, headers]) => {
    const response = await ask(open, { ...headers, 'x-forwarded-for': `${VIEWER}, ${CLOUDFRONT}` })
    expect(response).toMatchObject({ status: 200, body: { from: CLOUDFRONT } })
  })

  test('in a stage without an edge is that of the connection, whatever the headers say', async () => {
    const response = await ask(undefined, { [EDGE_HEADER]: KEY, 'x-forwarded-for': `${VIEWER}, ${CLOUDFRONT}` })
    expect(response).toMatchObject({ status: 200, body: { from: CLOUDFRONT } })
  })
})

describe('If CloudFront is the only way,', () => {
  const closed = { keys: [sha256(NEXT), sha256(KEY)], isOnlyWay: true }

  test('a request past it gets not_found', async () => {
    for (const headers of [{}, { [EDGE_HEADER]: 'a guess' }]) expectError(await ask(closed, headers), 'not_found')
  })

  test('both keys are accepted during a rotation, and neither reaches the function or the log', async () => {
    const { text } = captureLogs()
    for (const key of [KEY, NEXT]) {
      const response = await ask(closed, { [EDGE_HEADER]: key, accept: '*/*', 'x-forwarded-for': VIEWER })
      expect(response).toMatchObject({ status: 200, body: { from: VIEWER, headers: ['accept', 'x-forwarded-for'] } })
      expect(text()).not.toContain(key)
    }
  })

  test('a configuration in another form accepts no request', async () => {
    vi.spyOn(console, 'error').mockReturnValue()
    expectError(await ask({ keys: [], isOnlyWay: true }, {}), 'internal')
  })
})
