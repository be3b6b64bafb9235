import * as z from 'zod'

const Whole = z.int().nonnegative()
const Count = Whole.default(0)
const Units = z.number().default(0)
const Times = z.record(z.string(), Whole)

/** Requests that one call, or one run, makes. The file omits zeros. */
export const Counts = z.object({
  /** Requests to DynamoDB, and the capacity units that these consume. */
  table: z.object({ requests: Count, readUnits: Units, writeUnits: Units }).prefault({}),
  secrets: Count,
  /** Requests that send messages. */
  queue: Count,
  /** JSON-RPC calls at both hosts of each chain, by method. */
  rpc: Times.default({}),
  /** Requests to other external services, by name. */
  sources: Times.default({}),
  /** Requests in series: concurrent requests count as one. */
  inSeries: z.object({ aws: Count, rpc: Count, sources: Count }).prefault({}),
})
export type Counts = z.output<typeof Counts>

/** Bytes of a response: its headers, and its gzip body. */
const Bytes = z.object({ headers: Whole, body: Count })

const OneHost = Counts.pick({ rpc: true, inSeries: true })
const Endpoint = z.object({
  /** Requests of a container: its first, the next of another user, and for GET the same again. */
  cold: Counts,
  warm: Counts,
  again: Counts.optional(),
  /** The JSON-RPC calls of the same where each chain has one host. */
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
  /** Metrics counted in logs that have a value without any request. */
  ownMetrics: Count,
})

/** Counts of the wallet's story (test/functions/counts.deep.test.ts) and of a stage (test/infra/template.infra.test.ts). */
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
