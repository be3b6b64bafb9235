import type { RateLimits } from '../lib/accounts/rate-limits.ts'
import type { RelyingParty } from '../lib/accounts/relying-party.ts'

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

/** Where a web page under development usually runs: Next, Vite, Expo. */
export const LOCALHOST = ['http://localhost:3000', 'http://localhost:5173', 'http://localhost:8081']

/** Applications that nobody can have built. */
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

/** The local service. */
export const LOCAL = {
  corsOrigins: LOCALHOST,
  relyingParty: { id: 'localhost', name: 'Vaultline', ...EXAMPLE_APPS },
  // All that happens on one machine comes from one address.
  rateLimits: { perNetwork: 5000, perUser: 500, perSeed: 5000 },
} as const satisfies Environment

/** What a browser may send and read, and for how many seconds it may remember the permission; the same everywhere. */
export const CORS = {
  allowHeaders: ['content-type', 'x-join-key', 'authorization', 'platform', 'content-digest', 'if-none-match'],
  exposeHeaders: [
    'x-request-id',
    'retry-after',
    'age',
    'x-stale',
    'etag',
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

/** The name of a stage's stack, as `shared` or an area of the API. */
export function stackName(stage: Stage, stack: string): string {
  return `vaultline-${stage}-${stack}`
}

/** The name of the secret with a stage's own key. */
export function identitySecretName(stage: Stage | 'local'): string {
  return `vaultline/${stage}/identity`
}

/** The name of the secret with a stage's signing keys; an operator's commands fill it (docs/operate/secrets.md). */
export function signingSecretName(stage: Stage | 'local'): string {
  return `vaultline/${stage}/signing`
}

/** The name of the secret with the key from which the secrets of a stage's webhooks follow. */
export function webhookKeySecretName(stage: Stage | 'local'): string {
  return `vaultline/${stage}/webhook-key`
}

/** The name of the secret with a stage's RPC URLs; an operator fills it (docs/operate/secrets.md). */
export function configSecretName(stage: Stage | 'local'): string {
  return `vaultline/${stage}/config`
}

/** The name of the secret, in the edge's region, with the keys by which functions know CloudFront; an operator's command fills it. */
export function edgeSecretName(stage: Stage): string {
  return `vaultline/${stage}/edge`
}

/** The name of the topic to which a stage's alarms are told. */
export function alarmsTopicName(stage: Stage): string {
  return `vaultline-${stage}-alarms`
}

/** The name of the topic to which the alarms of its edge are told, in the edge's region. */
export function edgeAlarmsTopicName(stage: Stage): string {
  return `vaultline-${stage}-edge-alarms`
}

/** Where CloudFront takes certificates and firewalls from, and has its metrics. */
export const EDGE_REGION = 'us-east-1'
