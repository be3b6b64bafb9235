import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import * as z from 'zod'
import { bytesOf, findRoute, MAX_BODY_BYTES, routesOf, toEvent, urlOf } from '../http-api.ts'
import { listen } from '../listen.ts'
import { readBody } from '../read-body.ts'
import { arnOf, type ResourceFinder } from './deployed.ts'
import { matchesPattern } from './policies.ts'

/** Function that invokes the Lambda function with this ARN and returns its response. */
export type FunctionInvoker = (arn: string, event: unknown) => Promise<unknown>

const Operation = z.object({
  'x-amazon-apigateway-integration': z.object({
    $ref: z.templateLiteral(['#/components/x-amazon-apigateway-integrations/', z.string()]),
  }),
})
const Integration = z.object({
  type: z.literal('AWS_PROXY'),
  httpMethod: z.literal('POST'),
  uri: z.string().transform((uri) => uri.replace(/^.*\/functions\/(.*)\/invocations$/, '$1')),
  payloadFormatVersion: z.literal('2.0'),
})
const Api = z.object({
  Body: z.object({
    'x-amazon-apigateway-cors': z
      .strictObject({
        allowOrigins: z.array(z.string()),
        allowMethods: z.array(z.string()),
        allowHeaders: z.array(z.string()),
        exposeHeaders: z.array(z.string()),
        allowCredentials: z.literal(false),
        maxAge: z.number(),
      })
      .optional(),
    paths: z.record(z.string(), z.record(z.string(), Operation)),
    components: z.object({ 'x-amazon-apigateway-integrations': z.record(z.string(), Integration) }),
  }),
})
const Permission = z.object({
  Action: z.literal('lambda:InvokeFunction'),
  FunctionName: z.string(),
  Principal: z.string(),
  SourceArn: z.string(),
})
const Reply = z.object({
  statusCode: z.number(),
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
  body: z.string().default(''),
  isBase64Encoded: z.boolean().default(false),
})
type Cors = z.output<typeof Api>['Body']['x-amazon-apigateway-cors']

const MAX_HEADER_BYTES = 10 * 1024

/** Serves the template's API Gateway HTTP API on a local port. Port 0 means any free port. Throws if the template has no HTTP API. */
export async function startHttpApi(deployed: ResourceFinder, invoke: FunctionInvoker, port: number) {
  const [api] = deployed('AWS::ApiGatewayV2::Api', Api)
  if (!api) throw new Error('There is no API.')
  const { 'x-amazon-apigateway-cors': cors, paths, components } = api.properties.Body
  const { 'x-amazon-apigateway-integrations': integrations } = components
  const routes = routesOf(
    Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(
        ([
          method,
          {
            'x-amazon-apigateway-integration': { $ref },
          },
        ]) => {
          const { uri } = integrations[$ref.split('/').at(-1) ?? ''] ?? { uri: '' }
          return [`${method.toUpperCase()} ${path}`, uri] as const
        },
      ),
    ),
  )
  const permissions = deployed('AWS::Lambda::Permission', Permission).filter(
    ({ properties }) => properties.Principal === 'apigateway.amazonaws.com',
  )
  const mayInvoke = (arn: string, routeKey: string) => {
    const source = arnOf('execute-api', `${api.id}/$default/${routeKey.replace(' ', '')}`)
    return permissions.some(
      ({ properties }) => properties.FunctionName === arn && matchesPattern(properties.SourceArn, source),
    )
  }

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', headers } = request
    const requestId = randomUUID()
    response.setHeader('apigw-requestid', requestId)
    if (!isOwnHost(request)) return refuse(response, 403, 'Forbidden')
    for (const [name, value] of corsHeaders(cors, headers.origin)) response.setHeader(name, value)
    const url = urlOf(request)
    const match = findRoute(routes, method, url.pathname)
    if (!match && isPreflight(request)) {
      for (const [name, value] of preflightHeaders(cors, headers.origin)) response.setHeader(name, value)
      response.writeHead(204).end()
      return
    }
    const body = await readBody(request, MAX_BODY_BYTES)
    if (!body) return refuse(response, 413, 'Request Entity Too Large')
    if (!match) return refuse(response, 404, 'Not Found')
    const { key, name } = match.route
    if (!mayInvoke(name, key)) return refuse(response, 500, 'Internal Server Error')
    const reply = Reply.safeParse(
      await invoke(name, toEvent(request, url, body, { requestId, ...match })).catch(() => undefined),
    )
    if (!reply.success) return refuse(response, 500, 'Internal Server Error')
    const { statusCode, headers: replyHeaders, ...content } = reply.data
    for (const [header, value] of Object.entries(replyHeaders)) response.setHeader(header, String(value))
    response.writeHead(statusCode).end(bytesOf(content))
  }

  return await listen(
    (request, response) => {
      void answer(request, response).catch((error: unknown) => response.destroy(new Error(String(error))))
    },
    { port, maxHeaderSize: MAX_HEADER_BYTES, isOwnHost: () => true },
  )
}

/** Returns whether the Host header names an API's domain or this server. API Gateway finds no API for other hosts. */
function isOwnHost({ headers: { host = '' }, socket }: IncomingMessage): boolean {
  return /^[a-z0-9]+\.execute-api\.[a-z0-9-]+\.amazonaws\.com$/.test(host) || host === `127.0.0.1:${socket.localPort}`
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ message }))
}

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && 'origin' in headers && 'access-control-request-method' in headers
}

function corsHeaders(cors: Cors, origin: string | undefined): [string, string][] {
  if (!cors || origin === undefined || !cors.allowOrigins.includes(origin)) return []
  return [
    ['access-control-allow-origin', origin],
    ['access-control-expose-headers', cors.exposeHeaders.join(',')],
  ]
}

function preflightHeaders(cors: Cors, origin: string | undefined): [string, string][] {
  if (!cors || origin === undefined || !cors.allowOrigins.includes(origin)) return []
  return [
    ['access-control-allow-methods', cors.allowMethods.join(',')],
    ['access-control-allow-headers', cors.allowHeaders.join(',')],
    ['access-control-max-age', String(cors.maxAge)],
  ]
}
