import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { FilterPattern, type IFilterPattern, type ILogGroup, type JsonPattern } from 'aws-cdk-lib/aws-logs'
import { Duration } from 'aws-cdk-lib/core'

/** Default period over which CloudWatch aggregates metrics. */
export const PERIOD = Duration.minutes(5)

const TRANSACTIONS = route('POST /defi-vaults/v1/defi/vault/*')
const LOGINS = route('POST /auth/login*')
const FAILED = FilterPattern.stringValue('$.status', '=', '5*')

/**
 * Metrics that CloudWatch counts in the logs of a stage. Each log line that matches the pattern counts as 1, or as the value of a field.
 */
const LOGGED = {
  transactions: { pattern: TRANSACTIONS },
  'transactions failed': { pattern: FilterPattern.all(TRANSACTIONS, FAILED) },
  logins: { pattern: LOGINS },
  'logins failed': { pattern: FilterPattern.all(LOGINS, FAILED) },
  // Jobs log no lag for chains without vaults. The default value 0 keeps the metric present in a stage without vaults.
  'lag of chains': { ...reportField('lagSeconds'), defaultValue: 0 },
  'lag by chain': { ...reportField('lagSeconds'), dimensions: { chainId: '$.report.chainId' } },
  'lag of the market': reportField('lagSeconds'),
  'lag of tokens': reportField('lagSeconds'),
  'lag of rewards': reportField('lagSeconds'),
  'changed vaults': reportField('changedVaults'),
  'unreported vaults': reportField('unreportedVaults'),
  'nodes disagree on what is signed': { pattern: messagePattern('nodes disagree', 'second node silent') },
  'nodes disagree on what is recorded': { pattern: messagePattern('nodes disagree', 'second node silent') },
  'requests not counted': { pattern: messagePattern('requests are not counted') },
  // The pattern matches refusals by API Gateway itself. Their field `functionMilliseconds` contains `-`, because no
  // function ran.
  'requests refused by the gateway': {
    pattern: FilterPattern.all(
      FilterPattern.stringValue('$.status', '=', '429'),
      FilterPattern.stringValue('$.functionMilliseconds', '=', '-'),
    ),
  },
  'events delivered': {
    pattern: FilterPattern.numberValue('$.report.delivered', '>', 0),
    value: '$.report.delivered',
  },
  'deliveries failed': { pattern: messagePattern('deliveries failed'), value: '$.failed' },
  'events given up': { pattern: messagePattern('events given up'), value: '$.events' },
  'webhooks switched off': { pattern: messagePattern('webhook switched off') },
} as const satisfies Record<string, Logged>

type Logged = {
  readonly pattern: IFilterPattern
  /** Log field whose value the metric records; each line counts as 1 by default. */
  readonly value?: string
  readonly defaultValue?: number
  readonly dimensions?: Readonly<Record<string, string>>
}

/** Name of a metric that is counted in logs. */
export type LoggedMetric = keyof typeof LOGGED

/** Makes CloudWatch count a metric in these log groups. */
export function addLogMetric(namespace: string, metricName: LoggedMetric, logGroups: readonly ILogGroup[]): void {
  const { pattern, value, defaultValue, dimensions }: Logged = LOGGED[metricName]
  for (const logGroup of logGroups) {
    logGroup.addMetricFilter(metricName, {
      filterPattern: pattern,
      metricNamespace: namespace,
      metricName,
      ...(value && { metricValue: value }),
      ...(defaultValue !== undefined && { defaultValue }),
      ...(dimensions && { dimensions }),
    })
  }
}

/** Returns a metric that is counted in logs, aggregated over a period. */
export function loggedMetric(
  namespace: string,
  metricName: LoggedMetric,
  { statistic = 'Sum', period = PERIOD }: { readonly statistic?: 'Sum' | 'Maximum'; readonly period?: Duration } = {},
): Metric {
  return new Metric({ namespace, metricName, statistic, period })
}

/** Returns an API Gateway metric of the HTTP API with this id, over all routes. */
export function apiMetric(
  apiId: string,
  metricName: 'Count' | '5xx' | 'Latency',
  { statistic = 'Sum', period = PERIOD }: { readonly statistic?: string; readonly period?: Duration } = {},
): Metric {
  const dimensionsMap = { ApiId: apiId, Stage: '$default' }
  return new Metric({ namespace: 'AWS/ApiGateway', metricName, dimensionsMap, statistic, period })
}

