import type { HttpStage } from 'aws-cdk-lib/aws-apigatewayv2'
import {
  ConcreteWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  LogQueryWidget,
  MathExpression,
  PeriodOverride,
} from 'aws-cdk-lib/aws-cloudwatch'
import type { Table } from 'aws-cdk-lib/aws-dynamodb'
import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { Aws } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { EVM_CHAINS } from '../lib/chain/registry.ts'
import { METRICS_NAMESPACE } from '../lib/frame/contract.ts'
import { EDGE_REGION } from './environments.ts'
import {
  failuresOf,
  judgedBy,
  type LoggedMetric,
  lambdaConcurrency,
  lambdaThrottles,
  latencyOf,
  loggedMetric,
  PERIOD,
  requestsOf,
  waitingIn,
} from './metrics.ts'

type Settings = {
  /** As in `vaultline-dev`: the dashboard's name, and what the names of the stage's functions and logs begin with. */
  readonly name: string
  readonly api: HttpStage
  readonly accessLogs: ILogGroup
  /** What counts errors by their codes, and by what an upstream answered. */
  readonly rules: { readonly codes: string; readonly upstreams: string }
  readonly tables: Readonly<Record<string, Table>>
  readonly queues: Readonly<Record<string, { readonly queue: Queue; readonly deadLetters: Queue }>>
  /** The names of the stacks that have functions. */
  readonly areas: readonly string[]
  readonly hasEdge: boolean
}

const WIDTH = 8
const HEIGHT = 6

/**
 * The dashboard of a stage. What other stacks have is found by the words in its name (`SEARCH`), so that this one refers to
 * none of them and shows each function and chain that there is.
 */
export function addDashboard(scope: Construct, settings: Settings): void {
  const { name, api, accessLogs, rules, tables, queues, areas, hasEdge } = settings
  const words = name.replaceAll('-', ' ')
  const counted = (metric: LoggedMetric, chainId?: number) => loggedMetric(name, metric, chainId)
  const ofFunctions = (metric: string, statistic: string, more = '') =>
    `SEARCH('{AWS/Lambda,FunctionName} MetricName="${metric}" ${words}${more && ` ${more}`}', '${statistic}')`
  const ofRuns = (metric: string, statistic: string, dimensions: string) =>
    `SEARCH('{${METRICS_NAMESPACE},${dimensions}} MetricName="${metric}" ${words}', '${statistic}')`
  const ofChains = (metric: LoggedMetric) =>
    EVM_CHAINS.map((chain) => counted(metric, chain.id).with({ label: `${chain.name}, ${metric}` }))

  new Dashboard(scope, 'Dashboard', {
    dashboardName: name,
    periodOverride: PeriodOverride.INHERIT,
    widgets: [
      [
        graph('Requests', [requestsOf(api), failuresOf(api), counted('requests refused by the gateway')]),
        graph('Milliseconds that requests take', [latencyOf(api, 'p50'), latencyOf(api, 'p99')]),
        new LogQueryWidget({
          title: 'Requests that failed, by route',
          logGroupNames: [accessLogs.logGroupName],
          queryLines: [
            'filter status >= 400',
            'stats count(*) as requests by route, status',
            'sort requests desc',
            'limit 20',
          ],
          width: WIDTH,
          height: HEIGHT,
        }),
      ],
      ...(hasEdge ? [edgeRow(name)] : []),
      [
        new RuleWidget('Errors by code', rules.codes),
        new RuleWidget('What nodes and sources answered that failed', rules.upstreams),
        graph('Failures of ours by function', [
          search(`SEARCH('{"${name}"} errors', 'Sum')`),
          counted('requests not counted'),
        ]),
      ],
      [
        graph('Seconds that each chain is behind', [search(ofRuns('lagSeconds', 'Maximum', 'chainId,service'))]),
        graph('Nodes that disagree', [
          ...ofChains('nodes disagree on what is signed'),
          ...ofChains('nodes disagree on what is recorded'),
        ]),
        graph('Reports of each chain: none is silence', [
          search(ofRuns('openTransfers', 'SampleCount', 'chainId,service')),
        ]),
      ],
      [
        graph('Seconds that the market and the tokens are behind', [
          search(ofRuns('lagSeconds', 'Maximum', 'service')),
        ]),
        graph('Longest runs of jobs, in milliseconds', [search(ofFunctions('Duration', 'Maximum', 'jobs'))]),
        graph('Failed runs of jobs', [search(ofFunctions('Errors', 'Sum', 'jobs'))]),
      ],
      [
        graph('Events to webhooks', [
          counted('events delivered'),
          counted('deliveries failed'),
          counted('events given up'),
          counted('webhooks switched off'),
        ]),
        graph(
          'Messages that wait',
          Object.values(queues).map(({ queue }) => waitingIn(queue)),
        ),
        graph(
          'Messages that could not be worked on',
          Object.values(queues).map(({ deadLetters }) => waitingIn(deadLetters)),
        ),
      ],
      [
        graph('Functions at a time, and those that had no room, of the account', [
          lambdaConcurrency(),
          lambdaThrottles(),
        ]),
        graph(
          'Seconds of Lambda',
          areas.map((area) => search(`SUM(${ofFunctions('Duration', 'Sum', area)}) / 1000`, area)),
        ),
        graph(
          'Calls of Lambda',
          areas.map((area) => search(`SUM(${ofFunctions('Invocations', 'Sum', area)})`, area)),
        ),
      ],
      [
        graph(
          'Units read of tables',
          Object.values(tables).map((table) =>
            table.metricConsumedReadCapacityUnits({ period: PERIOD, statistic: 'Sum' }),
          ),
        ),
        graph(
          'Units written to tables',
          Object.values(tables).map((table) =>
            table.metricConsumedWriteCapacityUnits({ period: PERIOD, statistic: 'Sum' }),
          ),
        ),
        graph('Bytes of logs', [
          search(`SUM(SEARCH('{AWS/Logs,LogGroupName} MetricName="IncomingBytes" ${words}', 'Sum'))`, 'logs'),
        ]),
      ],
    ],
  })
}

