import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import * as z from 'zod'
import type { SynthesizedStack } from './assembly.ts'
import { localConfig } from './dynamo.ts'
import { createFirewall } from './edge/firewall.ts'
import { type RawHttpResponse, sendHttpRequest } from './exchange.ts'
import { listen } from './listen.ts'
import { readBody } from './read-body.ts'
import { deploy } from './template/deployed.ts'
import { matchesPattern } from './template/policies.ts'

type Settings = {
  /** URL of the local API, to which all requests go, regardless of the distribution's origin. */
  readonly originUrl: string
  readonly secretsmanager: string
  /** Returns the current time in epoch milliseconds. */
  readonly now: () => number
}

/**
 * Header with the client IP address that a test chooses, because all local requests come from one address. The origin never receives this
 * header.
 */
export const VIEWER_HEADER = 'x-sandbox-viewer'

const Behavior = z.strictObject({
  PathPattern: z.string().default('*'),
  AllowedMethods: z.array(z.string()).default(['GET', 'HEAD']),
  CachePolicyId: z.string(),
  OriginRequestPolicyId: z.string(),
  Compress: z.boolean(),
  TargetOriginId: z.string(),
  // The schema accepts only HTTPS: with another policy an API key could travel unencrypted.
  ViewerProtocolPolicy: z.literal('https-only'),
})
type Behavior = z.output<typeof Behavior>
const Origin = z.strictObject({
  Id: z.string(),
  DomainName: z.string(),
  CustomOriginConfig: z.strictObject({
    OriginProtocolPolicy: z.literal('https-only'),
    OriginSSLProtocols: z.array(z.literal('TLSv1.2')),
  }),
  OriginCustomHeaders: z.array(z.strictObject({ HeaderName: z.string(), HeaderValue: z.string() })).default([]),
})
const Distribution = z.object({
  DistributionConfig: z.strictObject({
    Aliases: z.array(z.string()),
    CacheBehaviors: z.array(Behavior).default([]),
    Comment: z.string(),
    CustomErrorResponses: z
      .array(z.strictObject({ ErrorCode: z.number(), ErrorCachingMinTTL: z.number() }))
      .default([]),
    DefaultCacheBehavior: Behavior,
    Enabled: z.literal(true),
    HttpVersion: z.string(),
    IPV6Enabled: z.boolean(),
    Origins: z.tuple([Origin]),
    ViewerCertificate: z.object({ AcmCertificateArn: z.string().startsWith('arn:aws:acm:us-east-1:') }),
    WebACLId: z.string(),
  }),
})
const CachePolicy = z.object({
  CachePolicyConfig: z.object({
    MinTTL: z.number(),
    DefaultTTL: z.number(),
    MaxTTL: z.number(),
    ParametersInCacheKeyAndForwardedToOrigin: z.strictObject({
      CookiesConfig: z.strictObject({ CookieBehavior: z.literal('none') }),
      EnableAcceptEncodingBrotli: z.literal(false),
      EnableAcceptEncodingGzip: z.boolean(),
      HeadersConfig: z.strictObject({
        HeaderBehavior: z.enum(['none', 'whitelist']),
        Headers: z.array(z.string()).default([]),
      }),
      QueryStringsConfig: z.strictObject({ QueryStringBehavior: z.enum(['none', 'all']) }),
    }),
  }),
})
const OriginRequestPolicy = z.object({
  OriginRequestPolicyConfig: z.object({
    CookiesConfig: z.strictObject({ CookieBehavior: z.enum(['none', 'all']) }),
    HeadersConfig: z.strictObject({ HeaderBehavior: z.literal('allExcept'), Headers: z.tuple([z.literal('host')]) }),
    QueryStringsConfig: z.strictObject({ QueryStringBehavior: z.literal('all') }),
  }),
})
type ForwardedParts = { readonly hasHost: boolean; readonly hasCookies: boolean }

/** Cache policy: TTLs in seconds, and the parts of the cache key other than the path. */
type Caching = {
  readonly least: number
  readonly usual: number
  readonly most: number
  readonly headers: readonly string[]
  readonly hasQuery: boolean
  readonly isGzip: boolean
}
type Answer = Pick<RawHttpResponse, 'status' | 'headers' | 'bytes'>
type CachedResponse = { readonly answer: Answer; readonly at: number; readonly until: number }

// CloudFront's managed cache policies, by id. Source:
// https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-cache-policies.html
const MANAGED_CACHING: Readonly<Record<string, Caching>> = {
  // Managed cache policy CachingDisabled.
  '4135ea2d-6df8-44a3-9df3-4b5a84be39ad': { least: 0, usual: 0, most: 0, headers: [], hasQuery: false, isGzip: false },
  // Managed cache policy CachingOptimized.
  '658327ea-f89d-4fab-a63d-7e88639e58f6': {
    ...{ least: 1, usual: 86_400, most: 31_536_000, headers: [], hasQuery: false, isGzip: true },
  },
}
// CloudFront's managed origin request policies, by id. Source:
// https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/using-managed-origin-request-policies.html
const MANAGED_REQUESTS: Readonly<Record<string, ForwardedParts>> = {
  // Managed origin request policy AllViewer.
  '216adef6-5c7f-47e4-b989-5492eafa07d3': { hasHost: true, hasCookies: true },
  // Managed origin request policy AllViewerExceptHostHeader.
  'b689b0a8-53d0-40ab-baf2-68738e2966ac': { hasHost: false, hasCookies: true },
}

