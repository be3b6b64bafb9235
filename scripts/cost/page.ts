import type { endpoints } from '../../functions/contracts.ts'
import { DEFAULT_LIMITS } from '../../lib/clients/key-limits.ts'
import { REQUEST_UNITS } from '../../lib/meter/meter.ts'
import {
  BILL_ITEMS,
  type Bill,
  billCall,
  billEdgeRequests,
  billGradual,
  billIdle,
  billIdleEdge,
  billIdleNodes,
  billUsers,
  busiestSecond,
  EVENTS_ENTRY,
  INDEXES,
  OBSERVE_VALUES,
  sumIdle,
  sumOf,
  totalOf,
} from './bill.ts'
import { COUNTS_FILE, type CountsFile } from './counts.ts'
import { ASSUMPTIONS, EVENTS_PER_OPEN, OPENS_PER_MONTH, REQUESTS_PER_OPEN } from './model.ts'
import { AWS_PRICES, COMPILED_ON, INDEX_UNITS, LIMITS, type Limit, RPC_PRICES, SOURCE_PRICES } from './prices.ts'

const MILLION = 1e6
/** Numbers of registered users that the page shows. */
const SIZES = [100_000, MILLION]
/** Numbers of registered users whose busiest second the page shows. */
const GROWTH = [10_000, ...SIZES, 10 * MILLION]

const INDEX_NAMES: Readonly<Record<(typeof INDEXES)[number], string>> = {
  Alchemy: 'Alchemy',
  GoldRush: 'GoldRush',
  both: `Alchemy, and GoldRush for the ${ASSUMPTIONS.indexFailures * 100} % that fail`,
  none: 'none: only listed tokens, no NFTs on EVM chains',
}

/**
 * CPU milliseconds per response in a warm container, last measured on one machine. `health` is for the health check,
 * `markets` for market data of `marketsKb` KB.
 */
const MEASURED_MS = { health: 0.1, markets: 0.9, marketsKb: 172 }

/** Ways to lower each item of the bill, as text for the page. */
const LOWER: Readonly<Record<(typeof BILL_ITEMS)[number], string>> = {
  gateway:
    'a longer `max-age` for public responses, or CloudFront before them; fewer polls of statuses (webhooks report them)',
  compute:
    'less waiting: functions wait most of their time and pay for a whole vCPU; less memory for functions that only wait; Compute Savings Plans (17 %)',
  tables: 'reserved capacity once the load is known. Containers already read shared data only once a minute',
  'secrets and queues': 'nothing significant',
  nodes: 'one read per block, shared by all callers; a host that sells requests in bulk, or nodes of our own',
  sources:
    'a longer time for which an index’s response is fresh (`INDEX_FRESH_MS` in lib/portfolio/wallet-balances.ts, `FRESH_MS` of NFTs), or a contract instead of list prices. Wallets that hold something on few chains cost less: the service looks for tokens on empty chains once a day, and these figures count every chain each time',
  egress: 'compression of unsigned responses; pages of lists; `If-None-Match`. Egress is cheaper beyond 10 TB',
  logs: 'only a sample of the lines of successful requests; the log class for infrequent access costs half',
}

