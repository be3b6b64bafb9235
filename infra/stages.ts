import { readFile } from 'node:fs/promises'
import * as z from 'zod'
import { AttemptLimits } from '../lib/accounts/rate-limits.ts'
import { RelyingParty } from '../lib/accounts/relying-party.ts'
import { parseJson } from '../lib/core/json.ts'
import { EdgeKeyHash } from '../lib/frame/edge.ts'
import { PublicKey } from '../lib/signing/public-key.ts'
import { EDGE_REGION, type Environment, LOCALHOST, STAGES, type Stage } from './environments.ts'

/** Origin as browsers send it: lower case, without a path or a trailing slash. */
const Origin = z
  .url()
  .refine((text) => URL.parse(text)?.origin === text, 'must be an origin, as https://wallet.example')

const SiteDomain = z
  .strictObject({ name: z.string(), certificateArn: z.string() })
  .describe("A site's own name, and the ARN of its certificate, which CloudFront takes from us-east-1 alone")
export type SiteDomain = z.output<typeof SiteDomain>

const Sites = z
  .strictObject({
    reference: z.strictObject({ domain: SiteDomain.optional() }).optional().describe('The documentation'),
    wallet: z
      .strictObject({
        domain: SiteDomain.optional(),
        apiKey: z.string().describe('The key that it calls with: everybody can read it there'),
        signingKeys: z
          .array(PublicKey.pick({ kty: true, crv: true, x: true, kid: true }))
          .readonly()
          .describe("The keys that the stage's answers are signed with, both of them while they change"),
      })
      .optional()
      .describe('The demo wallet'),
  })
  .describe('Pages that a stage serves beside its API, each at a name that CloudFront makes up unless it has its own')
export type Sites = z.output<typeof Sites>

/** Limit of requests per minute, in the range that AWS WAF accepts for a rate rule. */
const RequestsPerMinute = z.int().min(10).max(2_000_000_000)

const EdgeEnvironment = z
  .strictObject({
    domain: SiteDomain,
    origin: z
      .string()
      .regex(
        /^https:\/\/[a-z0-9]+\.execute-api\.[a-z0-9-]+\.amazonaws\.com$/,
        'must be the output ApiUrl, as https://a1b2c3d4e5.execute-api.eu-west-1.amazonaws.com',
      )
      .describe("The API's own address: the output ApiUrl"),
    keys: z
      .union([z.tuple([EdgeKeyHash]), z.tuple([EdgeKeyHash, EdgeKeyHash])])
      .describe('By what functions know CloudFront, as add-edge-key tells it: it sends the first, and both are known'),
    isOnlyWay: z
      .boolean()
      .default(false)
      .describe('Whether what comes around CloudFront is answered as if nothing were there'),
    requestsPerMinute: z
      .strictObject({
        key: RequestsPerMinute.default(12_000).describe(
          'Of one key: twice the rate of the largest, as two of its windows meet',
        ),
        address: RequestsPerMinute.default(1_200).describe('Of one address, which can be a whole mobile network'),
        accounts: RequestsPerMinute.default(120).describe('Of one address, to register, log in and recover'),
      })
      .prefault({})
      .describe('From how many requests on the firewall answers 429'),
    servers: z
      // Only IPv4 is accepted, because the CloudFront distribution has IPv6 switched off. WAF refuses the range /0.
      .array(z.cidrv4().refine((range) => !range.endsWith('/0'), 'must not be everybody'))
      .max(100)
      .default([])
      .describe("Addresses of clients' servers, as 192.0.2.7/32, that ask for many users: bounded by their key alone"),
  })
  .describe('CloudFront with a firewall before the API')
export type EdgeEnvironment = z.output<typeof EdgeEnvironment>

