import { consumers, endpoints } from '../../functions/contracts.ts'
import type { EndpointContract } from '../../lib/frame/contract.ts'
import type { Counted, Counts, EndpointCounts } from './counts.ts'
import { ASSUMED, EVENTS_PER_OPEN, OPENS_IN_BUSIEST_SECOND, OPENS_PER_MONTH, PER_OPEN } from './model.ts'
import { AWS_PRICES, RPC_PRICES, SOURCE_PRICES } from './prices.ts'

/** Dollars by what they are paid for. */
export type Bill = { readonly [Item in (typeof ITEMS)[number]]: number }

/** What something is paid for. */
export const ITEMS = [
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
const MONTH_MINUTES = 30.4 * 24 * 60
/** SQS is asked by five pollers for each function that takes from a queue, each of which waits 20 s. */
const POLLS_PER_MONTH = (5 * MONTH_MINUTES * 60) / 20

/** Bills together. */
export function sumOf(bills: readonly Bill[]): Bill {
  return billOf((item) => bills.reduce((sum, bill) => sum + bill[item], 0))
}

/** A bill of so many of the same. */
function times(bill: Bill, count: number): Bill {
  return billOf((item) => bill[item] * count)
}

/** All of a bill, in dollars. */
export function totalOf(bill: Bill): number {
  return ITEMS.reduce((sum, item) => sum + bill[item], 0)
}

function billOf(of: (item: (typeof ITEMS)[number]) => number): Bill {
  // Each item of the list, and no other.
  return Object.fromEntries(ITEMS.map((item) => [item, of(item)])) as Bill
}

/** What one call of an endpoint costs: of a container's first, of the next, of one that asks the same again, and on average. */
export function billCall(name: keyof typeof endpoints, counted: EndpointCounts, memoryMiB: number) {
  const contract: EndpointContract = endpoints[name]
  const { cold, warm, bytes } = counted
  const bill = (counts: Counts, startMs = 0): Bill => {
    const { headers, body } = bytes
    const answer = headers + body
    const cpu = cpuMs(counts, body)
    const lease = contract.caller === 'anyone' || startMs > 0 ? 0 : AWS_PRICES.writeUnit / ASSUMED.requestsPerLease
    const work = billWork(counts, { ms: startMs + cpu, memoryMiB })
    return {
      ...work,
      gateway: AWS_PRICES.gatewayRequest * Math.max(1, Math.ceil(answer / AWS_PRICES.gatewayBytes)),
      tables: work.tables + lease,
      egress: (answer / GB) * AWS_PRICES.egressGb,
    }
  }
  const average = billOf((item) => averageOf(counted, (counts, startMs) => bill(counts, startMs)[item]))
  return { first: bill(cold, ASSUMED.startMs), next: bill(warm), average }
}

/** The average over an endpoint's requests of what `of` tells of one; a container's first starts it, in so many milliseconds. */
function averageOf({ cold, warm, again }: EndpointCounts, of: (counts: Counts, startMs: number) => number): number {
  const { coldShare, againShare, startMs } = ASSUMED
  const usual = again ? againShare * of(again, 0) + (1 - againShare) * of(warm, 0) : of(warm, 0)
  return coldShare * of(cold, startMs) + (1 - coldShare) * usual
}

/** What one run of a job costs. */
function billRun(counts: Counts, memoryMiB: number): Bill {
  const run = billWork(counts, { ms: cpuMs(counts, 0), memoryMiB })
  return { ...run, compute: run.compute + AWS_PRICES.scheduledRun }
}

function cpuMs({ rpc }: Counts, answerBytes: number): number {
  const { request, answerKb, rpcCall } = ASSUMED.cpuMs
  return request + (answerKb * answerBytes) / 1000 + rpcCall * Object.values(rpc).reduce((sum, calls) => sum + calls, 0)
}

/** What the work of one invocation costs that takes so many milliseconds besides what it waits for. */
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
    sources: sumOver(sources, (name) => prices[name]?.request),
    egress: 0,
    logs: (ASSUMED.logBytes / GB) * AWS_PRICES.logGb,
  }
}

/** How long an invocation waits for others. */
function waitedMs({ inSeries }: Counts): number {
  const { aws, rpc, sources } = ASSUMED.waitMs
  return inSeries.aws * aws + inSeries.rpc * rpc + inSeries.sources * sources
}

/** Compute units of its calls, at all hosts. */
function computeUnits({ rpc }: Counts): number {
  const units: Readonly<Record<string, number>> = RPC_PRICES.units
  return sumOver(rpc, (method) => units[method])
}

function sumOver(asked: Readonly<Record<string, number>>, price: (name: string) => number | undefined): number {
  return Object.entries(asked).reduce((total, [name, count]) => {
    const one = price(name)
    if (one === undefined) throw new Error(`There is no price of ${name} (scripts/cost/prices.ts).`)
    return total + one * count
  }, 0)
}