/** What the firewall of this name and CloudFront measure, which is in their own region. CloudFront's names tell no stage. */
function edgeRow(firewall: string): GraphWidget[] {
  const judged = (metric: 'AllowedRequests' | 'BlockedRequests') =>
    judgedBy(firewall, metric).with({ region: EDGE_REGION })
  const rules = `{AWS/WAFV2,Rule,WebACL} MetricName="BlockedRequests" WebACL="${firewall}"`
  const failures = '{AWS/CloudFront,DistributionId,Region} MetricName="5xxErrorRate"'
  return [
    graph('Requests at the edge', [judged('AllowedRequests'), judged('BlockedRequests')]),
    graph('Refused by the firewall, by rule', [search(`SEARCH('${rules}', 'Sum')`, '', EDGE_REGION)]),
    graph("Failures at CloudFront in percent, of all the account's distributions", [
      search(`SEARCH('${failures}', 'Average')`, '', EDGE_REGION),
    ]),
  ]
}

/** A graph of these metrics, a third of the dashboard wide. */
function graph(title: string, left: readonly IMetric[]): GraphWidget {
  return new GraphWidget({ title, left: [...left], period: PERIOD, width: WIDTH, height: HEIGHT })
}

/** What an expression finds, in another region where one is told; with a label where it is one line. */
function search(expression: string, label = '', searchRegion?: string): MathExpression {
  return new MathExpression({ expression, label, period: PERIOD, ...(searchRegion && { searchRegion }) })
}

/** What a rule of Contributor Insights counts most of, which CDK has no widget for. */
class RuleWidget extends ConcreteWidget {
  readonly #title: string
  readonly #ruleName: string

  constructor(title: string, ruleName: string) {
    super(WIDTH, HEIGHT)
    this.#title = title
    this.#ruleName = ruleName
  }

  override toJson(): unknown[] {
    return [
      {
        type: 'metric',
        ...{ width: this.width, height: this.height, x: this.x, y: this.y },
        properties: {
          title: this.#title,
          region: Aws.REGION,
          period: PERIOD.toSeconds(),
          insightRule: { ruleName: this.#ruleName, maxContributorCount: 25, orderBy: 'Sum' },
        },
      },
    ]
  }
}
