import type { AttemptLimits } from '../lib/accounts/rate-limits.ts'
import type { RelyingParty } from '../lib/accounts/relying-party.ts'

/** Stages that run on AWS. */
export const STAGES = ['dev', 'staging', 'prod'] as const

/** Name of a stage on AWS. */
export type Stage = (typeof STAGES)[number]

/** Settings of every environment, the local one included. */
export type Environment = {
  /** Origins of the web pages that may call the API from a browser, and create and use passkeys. */
  readonly corsOrigins: readonly string[]
  /**
   * Relying party of the passkeys. Its id is the domain of the web pages or a parent domain. The id must never change, because existing
   * passkeys work with it only.
   */
  readonly relyingParty: Omit<RelyingParty, 'webOrigins'>
  readonly rateLimits: AttemptLimits
}

/** Usual origins of web pages under development with Next, Vite and Expo. */
export const LOCALHOST = ['http://localhost:3000', 'http://localhost:5173', 'http://localhost:8081']

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

/** Environment of the local service. */
export const LOCAL_ENVIRONMENT = {
  corsOrigins: LOCALHOST,
  relyingParty: { id: 'localhost', name: 'Vaultline', ...EXAMPLE_APPS },
  // The limits are high, because all requests on one machine come from one address.
  rateLimits: { perNetwork: 5000, perUser: 500, perSeed: 5000 },
} as const satisfies Environment

/** CORS headers, and the seconds for which a browser may cache the response to a preflight. All environments use the same values. */
export const CORS_SETTINGS = {
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
  // Two hours is Chromium's maximum.
  maxAgeSeconds: 7200,
} as const

/** Returns the environment variables of functions that handle users, with values as JSON. */
export function buildAccountVariables({ corsOrigins, relyingParty, rateLimits }: Environment) {
  return {
    relyingParty: JSON.stringify({ ...relyingParty, webOrigins: corsOrigins }),
    rateLimits: JSON.stringify(rateLimits),
  }
}

/** Returns the name of a stage's stack. `stack` is `shared`, `api`, or an area of the API, for example. */
export function stackName(stage: Stage, stack: string): string {
  return `vaultline-${stage}-${stack}`
}

/** Returns the name of the secret with the key from which a stage's one-time codes are derived. */
export function identitySecretName(stage: Stage | 'local'): string {
  return `vaultline/${stage}/identity`
}

/** Returns the name of the secret with a stage's signing keys; an operator's commands fill it (docs/operate/secrets.md). */
export function signingSecretName(stage: Stage | 'local'): string {
  return `vaultline/${stage}/signing`
}

/** Returns the name of the secret with the key from which a stage's webhook secrets are derived. */
export function webhookKeySecretName(stage: Stage | 'local'): string {
  return `vaultline/${stage}/webhook-key`
}

/** Returns the name of the secret with a stage's node URLs and API keys; an operator fills it (docs/operate/secrets.md). */
export function configSecretName(stage: Stage | 'local'): string {
  return `vaultline/${stage}/config`
}

/**
 * Returns the name of the secret with the keys that CloudFront sends to functions, in CloudFront's region. Functions recognize CloudFront
 * by such a key. The operator's command add-edge-key fills the secret.
 */
export function edgeSecretName(stage: Stage): string {
  return `vaultline/${stage}/edge`
}

/** Returns the name of the SNS topic of a stage's alarms. */
export function alarmsTopicName(stage: Stage): string {
  return `vaultline-${stage}-alarms`
}

/** Returns the name of the SNS topic of CloudFront's alarms, which is in CloudFront's region. */
export function edgeAlarmsTopicName(stage: Stage): string {
  return `vaultline-${stage}-edge-alarms`
}

/** Region of CloudFront's certificates, firewalls and metrics. */
export const EDGE_REGION = 'us-east-1'