/** Builds the text of docs/cost.md. */
export function buildPage(counted: CountsFile): string {
  return `${[
    '# What it costs',
    `What a stage costs without users, with users, and for each endpoint. All figures are computed: the service has not run on AWS, so nothing was ever billed.`,
    `\`npm run cost\` writes this page. It multiplies the counts of [the wallet's story](../test/support/wallet-story.ts) (\`${COUNTS_FILE}\`, which the gate compares) by the list prices of [scripts/cost/prices.ts](../scripts/cost/prices.ts). [scripts/cost/model.ts](../scripts/cost/model.ts) has the assumptions.`,
    '## A stage without users',
    'A month, without the free tier and without nodes, by what the stage observes ([watch](operate/watch.md#what-a-stage-observes)). In parentheses, how many each has.',
    idle(counted),
    describeExtras(counted),
    'Pages cost $0.001 for their files. A thousand first visits cost $0.03 to the wallet and $0.02 to the documentation (0.10 MB in 11 requests each). Plans of sources are not included: a stage without their keys does not call them.',
    '## Users',
    `On each day one user in ten opens the wallet three times: ${OPENS_PER_MONTH} times a month per user. Each time the wallet sends the model's ${number(Object.values(REQUESTS_PER_OPEN).reduce((sum, calls) => sum + calls, 0))} requests, and ${number(EVENTS_PER_OPEN)} events go to two webhooks each. Counted with ${counted.size.vaults} vaults on ${counted.size.chainsWithVaults} chains, ${counted.size.chains} chains for balances, and ${counted.size.tokens.toLocaleString('en')} tokens.`,
    'With Alchemy as the index of tokens and NFTs:',
    users(counted),
    indexes(counted),
    events(counted),
    drivers(counted),
    '## An edge, where a stage has one',
    'A month, in addition to the stage ([the edge](operate/edge.md)), without the free tier.',
    idleEdge(counted),
    edgeRequests(counted),
    '## The busiest second',
    'A day’s opens fall into eight hours; the busiest second has twice their average. The last column has the users at which the limit is reached. [scale.md](scale.md) has what to do then.',
    busiest(counted),
    '## A million calls of each endpoint',
    `In dollars. Of each million ${Math.round(ASSUMPTIONS.coldShare * 100)} % are a container's first call. Half of the GET calls repeat a call of a moment before. _First_: a cold container. _Next_: a warm one, for another user.`,
    perEndpoint(counted),
    '## Counted, assumed, left out',
    assumptions(),
  ].join('\n\n')}\n`
}

function idle(counted: CountsFile): string {
  const items = billIdle(counted)
  const row = (what: string, of: (observe: (typeof OBSERVE_VALUES)[number]) => string) => [
    what,
    ...OBSERVE_VALUES.map(of),
  ]
  return table(
    ['item', ...OBSERVE_VALUES.map((observe) => `\`${observe}\``)],
    [
      ...items.map(({ what, usd }) => row(what, (observe) => dollars(usd(observe), 2))),
      row('**together**', (observe) => `**${dollars(sumIdle(items, observe), 2)}**`),
    ],
  )
}

/** Describes the additional costs of a stage without users: nodes and gradual deploys. */
function describeExtras(counted: CountsFile): string {
  const { alarms } = counted.stage.gradual
  return [
    `The nodes that the job of the chains reads cost ${dollars(billIdleNodes(counted), 2)} more, and nothing if they are public ones.`,
    `A stage with \`gradual\` has ${alarms} alarms for its deploys, one for each endpoint and queue: ${dollars(billGradual(counted), 2)} more.`,
    'Metrics of errors, transactions and logins cost $0.30 each, in hours in which they have values.',
  ].join(' ')
}

function idleEdge(counted: CountsFile): string {
  const items = billIdleEdge(counted)
  return table(
    ['item', 'about'],
    [
      ...items.map(({ what, usd }) => [what, dollars(usd('all'), 2)]),
      ['**together**', `**${dollars(sumIdle(items, 'all'), 0)}**`],
    ],
  )
}

function edgeRequests(counted: CountsFile): string {
  const { edgeRequest, firewallRequest, edgeEgressGb, egressGb } = AWS_PRICES
  const users = SIZES.map((size) => {
    // This filter removes webhook events: they do not pass API Gateway, so their item `gateway` is 0.
    const bills = billUsers(counted, size).filter(({ bill }) => bill.gateway > 0)
    const calls = bills.reduce((sum, one) => sum + one.calls, 0)
    const { egress } = sumOf(bills.map(({ bill }) => bill))
    return `${dollars(billEdgeRequests(calls, egress), 0)} for ${usersOf(size)}`
  })
  return [
    `A million requests cost ${dollars(billEdgeRequests(MILLION, 0), 2)} more: ${dollars(edgeRequest * MILLION, 2)} for CloudFront (callers in North America and Europe) and ${dollars(firewallRequest * MILLION, 2)} for the firewall. A refused request costs only the firewall's part.`,
    `Egress costs ${dollars(edgeEgressGb, 3)} a GB there, instead of ${dollars(egressGb, 3)}. Together ${users.join(', ')}.`,
  ].join(' ')
}

