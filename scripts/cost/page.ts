import type { endpoints } from '../../functions/contracts.ts'
import { GoldRushApi } from '../../lib/portfolio/apis.ts'
import {
  type Bill,
  billCall,
  billEdgeRequests,
  billIdle,
  billIdleEdge,
  billUsers,
  busiestSecond,
  ITEMS,
  sumOf,
  totalOf,
} from './bill.ts'
import { COUNTS_FILE, type Counted } from './counts.ts'
import { ASSUMED, EVENTS_PER_OPEN, OPENS_PER_MONTH, PER_OPEN } from './model.ts'
import { AWS_PRICES, COMPILED_ON, RPC_PRICES, SOURCE_PRICES } from './prices.ts'

const MILLION = 1e6
/** How many registered users the page tells of. */
const SIZES = [100_000, MILLION]

/** CPU of a warm answer on one machine, in milliseconds, when it was last looked at. */
const MEASURED_MS = { health: 0.2, markets: 0.8, marketsKb: 172 }

/** What would lower the largest of what is paid for. */
const LOWER: Readonly<Record<(typeof ITEMS)[number], string>> = {
  gateway:
    'a longer `max-age` where answers are public, or CloudFront before what anybody may keep; fewer polls of statuses (webhooks tell)',
  compute:
    'less waiting: functions wait most of their time, and pay for a whole vCPU meanwhile. Less memory for those that only wait, Compute Savings Plans (17 %)',
  tables: 'what all users share is read once a container and minute; reserved capacity once the load is known',
  'secrets and queues': 'nothing of note',
  nodes:
    'what is asked once a block is shared by all who ask meanwhile; a host that sells requests in bulk, or nodes of our own',
  sources:
    'a longer time for which a wallet’s tokens are fresh (`UNLISTED` and `NFTS` in lib/portfolio/cache-keys.ts), or the index of another source: a contract in place of list prices. It is less than this for wallets that hold something on few chains: of the others tokens are asked for once a day, where these figures take each chain to be asked',
  egress:
    'answers that are not signed leave compressed; pages of what is listed; `If-None-Match`; prices of egress fall beyond 10 TB',
  logs: 'a sample of the lines about requests that went well; the class of logs that are seldom read costs half',
}

