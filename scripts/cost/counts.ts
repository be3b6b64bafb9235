import * as z from 'zod'

const Whole = z.int().nonnegative()
const Times = z.record(z.string(), Whole)

/** What one request, or one run, asks of others. */
export const Counts = z.object({
  /** Requests to DynamoDB, and what these consume. */
  table: z.object({ requests: Whole, readUnits: z.number(), writeUnits: z.number() }),
  secrets: Whole,
  /** Messages that are sent and taken away. */
  queue: Whole,
  /** JSON-RPC calls of both hosts of each chain, by their methods. */
  rpc: Times,
  /** Requests to other services outside, by their names. */
  sources: Times,
  /** How many of these go out one after the other: what goes out side by side is one. */
  inSeries: z.object({ aws: Whole, rpc: Whole, sources: Whole }),
})
export type Counts = z.output<typeof Counts>

/** Bytes that leave for an answer: its headers, and its body as who takes gzip gets it. */
const Bytes = z.object({ headers: Whole, body: Whole })

const Endpoint = z.object({
  /** The first request that a container gets, the next, of another user, and for GET the same once more. */
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
  /** Metrics counted in logs that have a value without any request. */
  ownMetrics: Whole,
})

/** What the wallet's story counts (test/infra/template.infra.test.ts), and what a stage is made of. */
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
