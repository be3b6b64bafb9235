import { consumers, endpoints } from '../../functions/contracts.ts'
import type { EndpointContract } from '../../lib/frame/contract.ts'
import type { Counts, CountsFile, EndpointCounts } from './counts.ts'
import { APP_OPENS_IN_PEAK_SECOND, ASSUMPTIONS, EVENTS_PER_OPEN, OPENS_PER_MONTH, REQUESTS_PER_OPEN } from './model.ts'
import { AWS_PRICES, INDEX_UNITS, RPC_PRICES, SOURCE_PRICES } from './prices.ts'

/** Costs in dollars, by item. */
export type Bill = { readonly [Item in (typeof BILL_ITEMS)[number]]: number }

/** Items of a bill: each is a kind of cost. */
export const BILL_ITEMS = [
  'gateway',
  'compute',
  'tables',
  'secrets and queues',
  'nodes',
  'sources',
  'egress',
  'logs',
] as const

const GB = 1e9
/** Minutes of an average month. */
export const MONTH_MINUTES = 30.4 * 24 * 60
/**
 * Number of requests that Lambda sends to one queue in a month to receive messages. Each of five pollers sends one
 * every 20 s.
 */
const POLLS_PER_MONTH = (5 * MONTH_MINUTES * 60) / 20

/** Adds bills, item by item. */
export function sumOf(bills: readonly Bill[]): Bill {
  return billOf((item) => bills.reduce((sum, bill) => sum + bill[item], 0))
}

function times(bill: Bill, count: number): Bill {
  return billOf((item) => bill[item] * count)
}

/** Returns the total of a bill, in dollars. */
export function totalOf(bill: Bill): number {
  return BILL_ITEMS.reduce((sum, item) => sum + bill[item], 0)
}

function billOf(of: (item: (typeof BILL_ITEMS)[number]) => number): Bill {
  // The cast is safe: there is one entry for each item of `BILL_ITEMS`, and no other.
  return Object.fromEntries(BILL_ITEMS.map((item) => [item, of(item)])) as Bill
}

/** Wallet indexes that a stage can use. A wallet index is an API that lists all tokens and NFTs of a wallet. */
export const INDEXES = ['Alchemy', 'GoldRush', 'both', 'none'] as const
type Index = (typeof INDEXES)[number]

/**
 * Returns the cost, in dollars, of the requests to wallet indexes in one call of an endpoint. The counts are of
 * requests to GoldRush; the formula converts them for Alchemy.
 */
function billIndex(name: keyof typeof endpoints, { sources }: Counts, index: Index): number {
  const questions = sources['goldrush'] ?? 0
  const goldRush = questions * SOURCE_PRICES.goldrush.request
  const { tokens, newToken, nfts } = INDEX_UNITS
  const units =
    name === 'portfolio/nfts'
      ? questions * nfts
      : questions * tokens + (questions > 0 ? ASSUMPTIONS.newTokens * newToken : 0)
  const alchemy = units * RPC_PRICES.computeUnit
  return { Alchemy: alchemy, GoldRush: goldRush, both: alchemy + ASSUMPTIONS.indexFailures * goldRush, none: 0 }[index]
}

/** Returns the cost of one call of an endpoint, in dollars: the first call of a Lambda container, a later call, and the average call. */
export function billCall(
  name: keyof typeof endpoints,
  counted: EndpointCounts,
  memoryMiB: number,
  index: Index = 'Alchemy',
) {
  const contract: EndpointContract = endpoints[name]
  const { cold, warm, bytes } = counted
  const bill = (counts: Counts, startMs = 0): Bill => {
    const { headers, body } = bytes
    const answer = headers + body
    const cpu = cpuMs(counts, body)
    const lease = contract.caller === 'anyone' || startMs > 0 ? 0 : AWS_PRICES.writeUnit / ASSUMPTIONS.requestsPerLease
    const work = billWork(counts, { ms: startMs + cpu, memoryMiB })
    return {
      ...work,
      gateway: AWS_PRICES.gatewayRequest * Math.max(1, Math.ceil(answer / AWS_PRICES.gatewayBytes)),
      tables: work.tables + lease,
      sources: work.sources + billIndex(name, counts, index),
      egress: (answer / GB) * AWS_PRICES.egressGb,
    }
  }
  const average = billOf((item) => averageOf(counted, (counts, startMs) => bill(counts, startMs)[item]))
  return { first: bill(cold, ASSUMPTIONS.startMs), next: bill(warm), average }
}

