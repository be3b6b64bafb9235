import {
  CfnInsightRule,
  ConcreteWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  LogQueryWidget,
  MathExpression,
  PeriodOverride,
} from 'aws-cdk-lib/aws-cloudwatch'
import type { ILogGroup } from 'aws-cdk-lib/aws-logs'
import { Aws, type Stack } from 'aws-cdk-lib/core'
import { EDGE_REGION } from './environments.ts'
import {
  apiMetric,
  consumedUnitsMetric,
  firewallMetric,
  type LoggedMetric,
  lambdaMetric,
  loggedMetric,
  PERIOD,
  visibleMessagesMetric,
} from './metrics.ts'

type Settings = {
  /** Name of the dashboard, and prefix of the stage's functions and logs, such as `vaultline-dev`. */
  readonly name: string
  readonly apiId: string
  readonly accessLogs: ILogGroup
  readonly tables: readonly string[]
  readonly queues: readonly { readonly queue: string; readonly deadLetters: string }[]
  /** Names of the stacks that contain functions. */
  readonly areas: readonly string[]
  readonly hasEdge: boolean
}

const WIDTH = 8
const HEIGHT = 6

/**
 * Adds the dashboard of a stage and the Contributor Insights rules that it shows. Its `SEARCH` expressions find metrics of other stacks by
 * words in their names, so each new function or chain appears by itself.
 */
export function addDashboard(stack: Stack, settings: Settings): void {
  const { name, apiId, accessLogs, tables, queues, areas, hasEdge } = settings
  const words = name.replaceAll('-', ' ')
  const counted = (metric: LoggedMetric) => loggedMetric(name, metric)
  const lag = (metric: LoggedMetric) => loggedMetric(name, metric, { statistic: 'Maximum' })
  const ofFunctions = (metric: string, statistic: string, more = '') =>
    `SEARCH('{AWS/Lambda,FunctionName} MetricName="${metric}" ${words}${more && ` ${more}`}', '${statistic}')`

  new Dashboard(stack, 'Dashboard', {
    dashboardName: name,
    periodOverride: PeriodOverride.INHERIT,
    widgets: [
      [
        graph('Requests', [
          apiMetric(apiId, 'Count'),
          apiMetric(apiId, '5xx'),
          counted('requests refused by the gateway'),
        ]),
        graph(
          'Latency in milliseconds',
          ['p50', 'p99'].map((statistic) => apiMetric(apiId, 'Latency', { statistic })),
        ),
        new LogQueryWidget({
          title: 'Failed requests by route',
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
        new RuleWidget('Errors by code', countErrors(stack, name, 'errors', ['$.code'])),
        new RuleWidget(
          'What nodes and sources answered that failed',
          countErrors(stack, name, 'upstreams', ['$.code', '$.cause']),
        ),
        graph('Service failures by function', [
          search(`SEARCH('{"${name}"} errors', 'Sum')`),
          counted('requests not counted'),
        ]),
      ],
      [
        graph('Lag of each chain with vaults, in seconds', [
          search(`SEARCH('{"${name}",chainId} MetricName="lag by chain"', 'Maximum')`),
        ]),
        graph('Nodes that disagree', [
          counted('nodes disagree on what is signed'),
          counted('nodes disagree on what is recorded'),
        ]),
        graph('Lag of market, tokens and rewards, in seconds', [
          lag('lag of the market'),
          lag('lag of tokens'),
          lag('lag of rewards'),
        ]),
      ],
      [
        graph('Longest runs of jobs, in milliseconds', [search(ofFunctions('Duration', 'Maximum', 'jobs'))]),
        graph('Failed runs of jobs', [search(ofFunctions('Errors', 'Sum', 'jobs'))]),
        graph('Runs of jobs', [search(ofFunctions('Invocations', 'Sum', 'jobs'))]),
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
          queues.map(({ queue }) => visibleMessagesMetric(queue)),
        ),
        graph(
          'Dead letters',
          queues.map(({ deadLetters }) => visibleMessagesMetric(deadLetters)),
        ),
      ],
      [
        graph('Concurrent functions and throttles of the account', [
          lambdaMetric('ConcurrentExecutions'),
          lambdaMetric('Throttles'),
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
          'Read units of tables',
          tables.map((table) => consumedUnitsMetric(table, 'Read')),
        ),
        graph(
          'Write units of tables',
          tables.map((table) => consumedUnitsMetric(table, 'Write')),
        ),
        graph('Bytes of logs', [
          search(`SUM(SEARCH('{AWS/Logs,LogGroupName} MetricName="IncomingBytes" ${words}', 'Sum'))`, 'logs'),
        ]),
      ],
    ],
  })
}

/** Adds a Contributor Insights rule that counts the stage's warnings by the values of these log fields. Returns the rule's name. */
function countErrors(stack: Stack, name: string, what: string, Keys: readonly string[]): string {
  const ruleName = `${name}-${what}`
  new CfnInsightRule(stack, `${what} rule`, {
    ruleName,
    ruleState: 'ENABLED',
    ruleBody: stack.toJsonString({
      Schema: { Name: 'CloudWatchLogRule', Version: 1 },
      LogGroupNames: [`${name}-*`],
      LogFormat: 'JSON',
      Contribution: { Keys, Filters: [{ Match: '$.level', In: ['WARN'] }] },
      AggregateOn: 'Count',
    }),
  })
  return ruleName
}

/**
 * Returns graphs of CloudFront and of the firewall with this name, in CloudFront's region. CloudFront's metrics do not name the stage, so
 * their graph covers all distributions of the account.
 */
function edgeRow(firewall: string): GraphWidget[] {
  const judged = (metric: 'AllowedRequests' | 'BlockedRequests') =>
    firewallMetric(firewall, metric).with({ region: EDGE_REGION })
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

function graph(title: string, left: readonly IMetric[]): GraphWidget {
  return new GraphWidget({ title, left: [...left], period: PERIOD, width: WIDTH, height: HEIGHT })
}

/**
 * Builds a metric from a CloudWatch search expression, optionally in another region. The label names the graph's line if the expression
 * returns only one.
 */
function search(expression: string, label = '', searchRegion?: string): MathExpression {
  return new MathExpression({ expression, label, period: PERIOD, ...(searchRegion && { searchRegion }) })
}

/** Dashboard widget with the top contributors of a Contributor Insights rule. CDK has no such widget. */
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
