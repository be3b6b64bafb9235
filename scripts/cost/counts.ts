import * as z from 'zod'

const Whole = z.int().nonnegative()
const Times = z.record(z.string(), Whole)

/** Calls that one request, or one run, makes to other services. */
export const Counts = z.object({
  /** Requests to DynamoDB, and the units that they consume. */
  table: z.object({ requests: Whole, readUnits: z.number(), writeUnits: z.number() }),
  secrets: Whole,
  /** Messages sent and deleted. */
  queue: Whole,
  /** JSON-RPC calls at both hosts of each chain, by method. */
  rpc: Times,
  /** Requests to other external services, by name. */
  sources: Times,
  /** Requests in series: concurrent requests count as one. */
  inSeries: z.object({ aws: Whole, rpc: Whole, sources: Whole }),
})
export type Counts = z.output<typeof Counts>

/** Bytes of a response: its headers, and its gzip body. */
const Bytes = z.object({ headers: Whole, body: Whole })

const Endpoint = z.object({
  /** Requests of a container: its first, the next of another user, and for GET the same again. */
  cold: Counts,
  warm: Counts,
  again: Counts.optional(),
  bytes: Bytes,
})
export type EndpointCounts = z.output<typeof Endpoint>

const Alarms = z.object({ alarms: Whole, alarmMetrics: Whole })
const Watched = z.object({
  ...Alarms.shape,
  compositeAlarms: Whole,
  dashboards: Whole,
  insightRules: Whole,
  /** Metrics counted in logs that have a value even without requests. */
  ownMetrics: Whole,
})

/** Counts of the wallet's story (test/infra/template.infra.test.ts), and the resources of a stage. */
export const Counted = z.object({
  size: z.object({ vaults: Whole, chainsWithVaults: Whole, chains: Whole, tokens: Whole }),
  endpoints: z.record(z.string(), Endpoint),
  /** Runs by job and chain, if it has one: in a warm container, without new events. */
  jobs: z.record(z.string(), z.object({ counts: Counts, everyMinutes: Whole })),
  /** Work to record one event and send it to two webhooks. */
  event: Counts,
  stage: z.object({
    /** Monitoring of a stage by its choice of `observe`; `none` has nothing. */
    observe: z.object({ slo: Watched, all: Watched }),
    gradual: Alarms,
    secrets: Whole,
    queuesAsked: Whole,
    memoryMiB: z.object({ endpoints: Whole, others: Whole }),
  }),
  /** Additional resources of an optional edge. */
  edge: z.object({ alarms: Whole, alarmMetrics: Whole, firewalls: Whole, firewallRules: Whole }),
})
export type Counted = z.output<typeof Counted>

/** File of the counts. */
export const COUNTS_FILE = 'docs/cost.json'
