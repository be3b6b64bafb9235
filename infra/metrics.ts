import type { HttpStage } from 'aws-cdk-lib/aws-apigatewayv2'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch'
import { FilterPattern, type IFilterPattern, type ILogGroup } from 'aws-cdk-lib/aws-logs'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { Duration } from 'aws-cdk-lib/core'

/** For so long what is counted is added up. */
export const PERIOD = Duration.minutes(5)

/** What is counted in the logs of a stage, by the name of its metric: lines of the log, or what a field of theirs says. */
const LOGGED = {
  'nodes disagree on what is signed': {
    pattern: messages('nodes disagree', 'second node silent'),
    dimensions: { chainId: '$.chainId' },
  },
  'nodes disagree on what is recorded': {
    pattern: messages('nodes disagree', 'second node silent'),
    dimensions: { chainId: '$.chainId' },
  },
  'requests not counted': { pattern: messages('requests are not counted') },
  // A refusal of a key's, or of a source's, comes from a function, and then has its time.
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
  'deliveries failed': { pattern: messages('deliveries failed'), value: '$.failed' },
  'events given up': { pattern: messages('events given up'), value: '$.events' },
  'webhooks switched off': { pattern: messages('webhook switched off') },
} as const satisfies Record<string, Logged>

type Logged = {
  readonly pattern: IFilterPattern
  /** The field that says how much a line counts; 1 unless given. */
  readonly value?: string
  readonly dimensions?: Readonly<Record<string, string>>
}

/** What is counted in logs. */
export type LoggedMetric = keyof typeof LOGGED

/** Has these logs add to a metric. */
export function countLogged(namespace: string, metricName: LoggedMetric, logGroups: readonly ILogGroup[]): void {
  const { pattern, value, dimensions }: Logged = LOGGED[metricName]
  for (const logGroup of logGroups) {
    logGroup.addMetricFilter(metricName, {
      filterPattern: pattern,
      metricNamespace: namespace,
      metricName,
      ...(value && { metricValue: value }),
      ...(dimensions && { dimensions }),
    })
  }
}

/** How much is counted in logs in a period, of a chain where it is counted by chain. */
export function loggedMetric(namespace: string, metricName: LoggedMetric, chainId?: number): Metric {
  return new Metric({
    namespace,
    metricName,
    ...(chainId !== undefined && { dimensionsMap: { chainId: String(chainId) } }),
    statistic: 'Sum',
    period: PERIOD,
  })
}

/** The requests of an API in a period. */
export function requestsOf(api: HttpStage): Metric {
  return api.metricCount({ period: PERIOD })
}

/** The requests of an API that failed on our side in a period. */
export function failuresOf(api: HttpStage): Metric {
  return api.metricServerError({ statistic: 'Sum', period: PERIOD })
}

/** How long requests of an API take, in milliseconds, as a percentile. */
export function latencyOf(api: HttpStage, statistic: 'p50' | 'p99'): Metric {
  return api.metricLatency({ statistic, period: PERIOD })
}

/** A metric of a distribution, where its metrics are: CDK's own lacks a dimension, without which there is no data. */
export function ofEdge(
  { distributionId }: Distribution,
  metricName: 'Requests' | '4xxErrorRate' | '5xxErrorRate',
): Metric {
  return new Metric({
    namespace: 'AWS/CloudFront',
    metricName,
    dimensionsMap: { DistributionId: distributionId, Region: 'Global' },
    statistic: metricName === 'Requests' ? 'Sum' : 'Average',
    period: PERIOD,
  })
}

/** How many requests a firewall of this name turned away in a period, or let through; where it is, its metrics are. */
export function judgedBy(firewall: string, metricName: 'BlockedRequests' | 'AllowedRequests'): Metric {
  return new Metric({
    namespace: 'AWS/WAFV2',
    metricName,
    dimensionsMap: { WebACL: firewall, Rule: 'ALL' },
    statistic: 'Sum',
    period: PERIOD,
  })
}

/** How often functions of the account could not be started, as so many ran already: all stages in it share that limit. */
export function lambdaThrottles(): Metric {
  return lambdaMetric('Throttles', 'Sum')
}

/** How many functions of the account ran at a time at most. */
export function lambdaConcurrency(): Metric {
  return lambdaMetric('ConcurrentExecutions', 'Maximum')
}

function lambdaMetric(metricName: string, statistic: string): Metric {
  return new Metric({ namespace: 'AWS/Lambda', metricName, statistic, period: PERIOD })
}

/** How many messages wait in a queue. */
export function waitingIn(queue: Queue): Metric {
  return queue.metricApproximateNumberOfMessagesVisible({ period: PERIOD, statistic: 'Maximum' })
}

/**
 * Number of messages of a queue that wait, if more wait than it hands out in a period; otherwise 0. The age of the oldest one
 * says nothing of this: it counts messages that wait for a pause, and leaves out those that were received three times.
 * Source: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
 */
export function backlogOf(queue: Queue): MathExpression {
  return new MathExpression({
    expression: 'IF(waiting > FILL(received, 0), waiting, 0)',
    usingMetrics: {
      waiting: queue.metricApproximateNumberOfMessagesVisible({ period: PERIOD, statistic: 'Minimum' }),
      received: queue.metricNumberOfMessagesReceived({ period: PERIOD, statistic: 'Sum' }),
    },
    period: PERIOD,
  })
}

/** The metric where so many requests came in a period that it says something, else 0. */
export function ofMany(least: number, requests: IMetric, expression: string, metrics: Record<string, IMetric>) {
  return new MathExpression({
    expression: `IF(requests < ${least}, 0, ${expression})`,
    usingMetrics: { ...metrics, requests },
    period: PERIOD,
  })
}

function messages(...texts: readonly string[]): IFilterPattern {
  return FilterPattern.any(...texts.map((text) => FilterPattern.stringValue('$.message', '=', text)))
}