/** Settings of a stage on AWS. */
const StageEnvironment = z.strictObject({
  corsOrigins: z.array(Origin).describe("The web pages' origins that a browser may call from"),
  relyingParty: z.strictObject(RelyingParty.omit({ webOrigins: true }).shape),
  rateLimits: AttemptLimits,
  logRetentionDays: z.literal([7, 30, 90]),
  throttling: z
    .strictObject({ requestsPerSecond: z.int().positive(), burst: z.int().positive() })
    .describe('The gateway answers 429 to what exceeds this, over all clients together'),
  retain: z
    .boolean()
    .describe('Whether data, secrets and logs outlive the stack, and stack and tables refuse to be deleted'),
  gradual: z
    .boolean()
    .default(false)
    .describe(
      'Whether a new version of an endpoint gets a tenth of its traffic for ten minutes, and none if its alarm goes off; one alarm each',
    ),
  observe: z
    .enum(['none', 'slo', 'all'])
    .default('slo')
    .describe('Which alarms there are: none, five that wake somebody, or also tickets, a dashboard and rules'),
  alarmEmail: z.email().optional().describe('The address that gets alarms; AWS asks it for a confirmation first'),
  monthlyBudgetUsd: z
    .int()
    .positive()
    .optional()
    .describe(
      'What the whole account may cost in a month: AWS tells alarmEmail when 80 % of it are spent, and when it expects more than all of it',
    ),
  deployedFrom: z
    .string()
    .regex(/^[\w.-]+(@\d+)?\/[\w.-]+(@\d+)?$/, 'must be owner@id/repository@id')
    .optional()
    .describe(
      "The GitHub repository whose workflow deploys the stage, as GitHub's tokens name it: `owner@1/repository@2`, and without ids one from before July 2026",
    ),
  edge: EdgeEnvironment.optional(),
  sites: Sites.optional(),
})
export type StageEnvironment = z.output<typeof StageEnvironment>

/**
 * Maximum numbers of failed attempts: per network address and per user in ten minutes, and per TOTP seed in thirty
 * days. A whole mobile network can share one address. NIST SP 800-63B-4, 3.2.2, allows at most 100 attempts per
 * authenticator.
 */
const RATE_LIMITS: Environment['rateLimits'] = { perNetwork: 100, perUser: 10, perSeed: 100 }

const DEFAULTS = {
  dev: {
    corsOrigins: LOCALHOST,
    relyingParty: { id: 'localhost', name: 'Vaultline (dev)', iosApps: [], androidApps: [] },
    rateLimits: RATE_LIMITS,
    logRetentionDays: 7,
    throttling: { requestsPerSecond: 20, burst: 40 },
    retain: false,
  },
  staging: {
    rateLimits: RATE_LIMITS,
    logRetentionDays: 30,
    throttling: { requestsPerSecond: 50, burst: 100 },
    retain: false,
  },
  prod: {
    rateLimits: RATE_LIMITS,
    logRetentionDays: 90,
    throttling: { requestsPerSecond: 200, burst: 400 },
    retain: true,
  },
} as const satisfies Record<Stage, Partial<StageEnvironment>>

const StagesFile = z.strictObject(
  // The cast is safe: the keys of the object are exactly the names of the stages.
  Object.fromEntries(STAGES.map((stage) => [stage, z.record(z.string(), z.unknown()).optional()])) as Record<
    Stage,
    z.ZodOptional<z.ZodRecord<z.ZodString, z.ZodUnknown>>
  >,
)

/**
 * Parses an operator's file of stages. Returns the settings of each stage in the file, and always of `dev`. Throws an Error that lists all
 * problems: invalid values, impossible passkeys, and budgets or CloudFront settings that cannot work. `staging` and `prod` may not use
 * reserved example names. The alarms of `prod` need an e-mail address.
 */