/**
 * Returns the average of a value over an endpoint's requests. The function `of` gets a container's start time in
 * milliseconds for the first request, else 0.
 */
function averageOf({ cold, warm, again }: EndpointCounts, of: (counts: Counts, startMs: number) => number): number {
  const { coldShare, againShare, startMs } = ASSUMPTIONS
  const usual = again ? againShare * of(again, 0) + (1 - againShare) * of(warm, 0) : of(warm, 0)
  return coldShare * of(cold, startMs) + (1 - coldShare) * usual
}

/** Returns the cost, in dollars a month, of a function that a schedule runs every minute. */
export function billRunMonth(counts: Counts, memoryMiB: number): Bill {
  return times(billRun(counts, memoryMiB), MONTH_MINUTES)
}

function billRun(counts: Counts, memoryMiB: number): Bill {
  const run = billWork(counts, { ms: cpuMs(counts, 0), memoryMiB })
  return { ...run, compute: run.compute + AWS_PRICES.scheduledRun }
}

function cpuMs({ rpc }: Counts, answerBytes: number): number {
  const { request, answerKb, rpcCall } = ASSUMPTIONS.cpuMs
  return request + (answerKb * answerBytes) / 1000 + rpcCall * Object.values(rpc).reduce((sum, calls) => sum + calls, 0)
}

/**
 * Returns the cost of one invocation of a function, in dollars. `ms` excludes the time in which the function waits for
 * other services.
 */
function billWork(counts: Counts, { ms, memoryMiB }: { readonly ms: number; readonly memoryMiB: number }): Bill {
  const { table, secrets, queue, sources } = counts
  const prices: Readonly<Record<string, { readonly request: number }>> = SOURCE_PRICES
  return {
    gateway: 0,
    compute:
      AWS_PRICES.lambdaRequest + ((ms + waitedMs(counts)) / 1000) * (memoryMiB / 1024) * AWS_PRICES.lambdaGbSecond,
    tables: table.readUnits * AWS_PRICES.readUnit + table.writeUnits * AWS_PRICES.writeUnit,
    'secrets and queues': secrets * AWS_PRICES.secretsRequest + queue * AWS_PRICES.queueRequest,
    nodes: RPC_PRICES.computeUnit * computeUnits(counts),
    // Requests to `goldrush`, a wallet index, cost nothing here, because `billIndex` adds their cost.
    sources: sumOver(sources, (name) => (name === 'goldrush' ? 0 : prices[name]?.request)),
    egress: 0,
    logs: (ASSUMPTIONS.logBytes / GB) * AWS_PRICES.logGb,
  }
}

function waitedMs({ inSeries }: Counts): number {
  const { aws, rpc, sources } = ASSUMPTIONS.waitMs
  return inSeries.aws * aws + inSeries.rpc * rpc + inSeries.sources * sources
}

function computeUnits({ rpc }: Counts): number {
  const units: Readonly<Record<string, number>> = RPC_PRICES.units
  return sumOver(rpc, (method) => units[method])
}

function sumOver(counts: Readonly<Record<string, number>>, price: (name: string) => number | undefined): number {
  return Object.entries(counts).reduce((total, [name, count]) => {
    const one = price(name)
    if (one === undefined) throw new Error(`There is no price of ${name} (scripts/cost/prices.ts).`)
    return total + one * count
  }, 0)
}

/** Values of the setting `observe`, which chooses the alarms and metrics of a stage. */
export const OBSERVE_VALUES = ['none', 'slo', 'all'] as const
type Observe = (typeof OBSERVE_VALUES)[number]

/**
 * Cost item of a stage (a deployment of the service) without users. `usd` returns the dollars a month for a value of
 * `observe`.
 */
export type IdleItem = { readonly what: string; readonly usd: (observe: Observe) => number }