/** Hop-by-hop headers (RFC 9110, 7.6.1), which a proxy must not forward. */
const HOP_HEADERS = ['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'proxy-connection']
const COMPRESSIBLE = /^(application\/(json|javascript|xml)|text\/)/
/** HTTP error statuses that CloudFront caches by default, even without cache headers. */
const CACHED_ERROR_STATUSES = [404, 414, 500, 501, 502, 503, 504]
const USUAL_FAILURE_SECONDS = 10
const MAX_BODY_BYTES = 20 * 1024 * 1024
const SECRET = /^\{\{resolve:secretsmanager:([^:]+):SecretString:([^:]+)::\}\}$/

/**
 * Serves an imitation of CloudFront on a local port, with the stacks' only distribution and its firewall. Forwards, caches and compresses
 * by the distribution's policies. Accepts HTTP in place of HTTPS. Throws for a template that AWS would reject or this code does not
 * support.
 */
export async function startEdge(
  stacks: readonly SynthesizedStack[],
  { originUrl, secretsmanager, now }: Settings,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const deployed = deploy(stacks, '')
  const [distribution, ...others] = deployed('AWS::CloudFront::Distribution', Distribution)
  if (!distribution || others.length > 0) throw new Error('The stacks must have exactly one distribution.')
  const config = distribution.properties.DistributionConfig
  const inspect = createFirewall(deployed, config.WebACLId, now)
  const policies = new Map(
    deployed('AWS::CloudFront::CachePolicy', CachePolicy).map(({ id, properties }) => [id, cachingOf(properties)]),
  )
  const requestPolicies = new Map(
    deployed('AWS::CloudFront::OriginRequestPolicy', OriginRequestPolicy).map(
      ({ id, properties: { OriginRequestPolicyConfig: config } }) => [
        id,
        { hasHost: false, hasCookies: config.CookiesConfig.CookieBehavior === 'all' },
      ],
    ),
  )
  const [{ DomainName: originHost, OriginCustomHeaders }] = config.Origins
  const customHeaders = await resolveSecrets(OriginCustomHeaders, secretsmanager)
  const cachedResponses = new Map<string, CachedResponse>()

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET', url = '/', headers } = request
    const [path = '', query = ''] = url.split('?')
    const address = String(headers[VIEWER_HEADER] ?? '203.0.113.1')
    const body = await readBody(request, MAX_BODY_BYTES)
    if (!body) return refuse(response, 413)
    const refusal = inspect({ address, method, path, headers, bodyBytes: body.length })
    if (refusal) return void response.writeHead(refusal.status, refusal.headers).end(refusal.body)
    const behavior =
      config.CacheBehaviors.find(({ PathPattern }) => matchesPattern(PathPattern, path)) ?? config.DefaultCacheBehavior
    if (!behavior.AllowedMethods.includes(method)) return refuse(response, 403)
    // CloudFront rejects a GET request with a body. Source:
    // https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/RequestAndResponseBehaviorCustomOrigin.html
    if (method === 'GET' && body.length > 0) return refuse(response, 403)
    const caching = policies.get(behavior.CachePolicyId) ?? MANAGED_CACHING[behavior.CachePolicyId]
    if (!caching) throw new Error(`The cache policy ${behavior.CachePolicyId} is not known here.`)

    const key = JSON.stringify([
      ...[path, caching.hasQuery ? query : '', caching.headers.map((name) => headers[name.toLowerCase()])],
      caching.isGzip && takesGzip(headers),
    ])
    const before = method === 'GET' ? cachedResponses.get(key) : undefined
    if (before && now() < before.until) {
      const age = Number(before.answer.headers['age'] ?? 0) + Math.floor((now() - before.at) / 1000)
      return send(response, before.answer, { 'x-cache': 'Hit from cloudfront', age: String(age) })
    }
    const sent = { ...forwarded(headers, behavior, caching), ...forViewer(headers, address) }
    const fresh = await sendHttpRequest(`${originUrl}${url}`, { method, headers: sent, body })
    const encoded = behavior.Compress && caching.isGzip && takesGzip(headers) ? compressed(fresh) : fresh
    const seconds = secondsOf(encoded, caching, config.CustomErrorResponses)
    if (method === 'GET' && seconds > 0)
      cachedResponses.set(key, { answer: encoded, at: now(), until: now() + seconds * 1000 })
    send(response, encoded, { 'x-cache': 'Miss from cloudfront' })
  }

  function forwarded(headers: IncomingHttpHeaders, { OriginRequestPolicyId }: Behavior, { isGzip }: Caching) {
    const policy = requestPolicies.get(OriginRequestPolicyId) ?? MANAGED_REQUESTS[OriginRequestPolicyId]
    if (!policy) throw new Error(`The origin request policy ${OriginRequestPolicyId} is not known here.`)
    const { host, cookie: _, 'if-none-match': tag, 'accept-encoding': encoding, ...rest } = headers
    return {
      ...Object.fromEntries(Object.entries(rest).filter(([name]) => ![...HOP_HEADERS, VIEWER_HEADER].includes(name))),
      // CloudFront removes If-None-Match if it forwards cookies. Source:
      // https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/Cookies.html
      ...(tag && !policy.hasCookies && { 'if-none-match': tag }),
      host: policy.hasHost ? host : originHost,
      ...(isGzip ? takesGzip(headers) && { 'accept-encoding': 'gzip' } : encoding && { 'accept-encoding': encoding }),
    }
  }

  /** Returns the headers that CloudFront sets itself. They replace headers of the same name from the client. */
  function forViewer({ 'x-forwarded-for': before }: IncomingHttpHeaders, address: string) {
    return {
      'x-forwarded-for': [before, address].filter(Boolean).join(', '),
      via: '2.0 sandbox.cloudfront.net (CloudFront)',
      'x-amz-cf-id': randomUUID(),
      ...customHeaders,
    }
  }

  return await listen(
    (request, response) => {
      void answer(request, response).catch(() => refuse(response, 502))
    },
    { isOwnHost: () => true },
  )
}