export function parseStages(text: string): ReadonlyMap<Stage, StageEnvironment> {
  const file = parse(StagesFile, parseJson(text), 'The file of stages')
  const named = STAGES.filter((stage) => stage === 'dev' || file[stage])
  return new Map(
    named.map((stage) => {
      const environment = parse(StageEnvironment, { ...DEFAULTS[stage], ...file[stage] }, `Stage ${stage}`)
      const problems = stage === 'dev' ? [] : [...listExamples(environment)]
      if (!hasPasskeys(environment)) {
        const { id } = environment.relyingParty
        problems.push(
          `relyingParty: no application, and no origin of corsOrigins at ${id} or below it, can use passkeys`,
        )
      }
      if (environment.monthlyBudgetUsd && !environment.alarmEmail) {
        problems.push('monthlyBudgetUsd: nobody would be told without alarmEmail')
      }
      problems.push(...listEdgeProblems(environment))
      if (stage === 'prod' && environment.observe !== 'none' && !environment.alarmEmail)
        problems.push('alarmEmail: its alarms would reach nobody')
      if (problems.length > 0) throw new Error(`Stage ${stage} cannot be deployed:\n${problems.join('\n')}`)
      return [stage, environment]
    }),
  )
}

/**
 * Reads the stages of this file. Returns only `dev` if no path is given and the default file is absent. Throws an Error if a named file
 * cannot be read, or if the file is invalid.
 */
export async function readStages(path: string | undefined): Promise<ReadonlyMap<Stage, StageEnvironment>> {
  try {
    return parseStages(await readFile(path ?? STAGES_FILE, 'utf8'))
  } catch (error) {
    const isAbsent = path === undefined && error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (isAbsent) return parseStages('{}')
    throw error
  }
}

/** Default path of the operator's file of stages. */
export const STAGES_FILE = 'stages.json'

/** Lists settings that still have example values: reserved domain names (RFC 2606, RFC 6761), and the invented example applications. */
function* listExamples({ corsOrigins, relyingParty, alarmEmail, edge }: StageEnvironment): Iterable<string> {
  const RESERVED = /(^|\.)(localhost|test|invalid|example|example\.(com|net|org))$/
  if (RESERVED.test(relyingParty.id)) yield `relyingParty.id: nobody can own ${relyingParty.id}`
  for (const origin of corsOrigins) {
    const { protocol, hostname } = new URL(origin)
    if (protocol !== 'https:') yield `corsOrigins: ${origin} is not of https`
    if (RESERVED.test(hostname)) yield `corsOrigins: nobody can own ${hostname}`
  }
  if (alarmEmail && RESERVED.test(alarmEmail.replace(/^.*@/, ''))) yield `alarmEmail: nobody can own ${alarmEmail}`
  if (edge && RESERVED.test(edge.domain.name)) yield `edge.domain: nobody can own ${edge.domain.name}`
  for (const app of relyingParty.iosApps) {
    if (/^ABCDE12345\.|\.example\./.test(app)) yield `relyingParty.iosApps: ${app} is an example`
  }
  for (const { packageName } of relyingParty.androidApps) {
    if (/(^|\.)example\./.test(packageName)) yield `relyingParty.androidApps: ${packageName} is an example`
  }
}

function* listEdgeProblems({ edge, sites = {} }: StageEnvironment): Iterable<string> {
  if (!edge) return
  const { name, certificateArn } = edge.domain
  if (!certificateArn.startsWith(`arn:aws:acm:${EDGE_REGION}:`)) {
    yield `edge.domain: its certificate is not in ${EDGE_REGION}, where CloudFront looks for it`
  }
  if (Object.values(sites).some((site) => site?.domain?.name === name)) yield `edge.domain: ${name} is a site's already`
}

/** Returns whether a page or application of the stage can create credentials for its relying party (WebAuthn, 5.1.3). */
function hasPasskeys({ corsOrigins, relyingParty: { id, iosApps, androidApps } }: StageEnvironment): boolean {
  const hosts = corsOrigins.map((origin) => new URL(origin).hostname)
  return [...iosApps, ...androidApps].length > 0 || hosts.some((host) => host === id || host.endsWith(`.${id}`))
}

function parse<T extends z.ZodType>(schema: T, value: unknown, what: string): z.output<T> {
  const { success, data, error } = schema.safeParse(value)
  if (!success) throw new Error(`${what} does not fit:\n${z.prettifyError(error)}`)
  return data
}