/** Returns the monthly cost items of a stage without users, except for nodes and data sources. */
export function billIdle({ stage, jobs: runs, size }: CountsFile): readonly IdleItem[] {
  const { bill, of } = jobsOf(runs, stage.memoryMiB.others)
  const ours = (one: Bill) => totalOf(one) - one.nodes - one.sources
  const polls = stage.polledQueues * POLLS_PER_MONTH
  const always = (what: string, usd: number): IdleItem => ({ what, usd: () => usd })
  const watched = (what: string, price: number, key: keyof typeof stage.observe.all): IdleItem => {
    const counts = OBSERVE_VALUES.map((observe) => (observe === 'none' ? 0 : stage.observe[observe][key]))
    return {
      what: `${what} (${counts.join(', ')})`,
      usd: (observe) => price * (counts[OBSERVE_VALUES.indexOf(observe)] ?? 0),
    }
  }
  return [
    always(
      `the job of ${of('jobs/refresh-chain')} chains, each minute; ${size.chainsWithVaults} of them have vaults`,
      bill('jobs/refresh-chain', ours),
    ),
    always(
      'the jobs of the market (5 minutes) and of the tokens (1 hour), with their writes',
      bill('jobs/refresh-market', ours) + bill('jobs/refresh-tokens', ours),
    ),
    always(
      `the job of the rewards of ${of('jobs/refresh-rewards')} chains, every five minutes`,
      bill('jobs/refresh-rewards', ours),
    ),
    always(`${stage.secrets} secrets`, stage.secrets * AWS_PRICES.secretMonth),
    always(
      `${stage.polledQueues} queues: ${Math.round(polls / 1e5) / 10} million polls, by five pollers each that wait 20 s`,
      polls * AWS_PRICES.queueRequest,
    ),
    watched('metrics that alarms read', AWS_PRICES.alarmMetricMonth, 'alarmMetrics'),
    watched('an alarm of two windows', AWS_PRICES.compositeAlarmMonth, 'compositeAlarms'),
    watched("metrics of the stage's own", AWS_PRICES.ownMetricMonth, 'ownMetrics'),
    watched('rules of Contributor Insights', AWS_PRICES.insightRuleMonth, 'insightRules'),
    watched('a dashboard', AWS_PRICES.dashboardMonth, 'dashboards'),
    always('tables, API and functions without requests', 0),
  ]
}

/** Returns the sum of these cost items, in dollars a month. */
export function sumIdle(items: readonly IdleItem[], observe: Observe): number {
  return items.reduce((sum, { usd }) => sum + usd(observe), 0)
}

/** Returns the cost, in dollars a month, of the JSON-RPC calls that the job refresh-chain sends to nodes. */
export function billIdleNodes({ stage, jobs: runs }: CountsFile): number {
  return jobsOf(runs, stage.memoryMiB.others).bill('jobs/refresh-chain', ({ nodes }) => nodes)
}

/** Returns the cost, in dollars a month, of the alarms by which a gradual deployment returns to the old version. */
export function billGradual({ stage }: CountsFile): number {
  return stage.gradual.alarmMetrics * AWS_PRICES.alarmMetricMonth
}

function jobsOf(runs: CountsFile['jobs'], memoryMiB: number) {
  const named = (prefix: string) => Object.entries(runs).filter(([name]) => name.startsWith(prefix))
  return {
    of: (prefix: string) => named(prefix).length,
    /**
     * Returns the monthly cost of the jobs whose names begin with `prefix`. The function `take` selects a part of each
     * run's bill.
     */
    bill: (prefix: string, take: (bill: Bill) => number) =>
      named(prefix).reduce(
        (sum, [, { counts, everyMinutes }]) => sum + (MONTH_MINUTES / everyMinutes) * take(billRun(counts, memoryMiB)),
        0,
      ),
  }
}

/** Returns the monthly cost items of a CloudFront distribution and its firewall (the edge) without requests. */
export function billIdleEdge({ edge }: CountsFile): readonly IdleItem[] {
  const { firewallMonth, firewallRuleMonth, alarmMetricMonth, secretMonth } = AWS_PRICES
  return [
    {
      what: `a firewall with ${edge.firewallRules} rules`,
      usd: () => edge.firewalls * firewallMonth + edge.firewallRules * firewallRuleMonth,
    },
    {
      what: `${edge.alarms} tickets, which read ${edge.alarmMetrics} metrics: only with \`observe: 'all'\``,
      usd: (observe) => (observe === 'all' ? edge.alarmMetrics * alarmMetricMonth : 0),
    },
    { what: 'a secret, with its keys', usd: () => secretMonth },
    { what: 'a CloudFront distribution without requests', usd: () => 0 },
  ]
}