function users(counted: CountsFile): string {
  const fixed = sumIdle(billIdle(counted), 'slo') + billIdleNodes(counted)
  const bills = SIZES.map((size) => sumOf(billUsers(counted, size).map(({ bill }) => bill)))
  const calls = SIZES.map((size) => billUsers(counted, size).reduce((sum, { calls }) => sum + calls, 0))
  const row = (what: string, of: (bill: Bill) => number) => [what, ...bills.map((bill) => dollars(of(bill), 0))]
  return table(
    ['a month', ...SIZES.map(usersOf)],
    [
      ['calls, million', ...calls.map((count) => number(count / MILLION))],
      ...BILL_ITEMS.map((item) => row(item, (bill) => bill[item])),
      ['the stage itself, with `slo` and nodes', ...SIZES.map(() => dollars(fixed, 0))],
      ['**together**', ...bills.map((bill) => `**${dollars(totalOf(bill) + fixed, 0)}**`)],
      ['a user', ...bills.map((bill, index) => dollars((totalOf(bill) + fixed) / (SIZES[index] ?? 1), 4))],
    ],
  )
}

function indexes(counted: CountsFile): string {
  const fixed = sumIdle(billIdle(counted), 'slo') + billIdleNodes(counted)
  const rows = INDEXES.map((index) => {
    const bills = SIZES.map((size) => sumOf(billUsers(counted, size, index).map(({ bill }) => bill)))
    return [
      INDEX_NAMES[index],
      ...bills.flatMap((bill) => [dollars(bill.sources, 0), dollars(totalOf(bill) + fixed, 0)]),
    ]
  })
  const heads = SIZES.flatMap((size) => [`sources, ${usersOf(size)}`, 'together'])
  return `An index reports tokens beyond the list and NFTs ([secrets](operate/secrets.md#indexes-of-tokens-and-nfts)). The choice decides most of the bill for sources:\n\n${table(['index, a month', ...heads], rows)}`
}

function events(counted: CountsFile): string {
  const { bill, calls = 0 } = billUsers(counted, 1).find(({ name }) => name === EVENTS_ENTRY) ?? {}
  const { requests, readUnits, writeUnits } = counted.event.table
  const million = bill && calls > 0 ? dollars((totalOf(bill) / calls) * MILLION, 0) : ''
  return `A million events, each recorded by itself and sent to two webhooks, cost ${million}: ${requests} table requests, ${number(readUnits)} read units and ${number(writeUnits)} write units an event. Events that are recorded together cost less.`
}

function busiest(counted: CountsFile): string {
  const seconds = GROWTH.map((size) => busiestSecond(counted, size))
  const ofOneUser = busiestSecond(counted, 1)
  const row = (what: string, of: (second: ReturnType<typeof busiestSecond>) => number, limit?: Limit) => [
    what,
    ...seconds.map((second) => number(of(second))),
    ...(limit
      ? [`${limit.most.toLocaleString('en')} (${limit.whose})`, usersAt(limit.most / of(ofOneUser))]
      : ['', '']),
  ]
  return table(
    ['in that second', ...GROWTH.map(usersOf), 'limit', 'reached at'],
    [
      row('requests', ({ requests }) => requests, LIMITS.gateway),
      row('functions running at the same time', ({ containers }) => containers, LIMITS.functions),
      row('read units of all tables', ({ readUnits }) => readUnits, LIMITS.readUnits),
      row('write units of all tables', ({ writeUnits }) => writeUnits, LIMITS.writeUnits),
      row(
        'compute units, both hosts of each chain, all chains together',
        ({ computeUnits }) => computeUnits,
        LIMITS.nodes,
      ),
      row(
        'questions to an index, each about one wallet on one chain',
        ({ indexQuestions }) => indexQuestions,
        LIMITS.goldrush,
      ),
      row('requests to CoinGecko', ({ coingecko }) => coingecko),
      row('requests to Merkl', ({ merkl }) => merkl, LIMITS.merkl),
      row('MB of responses', ({ megabytes }) => megabytes),
    ],
  )
}

function usersAt(users: number): string {
  return usersOf(Number(users.toPrecision(2)))
}

function drivers(counted: CountsFile): string {
  const million = billUsers(counted, MILLION)
  const bill = sumOf(million.map((one) => one.bill))
  const largest = BILL_ITEMS.toSorted((a, b) => bill[b] - bill[a]).slice(0, 3)
  const lines = largest.map((item, index) => {
    const most = million.toSorted((a, b) => b.bill[item] - a.bill[item]).slice(0, 2)
    const share = Math.round((100 * bill[item]) / totalOf(bill))
    const names = most.map(({ name, bill: of }) => `${name} ${dollars(of[item], 0)}`).join(', ')
    return `${index + 1}. **${item}**, ${share} %: mostly ${names}. To lower it: ${LOWER[item]}.`
  })
  return `The largest items of a million users, and how to lower them:\n\n${lines.join('\n')}`
}