/** The page of costs, as Markdown. */
export function buildPage(counted: Counted): string {
  return `${[
    '# What it costs',
    `Written by \`npm run cost\`: what [the wallet's story](../test/support/wallet-story.ts) counts (\`${COUNTS_FILE}\`, which the gate compares) times the list prices of [scripts/cost/prices.ts](../scripts/cost/prices.ts), by the assumptions of [scripts/cost/model.ts](../scripts/cost/model.ts). No figure was ever billed: the service has not run on AWS.`,
    '## A stage to which nobody comes',
    'A month, without the free tier.',
    idle(counted),
    'Pages cost nothing when idle ($0.001 for their files); a thousand first visits to the wallet $0.03, to the reference $0.12. The plans of sources are not in it: a stage without keys of theirs asks them for nothing. Metrics that count errors in logs are paid for ($0.30 each) in months in which there are any.',
    '## Users',
    `A registered user opens the wallet ${OPENS_PER_MONTH} times a month (one in ten does on a day, three times), and it asks then for what stands in the model: ${number(Object.values(PER_OPEN).reduce((sum, calls) => sum + calls, 0))} requests. ${number(EVENTS_PER_OPEN)} events go to two webhooks each. Counted with ${counted.size.vaults} vaults on ${counted.size.chainsWithVaults} chains, ${counted.size.chains} chains for balances, and ${counted.size.tokens.toLocaleString('en')} tokens.`,
    users(counted),
    drivers(counted),
    '## An edge, where a stage has one',
    'A month, beside the stage ([deploy.md](deploy.md#the-edge)), without the free tier.',
    idleEdge(counted),
    edgeRequests(counted),
    '## The busiest second',
    'Of a day’s opens in eight hours, and twice as many; what ends first, and what each key of the tables takes, is in [scale.md](scale.md#requests).',
    busiest(counted),
    '## A million calls of each endpoint',
    `In dollars: ${Math.round(ASSUMED.coldShare * 100)} % of them the first of a container, and of the GET half the same that was asked a moment before. _First_ is a million of a container's first, _next_ of another user's after it.`,
    perEndpoint(counted),
    '## What is counted, and what is not',
    assumptions(),
  ].join('\n\n')}\n`
}

function idle(counted: Counted): string {
  return itemised(billIdle(counted))
}

function idleEdge(counted: Counted): string {
  return itemised(billIdleEdge(counted))
}

/** What requests cost more through an edge. */
function edgeRequests(counted: Counted): string {
  const { edgeRequest, firewallRequest, edgeEgressGb, egressGb } = AWS_PRICES
  const users = SIZES.map((size) => {
    // Events to webhooks come by no gateway.
    const bills = billUsers(counted, size).filter(({ bill }) => bill.gateway > 0)
    const calls = bills.reduce((sum, one) => sum + one.calls, 0)
    const { egress } = sumOf(bills.map(({ bill }) => bill))
    return `${dollars(billEdgeRequests(calls, egress), 0)} for ${usersOf(size)}`
  })
  return [
    `A million requests cost ${dollars(billEdgeRequests(MILLION, 0), 2)} more: CloudFront's ${dollars(edgeRequest * MILLION, 2)} for callers in North America and Europe, and the firewall's ${dollars(firewallRequest * MILLION, 2)}, which alone is paid for those that it refuses.`,
    `What leaves costs ${dollars(edgeEgressGb, 3)} a GB there, in place of ${dollars(egressGb, 3)}. Together ${users.join(', ')}.`,
  ].join(' ')
}

function itemised(items: ReturnType<typeof billIdle>): string {
  const rows = items.map(({ what, usd }) => [what, dollars(usd, 2)])
  const all = items.reduce((sum, { usd }) => sum + usd, 0)
  return table(['what', 'about'], [...rows, ['**together**', `**${dollars(all, 0)}**`]])
}

function users(counted: Counted): string {
  const fixed = billIdle(counted).reduce((sum, { usd }) => sum + usd, 0)
  const bills = SIZES.map((size) => sumOf(billUsers(counted, size).map(({ bill }) => bill)))
  const calls = SIZES.map((size) => billUsers(counted, size).reduce((sum, { calls }) => sum + calls, 0))
  const row = (what: string, of: (bill: Bill) => number) => [what, ...bills.map((bill) => dollars(of(bill), 0))]
  return table(
    ['a month', ...SIZES.map(usersOf)],
    [
      ['calls, million', ...calls.map((count) => number(count / MILLION))],
      ...ITEMS.map((item) => row(item, (bill) => bill[item])),
      ['the stage itself', ...SIZES.map(() => dollars(fixed, 0))],
      ['**together**', ...bills.map((bill) => `**${dollars(totalOf(bill) + fixed, 0)}**`)],
      ['a user', ...bills.map((bill, index) => dollars((totalOf(bill) + fixed) / (SIZES[index] ?? 1), 4))],
    ],
  )
}

function busiest(counted: Counted): string {
  const seconds = SIZES.map((size) => busiestSecond(counted, size))
  const row = (what: string, of: (second: ReturnType<typeof busiestSecond>) => number) => [
    what,
    ...seconds.map((second) => number(of(second))),
  ]
  return table(
    ['in that second', ...SIZES.map(usersOf)],
    [
      row('requests', ({ requests }) => requests),
      row('functions at work at once', ({ containers }) => containers),
      row('read units of all tables', ({ readUnits }) => readUnits),
      row('write units of all tables', ({ writeUnits }) => writeUnits),
      row('compute units at one host of each chain, together', ({ computeUnits }) => computeUnits),
      row('requests to GoldRush', ({ goldrush }) => goldrush),
      row('requests to CoinGecko', ({ coingecko }) => coingecko),
      row('MB of answers', ({ megabytes }) => megabytes),
    ],
  )
}

function drivers(counted: Counted): string {
  const million = billUsers(counted, MILLION)
  const bill = sumOf(million.map((one) => one.bill))
  const largest = ITEMS.toSorted((a, b) => bill[b] - bill[a]).slice(0, 3)
  const lines = largest.map((item, index) => {
    const most = million.toSorted((a, b) => b.bill[item] - a.bill[item]).slice(0, 2)
    const share = Math.round((100 * bill[item]) / totalOf(bill))
    const names = most.map(({ name, bill: of }) => `${name} ${dollars(of[item], 0)}`).join(', ')
    return `${index + 1}. **${item}**, ${share} %: most of it ${names}. Lower by: ${LOWER[item]}.`
  })
  return `What a million users cost most for, and what would lower it:\n\n${lines.join('\n')}`
}

function perEndpoint(counted: Counted): string {
  const rows = Object.entries(counted.endpoints).map(([name, counts]) => {
    // The file has names of endpoints alone: each was found by its route.
    const { first, next, average } = billCall(name as keyof typeof endpoints, counts, counted.stage.memoryMiB.endpoints)
    const of = (bill: Bill, ...items: readonly (typeof ITEMS)[number][]) =>
      items.reduce((sum, item) => sum + bill[item], 0) * MILLION
    const shown = [
      of(average, 'gateway', 'compute'),
      of(average, 'tables', 'secrets and queues'),
      of(average, 'nodes'),
      of(average, 'sources'),
      of(average, 'egress', 'logs'),
      totalOf(average) * MILLION,
      totalOf(next) * MILLION,
      totalOf(first) * MILLION,
    ]
    return [name, kilobytes(counts), ...shown.map(number)]
  })
  const head = [
    'endpoint',
    'KB',
    'gateway, compute',
    'tables',
    'nodes',
    'sources',
    'egress, logs',
    '**all**',
    'next',
    'first',
  ]
  return table(head, rows)
}

function usersOf(size: number): string {
  return `${size.toLocaleString('en')} users`
}

function kilobytes({ bytes: { headers, body } }: Counted['endpoints'][string]): string {
  return number((headers + body) / 1000)
}

function assumptions(): string {
  const { waitMs, cpuMs, startMs, hosts, requestsPerLease, logBytes } = ASSUMED
  const { questionsPerClient } = GoldRushApi.parse({})
  const mostGoldRush = questionsPerClient * 6 * 24 * 30.4 * SOURCE_PRICES.goldrush.request
  const pages = [...AWS_PRICES.pages, ...RPC_PRICES.pages, ...Object.values(SOURCE_PRICES).map(({ page }) => page)]
  return [
    "- **Counted**, from the functions' own bundles behind the synthesized template: requests to DynamoDB and what it says that these consume, requests to Secrets Manager and SQS, JSON-RPC calls, requests to sources, bytes of answers with their headers as who takes gzip gets them; for each endpoint in a container that is new, in one that is warm for another user, and for GET the same once more.",
    `- **Not counted but assumed:** a function waits ${waitMs.aws} ms for AWS, ${waitMs.rpc} ms for a chain's node and ${waitMs.sources} ms for a source, each time that something goes out after what went out before; it computes ${cpuMs.request} ms, ${cpuMs.answerKb} ms for each KB answered and ${cpuMs.rpcCall} ms for each call of a chain (on one machine \`npm run load\` measured ${MEASURED_MS.health} ms for health and ${MEASURED_MS.markets} ms for ${MEASURED_MS.marketsKb} KB of markets, for which this takes ${cpuMs.request} and ${number(cpuMs.request + cpuMs.answerKb * MEASURED_MS.marketsKb)} ms: a margin for Lambda's slower core and for what a container does beside); a container takes ${startMs} ms to start. Each ${requestsPerLease} requests of a key take one write, at most. An invocation leaves ${(logBytes / 1000).toFixed(1)} KB of logs.`,
    `- **Nodes:** compute units of Alchemy; what is signed or recorded asks ${hosts} hosts. Jobs run each minute where blocks have come and nothing has happened.`,
    '- **Sources** at what a request costs beyond those that a plan has: GoldRush $250 a month with 300,000, CoinGecko $129 with 500,000. The jobs ask CoinGecko each half an hour, which its free plan allows (decision 0006); the run that was counted had nothing to ask for.',
    `- **GoldRush is bounded**: a client may ask it ${questionsPerClient.toLocaleString('en')} questions in ten minutes (\`questionsPerClient\`, docs/deploy.md), which is at most ${dollars(mostGoldRush, 0)} a month and client. Beyond that users are shown no tokens that are not listed, and no new NFTs; the figures of users here are what it takes to ask for all of them.`,
    '- **Left out:** lines that Contributor Insights counts ($0.02 a million), what tables store ($0.25 a GB and month, and $0.20 for recovery to a point in time), domains, e-mails of alarms, support, taxes, discounts. Traces are off.',
    `- **List prices** of us-east-1, compiled on ${COMPILED_ON}, in part from copies of these pages; compare them before much depends on them: ${pages.map((url) => `<${url}>`).join(', ')}.`,
  ].join('\n')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '--:'))), ...rows.map(line)].join('\n')
}

function dollars(usd: number, digits: number): string {
  return `$${usd.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`
}

/** A number with two digits, or as a whole one. */
function number(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(2)))
}