/** Returns the monthly cost of a stage without users, in dollars. Public nodes (`hasOwnNodes` is false) cost nothing. */
export function billIdleStage(
  counted: CountsFile,
  { observe, gradual, edge }: { readonly observe: Observe; readonly gradual: boolean; readonly edge?: unknown },
  hasOwnNodes: boolean,
): number {
  const items = [...billIdle(counted), ...(edge ? billIdleEdge(counted) : [])]
  return sumIdle(items, observe) + (gradual ? billGradual(counted) : 0) + (hasOwnNodes ? billIdleNodes(counted) : 0)
}

/**
 * Returns the extra cost, in dollars, of sending these requests through CloudFront. `egressUsd` is the price of their
 * responses' traffic without CloudFront.
 */
export function billEdgeRequests(requests: number, egressUsd: number): number {
  const { edgeRequest, firewallRequest, edgeEgressGb, egressGb } = AWS_PRICES
  return requests * (edgeRequest + firewallRequest) - egressUsd * (1 - edgeEgressGb / egressGb)
}

/** Name of the entry for webhook events in the result of `billUsers`. */
export const EVENTS_ENTRY = 'events to webhooks'

/**
 * Returns the monthly calls and costs that this many registered users cause, by endpoint, and those of webhook events. Throws for an
 * endpoint without counts.
 */
export function billUsers({ endpoints: counted, event, stage }: CountsFile, users: number, index: Index = 'Alchemy') {
  const opens = users * OPENS_PER_MONTH
  const calls = Object.entries(REQUESTS_PER_OPEN).map(([name, perOpen]) => {
    // The cast is safe: `REQUESTS_PER_OPEN` has only names of endpoints as keys.
    const endpoint = name as keyof typeof endpoints
    const counts = counted[endpoint]
    if (!counts) throw new Error(`${name} is not counted.`)
    return {
      name,
      calls: opens * perOpen,
      bill: times(billCall(endpoint, counts, stage.memoryMiB.endpoints, index).average, opens * perOpen),
    }
  })
  const invocations = Object.keys(consumers).length
  const one = billWork(event, { ms: cpuMs(event, 0) * invocations, memoryMiB: stage.memoryMiB.others })
  const events = opens * EVENTS_PER_OPEN
  return [...calls, { name: EVENTS_ENTRY, calls: events, bill: times(one, events) }]
}

/** Returns the requests and resources that this many registered users need in the busiest second. */
export function busiestSecond({ endpoints: counted }: CountsFile, users: number) {
  const loads = Object.entries(REQUESTS_PER_OPEN).flatMap(([name, perOpen]) => {
    const counts = counted[name]
    return counts ? [{ counts, requests: users * APP_OPENS_IN_PEAK_SECOND * perOpen }] : []
  })
  const sum = (of: (counts: Counts, startMs: number, body: number) => number) =>
    loads.reduce((total, { counts, requests }) => {
      const { body } = counts.bytes
      return total + requests * averageOf(counts, (one, startMs) => of(one, startMs, body))
    }, 0)
  return {
    requests: sum(() => 1),
    /** Average number of Lambda containers that handle a request at the same time. */
    containers: sum((counts, startMs, body) => (startMs + cpuMs(counts, body) + waitedMs(counts)) / 1000),
    readUnits: sum(({ table }) => table.readUnits),
    writeUnits: sum(({ table }) => table.writeUnits),
    /** Compute units of JSON-RPC calls, at all node hosts of all chains. */
    computeUnits: sum(computeUnits),
    /** Requests to the wallet index, each about one wallet on one chain. */
    indexQuestions: sum(({ sources }) => sources['goldrush'] ?? 0),
    coingecko: sum(({ sources }) => sources['coingecko'] ?? 0),
    merkl: sum(({ sources }) => sources['merkl'] ?? 0),
    megabytes: sum((_, __, body) => body / 1e6),
  }
}
