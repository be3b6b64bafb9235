/** The stages that run on AWS. */
export const STAGES = ['dev', 'staging', 'prod'] as const

/** The word for one stage on AWS. */
export type Stage = (typeof STAGES)[number]

/** What every place that runs the service decides for itself, the local one too. */
export type Environment = {
  /** The web pages' origins that a browser may call from. */
  readonly corsOrigins: readonly string[]
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
}

/** Where a web page under development usually runs: Next, Vite, Expo. */
const LOCALHOST = ['http://localhost:3000', 'http://localhost:5173', 'http://localhost:8081']

/** All environments: the local one, and each stage on AWS. */
export const ENVIRONMENTS = {
  local: { corsOrigins: LOCALHOST },
  dev: {
    corsOrigins: LOCALHOST,
    logRetentionDays: 7,
    throttling: { requestsPerSecond: 20, burst: 40 },
    retain: false,
  },
  // Nobody can own a name under .example: no page can call these two stages before its origin is put here.
  staging: {
    corsOrigins: ['https://staging.wallet.example'],
    logRetentionDays: 30,
    throttling: { requestsPerSecond: 50, burst: 100 },
    retain: false,
  },
  prod: {
    corsOrigins: ['https://wallet.example'],
    logRetentionDays: 90,
    throttling: { requestsPerSecond: 200, burst: 400 },
    retain: true,
  },
} as const satisfies { readonly local: Environment } & Readonly<Record<Stage, StageEnvironment>>

/** What a browser may send and read, and for how many seconds it may remember the permission; the same everywhere. */
export const CORS = {
  allowHeaders: ['content-type', 'x-join-key', 'authorization', 'platform'],
  exposeHeaders: ['x-request-id', 'retry-after'],
  // Chromium forgets after two hours, whatever is allowed.
  maxAgeSeconds: 7200,
} as const

/** The name of the secret with a stage's RPC URLs; an operator fills it (docs/deploy.md). */
export function configSecretName(stage: Stage): string {
  return `vaultline/${stage}/config`
}