function perEndpoint(counted: CountsFile): string {
  const rows = Object.entries(counted.endpoints).map(([name, counts]) => {
    // The cast: the names come from docs/cost.json, which has one entry for each endpoint, under the endpoint's name.
    const { first, next, average } = billCall(name as keyof typeof endpoints, counts, counted.stage.memoryMiB.endpoints)
    const of = (bill: Bill, ...items: readonly (typeof BILL_ITEMS)[number][]) =>
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

function kilobytes({ bytes: { headers, body } }: CountsFile['endpoints'][string]): string {
  return number((headers + body) / 1000)
}

function assumptions(): string {
  const { waitMs, cpuMs, startMs, requestsPerLease, logBytes } = ASSUMPTIONS
  const { requests, seconds } = DEFAULT_LIMITS.rate
  const mostGoldRush = (requests * 600) / seconds / REQUEST_UNITS.goldrush.tokens
  const mostADay = mostGoldRush * 6 * 24 * SOURCE_PRICES.goldrush.request
  const pages = [...AWS_PRICES.pages, ...RPC_PRICES.pages, ...Object.values(SOURCE_PRICES).map(({ page }) => page)]
  return [
    "- **Counted**, from the functions' own handlers: requests to DynamoDB and the units it reports, requests to Secrets Manager and SQS, JSON-RPC calls, requests to sources, and bytes of responses with headers, as gzip clients get them. Each endpoint is counted in a new container, and three seconds later in the same one for another user, each GET once more. A round trip is counted when nothing else goes on, so the counts are the same each time.",
    `- **Assumed:** a function waits ${waitMs.aws} ms for AWS, ${waitMs.rpc} ms for a chain's node and ${waitMs.sources} ms for a source, for each round trip in a series. It computes ${cpuMs.request} ms, ${cpuMs.answerKb} ms for each KB of response and ${cpuMs.rpcCall} ms for each call of a chain. On one machine \`npm run load\` measured ${MEASURED_MS.health} ms for health and ${MEASURED_MS.markets} ms for ${MEASURED_MS.marketsKb} KB of markets; the model takes ${cpuMs.request} and ${number(cpuMs.request + cpuMs.answerKb * MEASURED_MS.marketsKb)} ms, a margin for Lambda's slower core and a container's other work. A container starts in ${startMs} ms. A key's requests cost at most one write per ${requestsPerLease}. An invocation logs ${(logBytes / 1000).toFixed(1)} KB.`,
    `- **Nodes:** Alchemy's compute units. Each chain with vaults has two hosts, and the calls of both are counted. Before each request to a chain the counted run makes a block, in which the prices of synchronous vaults rise. Prices of asynchronous vaults move when they settle. Jobs run each minute.`,
    '- **Sources:** the price of a request beyond those in a plan. GoldRush costs $250 a month with 300,000, CoinGecko $129 with 500,000. The jobs call CoinGecko every half hour, which its free plan allows (decision 0006). The counted run had nothing to request.',
    `- **GoldRush is bounded:** a key may cause ${mostGoldRush.toLocaleString('en')} requests in ten minutes ([0065](decisions/0065-one-meter.md)), at most ${dollars(mostADay * 30.4, 0)} a month. Beyond that users see no unlisted tokens and no new NFTs.`,
    `- **Index:** the questions are counted, with GoldRush. Each is one GoldRush credit, or ${INDEX_UNITS.tokens} of Alchemy's compute units for tokens and ${INDEX_UNITS.nfts} for NFTs. A wallet has ${ASSUMPTIONS.newTokens} new tokens each time, of ${INDEX_UNITS.newToken} units each. The figures for users include all questions: no wallet is taken to be known.`,
    '- **Left out:** lines that Contributor Insights counts ($0.02 a million), storage of tables ($0.25 a GB and month, and $0.20 for point-in-time recovery), domains, alarm mails, support, taxes, discounts. Traces are off.',
    `- **List prices** of us-east-1, compiled on ${COMPILED_ON}, in part from copies of these pages. Compare them before you rely on them: ${pages.map((url) => `<${url}>`).join(', ')}.`,
  ].join('\n')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, index) => (index === 0 ? '---' : '--:'))), ...rows.map(line)].join('\n')
}

function dollars(usd: number, digits: number): string {
  return `$${usd.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`
}

/** Formats a number with two significant digits, or as a whole number from 100. */
function number(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(2)))
}
