import type { IncomingMessage } from 'node:http'
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda'

/**
 * Route of an API Gateway HTTP API. `places` are the segments of its path template, and `name` is its function's name.
 */
export type Route = {
  readonly key: string
  readonly method: string
  readonly places: readonly string[]
  readonly name: string
}

/** Route that matches a request, with the values of its path parameters. */
export type RouteMatch = { readonly route: Route; readonly pathParameters: Record<string, string> | undefined }

const DEFAULT = '$default'
/** Maximum bytes of a request body in API Gateway. The functions themselves allow far fewer bytes. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024
const TEXT_TYPES = /^(text\/|application\/(json|javascript|xml))/

/** Returns the routes of these keys, such as `GET /vaults/{id}`, sorted by API Gateway's precedence. */
export function routesOf(keys: readonly (readonly [key: string, name: string])[]): Route[] {
  return keys
    .map(([key, name]) => {
      const [method = '', path = ''] = key.split(' ')
      return { key, method, places: path.split('/'), name }
    })
    .sort((a, b) => rank(a) - rank(b))
}

/** Returns the route that matches a request; undefined if no route does. */
export function findRoute(routes: readonly Route[], method: string, path: string): RouteMatch | undefined {
  const parts = path.split('/')
  const route = routes.find((one) => fits(one, method, parts))
  if (!route) return undefined
  const parameters = route.places.flatMap((place, index) => {
    if (!place.startsWith('{')) return []
    const part = isGreedy(place) ? parts.slice(index).join('/') : (parts[index] ?? '')
    return [[place.replaceAll(/[{}+]/g, ''), decodeOnce(part)]]
  })
  return { route, pathParameters: parameters.length > 0 ? Object.fromEntries(parameters) : undefined }
}

/** Returns the event (payload version 2) that API Gateway's HTTP API passes to a function. */
export function toEvent(
  { method = 'GET', headers, socket }: IncomingMessage,
  url: URL,
  body: Buffer,
  { requestId, route, pathParameters }: { readonly requestId: string } & RouteMatch,
): APIGatewayProxyEventV2 {
  // API Gateway appends the caller's IP address to the header X-Forwarded-For.
  const forwarded = [headers['x-forwarded-for'], socket.remoteAddress].filter(Boolean).join(', ')
  const isText = body.length === 0 || TEXT_TYPES.test(headers['content-type'] ?? 'text/plain')
  // API Gateway decodes the path, and cuts it at a `?` that was encoded.
  const [path = ''] = decodeOnce(url.pathname).split('?')
  const query = Object.fromEntries(
    [...new Set(url.searchParams.keys())].map((name) => [name, url.searchParams.getAll(name).join(',')]),
  )
  return {
    version: '2.0',
    routeKey: route.key,
    rawPath: path,
    rawQueryString: url.search.slice(1),
    headers: {
      ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      'x-forwarded-for': forwarded,
    },
    ...(url.search.length > 1 && { queryStringParameters: query }),
    ...(pathParameters && { pathParameters }),
    ...(body.length > 0 && { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: !isText,
    requestContext: {
      accountId: 'local',
      apiId: 'local',
      domainName: 'localhost',
      domainPrefix: 'localhost',
      http: {
        method,
        path,
        protocol: 'HTTP/1.1',
        sourceIp: socket.remoteAddress ?? '',
        userAgent: headers['user-agent'] ?? '',
      },
      requestId,
      routeKey: route.key,
      stage: '$default',
      time: new Date().toISOString(),
      timeEpoch: Date.now(),
    },
  }
}

/** Returns the bytes that API Gateway sends as body for a function's response. */
export function bytesOf({
  body = '',
  isBase64Encoded = false,
}: Pick<APIGatewayProxyStructuredResultV2, 'body' | 'isBase64Encoded'>): Buffer {
  return Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8')
}

/** Returns a request's URL. */
export function urlOf({ url = '/' }: IncomingMessage): URL {
  // `new URL(path, base)` would parse a path with two leading slashes as a host, so the parts are joined.
  return new URL(`http://localhost${url}`)
}

function fits({ key, method: taken, places }: Route, method: string, parts: readonly string[]): boolean {
  if (key === DEFAULT) return true
  const isOpen = isGreedy(places.at(-1) ?? '')
  return (
    taken === method &&
    (isOpen ? parts.length >= places.length : parts.length === places.length) &&
    places.every((place, i) => (place.startsWith('{') ? isOpen || parts[i] !== '' : place === parts[i]))
  )
}

/** Ranks routes as API Gateway does: without parameters first, then with parameters, then greedy ones, and `$default` last. */
function rank({ key, places }: Route): number {
  if (key === DEFAULT) return Number.POSITIVE_INFINITY
  const parameters = places.filter((place) => place.startsWith('{')).length
  return parameters + (isGreedy(places.at(-1) ?? '') ? 100 : 0)
}

function isGreedy(place: string): boolean {
  return place.endsWith('+}')
}

/** Decodes a part of a URL once. Returns it unchanged if it is wrongly encoded. */
export function decodeOnce(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