/**
 * Returns a metric of a CloudFront distribution. The metric that CDK provides lacks the dimension `Region`, without which there is no data.
 */
export function edgeMetric(distributionId: string, metricName: 'Requests' | '4xxErrorRate' | '5xxErrorRate'): Metric {
  return new Metric({
    namespace: 'AWS/CloudFront',
    metricName,
    dimensionsMap: { DistributionId: distributionId, Region: 'Global' },
    statistic: metricName === 'Requests' ? 'Sum' : 'Average',
    period: PERIOD,
  })
}

/** Returns the number of requests that a firewall blocked or allowed in a period. */
export function firewallMetric(firewall: string, metricName: 'BlockedRequests' | 'AllowedRequests'): Metric {
  return new Metric({
    namespace: 'AWS/WAFV2',
    metricName,
    dimensionsMap: { WebACL: firewall, Rule: 'ALL' },
    statistic: 'Sum',
    period: PERIOD,
  })
}

/** Returns a metric of a Lambda function, of one version behind its alias, or of all functions of the account. */
export function lambdaMetric(
  metricName: 'Invocations' | 'Errors' | 'Throttles' | 'ConcurrentExecutions',
  dimensionsMap: Readonly<Record<string, string>> = {},
  period = PERIOD,
): Metric {
  const statistic = metricName === 'ConcurrentExecutions' ? 'Maximum' : 'Sum'
  return new Metric({ namespace: 'AWS/Lambda', metricName, dimensionsMap, statistic, period })
}

/** Returns the read or write capacity units that a table consumed in a period. */
export function consumedUnitsMetric(tableName: string, of: 'Read' | 'Write'): Metric {
  const metricName = `Consumed${of}CapacityUnits`
  const dimensionsMap = { TableName: tableName }
  return new Metric({ namespace: 'AWS/DynamoDB', metricName, dimensionsMap, statistic: 'Sum', period: PERIOD })
}

/** Returns the number of waiting messages in the queue with this name. */
export function visibleMessagesMetric(queueName: string, statistic: 'Maximum' | 'Minimum' = 'Maximum'): Metric {
  return queueMetric(queueName, 'ApproximateNumberOfMessagesVisible', statistic)
}

/**
 * Returns the metrics that `BACKLOG_EXPRESSION` combines. The age of a queue's oldest message is unsuitable: it includes messages that wait
 * for a retry, and omits messages received three times. Source:
 * https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
 */
export function backlogMetrics(queueName: string): Record<'waiting' | 'received', Metric> {
  return {
    waiting: visibleMessagesMetric(queueName, 'Minimum'),
    received: queueMetric(queueName, 'NumberOfMessagesReceived', 'Sum'),
  }
}

/**
 * CloudWatch expression over the metrics of `backlogMetrics`. Its value is the number of waiting messages if the queue delivered fewer
 * messages in the period, else 0.
 */
export const BACKLOG_EXPRESSION = 'IF(waiting > FILL(received, 0), waiting, 0)'

/** Returns a metric with the value of an expression. The value is 0 if the metric `requests` is below `least` in the period. */
export function ifEnoughRequests(
  least: number,
  expression: string,
  usingMetrics: { readonly requests: IMetric } & Readonly<Record<string, IMetric>>,
  period = PERIOD,
): MathExpression {
  return new MathExpression({ expression: `IF(requests < ${least}, 0, ${expression})`, usingMetrics, period })
}

function queueMetric(queueName: string, metricName: string, statistic: string): Metric {
  const dimensionsMap = { QueueName: queueName }
  return new Metric({ namespace: 'AWS/SQS', metricName, dimensionsMap, statistic, period: PERIOD })
}

function route(wanted: string): JsonPattern {
  return FilterPattern.stringValue('$.route', '=', wanted)
}

function reportField(field: string) {
  return { pattern: FilterPattern.numberValue(`$.report.${field}`, '>=', 0), value: `$.report.${field}` }
}

function messagePattern(...texts: readonly string[]): IFilterPattern {
  return FilterPattern.any(...texts.map((text) => FilterPattern.stringValue('$.message', '=', text)))
}