/** What a stage costs in a month to which nobody comes: each item with what there is of it, and its dollars. */
export function billIdle({
  stage,
  jobs: runs,
  size,
}: Counted): readonly { readonly what: string; readonly usd: number }[] {
  const jobsOf = (prefix: string) =>
    Object.entries(runs)
      .filter(([name]) => name.startsWith(prefix))
      .map(([, { counts, everyMinutes }]) => ({
        runs: MONTH_MINUTES / everyMinutes,
        bill: billRun(counts, stage.memoryMiB.others),
      }))
  const cost = (prefix: string, of: (bill: Bill) => number) =>
    jobsOf(prefix).reduce((sum, { runs: times, bill }) => sum + times * of(bill), 0)
  const ours = (bill: Bill) => totalOf(bill) - bill.nodes - bill.sources
  const all = jobsOf('jobs/').reduce((sum, { runs: times }) => sum + times, 0)
  const polls = stage.queuesAsked * POLLS_PER_MONTH
  return [
    {
      what: `the job of ${jobsOf('jobs/refresh-chain').length} chains, each minute; ${size.chainsWithVaults} of them have vaults`,
      usd: cost('jobs/refresh-chain', ours),
    },
    { what: 'the nodes that it reads', usd: cost('jobs/refresh-chain', ({ nodes }) => nodes) },
    {
      what: 'the jobs of the market (5 minutes) and of the tokens (1 hour), with their writes',
      usd: cost('jobs/refresh-market', ours) + cost('jobs/refresh-tokens', ours),
    },
    {
      what: `${stage.alarms} alarms, which watch ${stage.alarmMetrics} metrics`,
      usd: stage.alarmMetrics * AWS_PRICES.alarmMetricMonth,
    },
    {
      what: `${stage.insightRules} rules of Contributor Insights`,
      usd: stage.insightRules * AWS_PRICES.insightRuleMonth,
    },
    { what: 'a dashboard', usd: stage.dashboards * AWS_PRICES.dashboardMonth },
    { what: `${stage.ownMetrics} metrics of the jobs' own`, usd: stage.ownMetrics * AWS_PRICES.ownMetricMonth },
    { what: `${stage.secrets} secrets`, usd: stage.secrets * AWS_PRICES.secretMonth },
    {
      what: `${stage.queuesAsked} queues: ${Math.round(polls / 1e5) / 10} million polls, by five pollers each that wait 20 s`,
      usd: polls * AWS_PRICES.queueRequest,
    },
    { what: `${Math.round(all / 1000)},000 runs in all; tables, API and functions without requests`, usd: 0 },
  ]
}

/** What a stage's edge costs in a month to which nobody comes: each item with what there is of it, and its dollars. */
export function billIdleEdge({ edge }: Counted): readonly { readonly what: string; readonly usd: number }[] {
  const { firewallMonth, firewallRuleMonth, alarmMetricMonth, secretMonth } = AWS_PRICES
  return [
    {
      what: `a firewall with ${edge.firewallRules} rules`,
      usd: edge.firewalls * firewallMonth + edge.firewallRules * firewallRuleMonth,
    },
    {
      what: `${edge.alarms} alarms, which watch ${edge.alarmMetrics} metrics`,
      usd: edge.alarmMetrics * alarmMetricMonth,
    },
    { what: 'a secret, with its keys', usd: secretMonth },
    { what: 'a CloudFront distribution without requests', usd: 0 },
  ]
}

/** What so many requests cost more through an edge, whose answers would cost so much to let out without it. */
export function billEdgeRequests(requests: number, egressUsd: number): number {
  const { edgeRequest, firewallRequest, edgeEgressGb, egressGb } = AWS_PRICES
  return requests * (edgeRequest + firewallRequest) - egressUsd * (1 - edgeEgressGb / egressGb)
}

/** The name of events among what users cause. */
export const EVENTS = 'events to webhooks'

/** What so many registered users cost in a month besides a stage without them, by endpoint, and the requests that they make. */
export function billUsers({ endpoints: counted, event, stage }: Counted, users: number) {
  const opens = users * OPENS_PER_MONTH
  const calls = Object.entries(PER_OPEN).map(([name, perOpen]) => {
    // The model has names of endpoints alone.
    const endpoint = name as keyof typeof endpoints
    const counts = counted[endpoint]
    if (!counts) throw new Error(`${name} is not counted.`)
    return {
      name,
      calls: opens * perOpen,
      bill: times(billCall(endpoint, counts, stage.memoryMiB.endpoints).average, opens * perOpen),
    }
  })
  const invocations = Object.keys(consumers).length
  const one = billWork(event, { ms: cpuMs(event, 0) * invocations, memoryMiB: stage.memoryMiB.others })
  const events = opens * EVENTS_PER_OPEN
  return [...calls, { name: EVENTS, calls: events, bill: times(one, events) }]
}

/** What so many registered users ask for in the busiest second. */
export function busiestSecond({ endpoints: counted }: Counted, users: number) {
  const asked = Object.entries(PER_OPEN).flatMap(([name, perOpen]) => {
    const counts = counted[name]
    return counts ? [{ counts, requests: users * OPENS_IN_BUSIEST_SECOND * perOpen }] : []
  })
  const sum = (of: (counts: Counts, startMs: number, body: number) => number) =>
    asked.reduce((total, { counts, requests }) => {
      const { body } = counts.bytes
      return total + requests * averageOf(counts, (one, startMs) => of(one, startMs, body))
    }, 0)
  return {
    requests: sum(() => 1),
    /** Functions that are at work at the same moment. */
    containers: sum((counts, startMs, body) => (startMs + cpuMs(counts, body) + waitedMs(counts)) / 1000),
    readUnits: sum(({ table }) => table.readUnits),
    writeUnits: sum(({ table }) => table.writeUnits),
    /** Of all hosts of each chain. */
    computeUnits: sum(computeUnits),
    goldrush: sum(({ sources }) => sources['goldrush'] ?? 0),
    coingecko: sum(({ sources }) => sources['coingecko'] ?? 0),
    megabytes: sum((_, __, body) => body / 1e6),
  }
}
