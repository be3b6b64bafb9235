import type { RateLimits } from '../lib/accounts/rate-limits.ts'
import type { RelyingParty } from '../lib/accounts/relying-party.ts'
import type { SigningKey } from './wallet-config.ts'

/** The stages that run on AWS. */
export const STAGES = ['dev', 'staging', 'prod'] as const

/** The word for one stage on AWS. */
export type Stage = (typeof STAGES)[number]

/** What every place that runs the service decides for itself, the local one too. */
export type Environment = {
  /** The web pages' origins that a browser may call from, and where it may make and use credentials. */
  readonly corsOrigins: readonly string[]
  /** For whom credentials are made. Its domain is that of the web pages, or one above; it must never change. */
  readonly relyingParty: Omit<RelyingParty, 'webOrigins'>
  readonly rateLimits: RateLimits
}

/** A site's own name, and the ARN of its certificate, which CloudFront takes from us-east-1 alone. */
export type SiteDomain = { readonly name: string; readonly certificateArn: string }

/** Pages that a stage serves beside its API, each at a name that CloudFront makes up unless it has its own. */
export type Sites = {
  /** The API's reference. */
  readonly reference?: { readonly domain?: SiteDomain }
  /**
   * The demo wallet, the API key that it calls with (everybody can read it there), and the keys that the stage's answers are
   * signed with, both of them while they change.
   */
  readonly wallet?: {
    readonly domain?: SiteDomain
    readonly apiKey: string
    readonly signingKeys: readonly SigningKey[]
  }
}

/** What a stage on AWS decides besides. */
export type StageEnvironment = Environment & {
  readonly logRetentionDays: 7 | 30 | 90
  /** The gateway answers 429 to what exceeds this, over all clients together. */
  readonly throttling: { readonly requestsPerSecond: number; readonly burst: number }
  /** Whether data, secret and logs outlive the stack, and stack and tables refuse to be deleted. */
  readonly retain: boolean
  /** Who is told of alarms by e-mail; AWS asks the address for a confirmation first. */
  readonly alarmEmail?: string
  /** Its sites, each where it is named. */
  readonly sites?: Sites
}

/** Where a web page under development usually runs: Next, Vite, Expo. */
const LOCALHOST = ['http://localhost:3000', 'http://localhost:5173', 'http://localhost:8081']

/** Applications that nobody can have built: they stand here for what an entry looks like. */
const EXAMPLE_APPS = {
  iosApps: ['ABCDE12345.example.wallet'],
  androidApps: [
    {
      packageName: 'example.wallet',
      certificateSha256:
        '14:6D:E9:83:C5:73:06:50:D8:EE:B9:95:2F:34:FC:64:16:A0:83:42:E6:1D:BE:A8:8A:04:96:B2:3F:CF:44:E5',
    },
  ],
}

/** Failures; whole mobile networks can share one address. NIST SP 800-63B-4, 3.2.2, wants at most 100 for an authenticator. */
const RATE_LIMITS = { perNetwork: 100, perUser: 10, perSeed: 100 }

/** All environments: the local one, and each stage on AWS. */
export const ENVIRONMENTS = {
  local: {
    corsOrigins: LOCALHOST,
    relyingParty: { id: 'localhost', name: 'Vaultline', ...EXAMPLE_APPS },
    // All that happens on one machine comes from one address.
    rateLimits: { perNetwork: 5000, perUser: 500, perSeed: 5000 },
  },
  dev: {
    corsOrigins: LOCALHOST,
    relyingParty: { id: 'localhost', name: 'Vaultline (dev)', iosApps: [], androidApps: [] },
    rateLimits: RATE_LIMITS,
    logRetentionDays: 7,
    throttling: { requestsPerSecond: 20, burst: 40 },
    retain: false,
  },
  // Nobody can own a name under .example: no page can call these two stages before its origin is put here.
  staging: {
    corsOrigins: ['https://staging.wallet.example'],
    relyingParty: { id: 'staging.wallet.example', name: 'Wallet (staging)', ...EXAMPLE_APPS },
    rateLimits: RATE_LIMITS,
    logRetentionDays: 30,
    throttling: { requestsPerSecond: 50, burst: 100 },
    retain: false,
  },
  prod: {
    corsOrigins: ['https://wallet.example'],
    relyingParty: { id: 'wallet.example', name: 'Wallet', ...EXAMPLE_APPS },
    rateLimits: RATE_LIMITS,
    logRetentionDays: 90,
    throttling: { requestsPerSecond: 200, burst: 400 },
    retain: true,
  },
} as const satisfies { readonly local: Environment } & Readonly<Record<Stage, StageEnvironment>>

/** What a browser may send and read, and for how many seconds it may remember the permission; the same everywhere. */
export const CORS = {
  allowHeaders: ['content-type', 'x-join-key', 'authorization', 'platform', 'content-digest'],
  exposeHeaders: [
    'x-request-id',
    'retry-after',
    'age',
    'x-stale',
    'content-digest',
    'signature',
    'signature-input',
    'ratelimit',
    'ratelimit-policy',
  ],
  // Chromium forgets after two hours, whatever is allowed.
  maxAgeSeconds: 7200,
} as const

/** The settings of functions that have to do with users, as JSON. */
export function accountSettings({ corsOrigins, relyingParty, rateLimits }: Environment) {
  return {
    relyingParty: JSON.stringify({ ...relyingParty, webOrigins: corsOrigins }),
    rateLimits: JSON.stringify(rateLimits),
  }
}

/** The name of the secret with a stage's own key. */
export function identitySecretName(stage: Stage): string {
  return `vaultline/${stage}/identity`
}

/** The name of the secret with the keys that sign a stage's answers; an operator's commands fill it (docs/deploy.md). */
export function signingSecretName(stage: Stage | 'local'): string {
  return `vaultline/${stage}/signing`
}

/** The name of the secret with a stage's RPC URLs; an operator fills it (docs/deploy.md). */
export function configSecretName(stage: Stage): string {
  return `vaultline/${stage}/config`
}
