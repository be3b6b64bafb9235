import * as z from 'zod'

const Whole = z.int().nonnegative()
const Count = Whole.default(0)
const Units = z.number().default(0)
const Times = z.record(z.string(), Whole)

/** Requests that one call of an endpoint, or one run of a job, sends to other services. The file docs/cost.json omits zeros. */
export const Counts = z.object({
  /** Requests to DynamoDB, and the capacity units that these requests consume. */
  table: z.object({ requests: Count, readUnits: Units, writeUnits: Units }).prefault({}),
  secrets: Count,
  /** Number of requests that send messages to SQS queues. */
  queue: Count,
  /** Number of JSON-RPC calls by method, summed over the two node hosts of each chain. */
  rpc: Times.default({}),
  /** Number of requests to other external services, by the service's name. */
  sources: Times.default({}),
  /** Number of requests that run one after another, by kind of service. Concurrent requests count as one. */
  inSeries: z.object({ aws: Count, rpc: Count, sources: Count }).prefault({}),
})
export type Counts = z.output<typeof Counts>

/** Bytes of a response: its headers, and its body after gzip. */
const Bytes = z.object({ headers: Whole, body: Count })

const OneHost = Counts.pick({ rpc: true, inSeries: true })
const Endpoint = z.object({
  /**
   * Counts of three calls of an endpoint. `cold` is the first call in a Lambda container. `warm` is a call by another
   * user in the same container. `again` repeats a GET request.
   */
  cold: Counts,
  warm: Counts,
  again: Counts.optional(),
  /**
   * Counts of the same three calls if each chain has one node host instead of two. Only the JSON-RPC calls are counted.
   */
  oneHost: z.object({ cold: OneHost, warm: OneHost, again: OneHost }).partial().optional(),
  bytes: Bytes,
})
export type EndpointCounts = z.output<typeof Endpoint>

const Alarms = z.object({ alarms: Whole, alarmMetrics: Whole })
const Watched = z.object({
  ...Alarms.shape,
  compositeAlarms: Count,
  dashboards: Count,
  insightRules: Count,
  /** Number of metrics that are computed from logs and have values even without requests. */
  ownMetrics: Count,
})

/**
 * Counts of requests in a simulated use of the wallet (test/functions/counts.deep.test.ts), and of resources in the template of a stage
 * (test/infra/template.infra.test.ts).
 */
export const CountsFile = z.object({
  size: z.object({ vaults: Whole, chainsWithVaults: Whole, chains: Whole, tokens: Whole }),
  endpoints: z.record(z.string(), Endpoint),
  /** Counts of one run of each job, by name and chain. The run is in a warm container and finds no new events. */
  jobs: z.record(z.string(), z.object({ counts: Counts, everyMinutes: Whole })),
  /** Counts of all requests that record one event and send it to two webhooks. */
  event: Counts,
  stage: z.object({
    /** Numbers of monitoring resources for each value of the stage's setting `observe`; the value `none` creates no resources. */
    observe: z.object({ slo: Watched, all: Watched }),
    gradual: Alarms,
    secrets: Whole,
    polledQueues: Whole,
    memoryMiB: z.object({ endpoints: Whole, others: Whole }),
  }),
  /** Additional resources of a stage with CloudFront (the edge). */
  edge: z.object({ alarms: Whole, alarmMetrics: Whole, firewalls: Whole, firewallRules: Whole }),
})
export type CountsFile = z.output<typeof CountsFile>

/** File in which the counts are stored. */
export const COUNTS_FILE = 'docs/cost.json'
