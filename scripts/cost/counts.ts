import * as z from 'zod'

const Whole = z.int().nonnegative()
const Count = Whole.default(0)
const Units = z.number().default(0)
const Times = z.record(z.string(), Whole)

/** The requests of one call, or one run. The file leaves out what is 0. */
export const Counts = z.object({
  /** Requests to DynamoDB, and the capacity units that these consume. */
  table: z.object({ requests: Count, readUnits: Units, writeUnits: Units }).prefault({}),
  secrets: Count,
  /** Requests that send messages. */
  queue: Count,
  /** JSON-RPC calls of both hosts of each chain, by their methods. */
  rpc: Times.default({}),
  /** Requests to other services outside, by their names. */
  sources: Times.default({}),
  /** Round trips in a series: requests side by side are one. */
  inSeries: z.object({ aws: Count, rpc: Count, sources: Count }).prefault({}),
})
export type Counts = z.output<typeof Counts>

/** Bytes that leave for an answer: its headers, and its body as who takes gzip gets it. */
const Bytes = z.object({ headers: Whole, body: Count })

const OneHost = Counts.pick({ rpc: true, inSeries: true })
const Endpoint = z.object({
  /** The first request that a container gets, the next, of another user, and for GET the same once more. */
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

/** The counts of the wallet's story (test/functions/counts.service.test.ts) and of a stage (test/infra/template.infra.test.ts). */
export const Counted = z.object({
  /** How much there was to tell of. */
  size: z.object({ vaults: Whole, chainsWithVaults: Whole, chains: Whole, tokens: Whole }),
  endpoints: z.record(z.string(), Endpoint),
  /** By the job and, where it has one, its chain: a run in a container that has run before, where nothing has happened. */
  jobs: z.record(z.string(), z.object({ counts: Counts, everyMinutes: Whole })),
  /** What it takes to record one event and to send it to two webhooks. */
  event: Counts,
  stage: z.object({
    /** What watches a stage, by what it observes; `none` has nothing of it. */
    observe: z.object({ slo: Watched, all: Watched }),
    /** The alarms of gradual deploys. */
    gradual: Alarms,
    secrets: Whole,
    queuesAsked: Whole,
    memoryMiB: z.object({ endpoints: Whole, others: Whole }),
  }),
  /** What an edge has besides, which a stage need not have. */
  edge: z.object({ alarms: Whole, alarmMetrics: Whole, firewalls: Whole, firewallRules: Whole }),
})
export type Counted = z.output<typeof Counted>

/** The file of the counts. */
export const COUNTS_FILE = 'docs/cost.json'