function cachingOf({ CachePolicyConfig }: z.output<typeof CachePolicy>): Caching {
  const { MinTTL, DefaultTTL, MaxTTL, ParametersInCacheKeyAndForwardedToOrigin: key } = CachePolicyConfig
  return {
    ...{ least: MinTTL, usual: DefaultTTL, most: MaxTTL, headers: key.HeadersConfig.Headers },
    hasQuery: key.QueryStringsConfig.QueryStringBehavior === 'all',
    isGzip: key.EnableAcceptEncodingGzip,
  }
}

/** Replaces references to secrets in the origin's headers by their values, as CloudFormation does at deployment. */
async function resolveSecrets(
  headers: z.output<typeof Origin>['OriginCustomHeaders'],
  endpoint: string,
): Promise<Record<string, string>> {
  const secrets = new SecretsManagerClient(localConfig(endpoint))
  try {
    const resolved = headers.map(async ({ HeaderName, HeaderValue }) => {
      const [, SecretId, field = ''] = SECRET.exec(HeaderValue) ?? []
      if (!SecretId) return [HeaderName, HeaderValue]
      const { SecretString = '' } = await secrets.send(new GetSecretValueCommand({ SecretId }))
      const value: unknown = JSON.parse(SecretString)[field]
      if (typeof value !== 'string') throw new Error(`Could not find a value associated with JSONKey in ${SecretId}.`)
      return [HeaderName, value]
    })
    return Object.fromEntries(await Promise.all(resolved))
  } finally {
    secrets.destroy()
  }
}

function takesGzip(headers: IncomingHttpHeaders): boolean {
  return /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''))
}

function compressed(answer: Answer): Answer {
  const { status, headers, bytes } = answer
  const { 'content-length': _, ...rest } = headers
  const isSuitable = status === 200 && COMPRESSIBLE.test(headers['content-type'] ?? '') && !headers['content-encoding']
  if (!isSuitable || bytes.length < 1000 || bytes.length > 10_000_000) return answer
  return { status, headers: { ...rest, 'content-encoding': 'gzip' }, bytes: gzipSync(bytes) }
}

/**
 * Returns the seconds for which a response is cached. Headers and cache policy decide for a success. The distribution's settings or
 * CloudFront's default decide for a failure.
 */
function secondsOf(
  { status, headers }: Answer,
  { least, usual, most }: Caching,
  failures: readonly { readonly ErrorCode: number; readonly ErrorCachingMinTTL: number }[],
): number {
  const { 'cache-control': said = '' } = headers
  const [, maxAge] = /\b(?:s-maxage|max-age)=(\d+)/.exec(said) ?? []
  if (status >= 400) {
    const minTtl = failures.find(({ ErrorCode }) => ErrorCode === status)?.ErrorCachingMinTTL
    return minTtl ?? (CACHED_ERROR_STATUSES.includes(status) ? USUAL_FAILURE_SECONDS : 0)
  }
  if (status !== 200) return 0
  // CloudFront caches a response for the cache policy's minimum TTL even if the response's headers forbid caching.
  if (/no-store|no-cache|private/.test(said)) return least
  return Math.min(most, Math.max(least, maxAge === undefined ? usual : Number(maxAge) - Number(headers['age'] ?? 0)))
}

function send(response: ServerResponse, { status, headers, bytes }: Answer, more: Record<string, string>): void {
  for (const [name, value] of Object.entries({ ...headers, ...more })) {
    if (value !== undefined && !HOP_HEADERS.includes(name)) response.setHeader(name, value)
  }
  response.setHeader('x-amz-cf-id', randomUUID())
  response.writeHead(status).end(bytes)
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'text/html', server: 'CloudFront' }).end('<HTML></HTML>')
}
