import {
  Alarm,
  type AlarmBase,
  AlarmRule,
  AlarmState,
  CfnInsightRule,
  ComparisonOperator,
  CompositeAlarm,
  type IAlarmAction,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { FilterPattern, type ILogGroup } from 'aws-cdk-lib/aws-logs'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import { Duration, Stack } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import type { JobContract } from '../lib/frame/contract.ts'
import type { SendFailure } from '../lib/webhooks/sent.ts'
import type { FunctionName } from './functions.ts'
import { maxLagSeconds } from './lag.ts'
import {
  addLogMetric,
  apiMetric,
  BACKLOG_EXPRESSION,
  backlogMetrics,
  edgeMetric,
  firewallMetric,
  ifEnoughRequests,
  type LoggedMetric,
  lambdaMetric,
  loggedMetric,
  PERIOD,
  visibleMessagesMetric,
} from './metrics.ts'
import type { QueueKey } from './queues.ts'
import type { ServiceFunction } from './service-function.ts'
import type { StageEnvironment } from './stages.ts'

/** Percentage of requests that may fail in a month (the error budget). */
const ERROR_BUDGET = 0.1
/**
 * Burn rate from which an alarm goes off. At rate 1, failures use up the error budget in exactly a month. At 14.4, one hour uses 2 % of the
 * budget (Google's SRE workbook, chapter 5).
 */
const BURN_RATE = 14.4
/** An alarm pages on-call if at least 20 % of the requests in 15 minutes fail. It stays silent below 10 requests. */
const [MIN_REQUESTS, MAX_FAILED] = [10, 20]
/** CodeDeploy rolls a new version back if at least 5 % of its calls fail. Below 50 calls the percentage does not count. */
const [MIN_CALLS, MAX_ERRORS] = [50, 5]
/** Number of consecutive 5-minute periods in which messages wait in a queue, after which an alarm goes off. */
const BACKLOG_PERIODS = 6
/**
 * Minimum number of clients with unreachable webhook servers for an alarm. With fewer, the cause can be on the clients' side: one server is
 * down, or two clients share a host.
 */
const MANY_CLIENTS = 3
/**
 * Reasons of failed webhook deliveries that can be a fault of this service. Any other reason means that the client's server was reached, or
 * that its host is not public.
 */
const UNREACHED = ['unresolved', 'connection', 'timeout', 'tls'] as const satisfies readonly SendFailure[]
/**
 * Request latency in milliseconds from which an alarm goes off. A request stays below this limit even if one node does not respond: the
 * service gives up on the node after 3 s, and the request takes 4 s.
 */
const MAX_LATENCY_MS = 5_000
/**
 * Metric by job that records the age of the job's data (its lag). All chains share one metric; its maximum is the lag of the slowest chain.
 */
const LAG_METRICS: Readonly<Record<string, LoggedMetric>> = {
  'jobs/refresh-chain': 'lag of chains',
  'jobs/refresh-market': 'lag of the market',
  'jobs/refresh-tokens': 'lag of tokens',
  'jobs/refresh-rewards': 'lag of rewards',
}

/**
 * Metrics counted in the logs of functions that record blockchain events. `lag of chains` is not in this list, because stages without
 * tickets count it too.
 */
const CHAIN_METRICS = ['lag by chain', 'changed vaults', 'unreported vaults'] as const

/** Names of the pages in `docs/runbooks` to which the texts of alarms refer. */
type Runbook =
  | 'blocked-requests'
  | 'changed-vaults'
  | 'failing-edge'
  | 'failing-jobs'
  | 'failing-logins'
  | 'failing-requests'
  | 'failing-transactions'
  | 'failing-webhooks'
  | 'lagging-jobs'
  | 'late-webhooks'
  | 'nodes-disagree'
  | 'slow-requests'
  | 'switched-off-webhooks'
  | 'throttled-requests'
  | 'uncounted-requests'
  | 'unreported-vaults'

type AlarmText = {
  /** Sentences about the effect of the failure on users. */
  readonly impact: string
  readonly runbook: Runbook
}
type Condition = AlarmText & {
  readonly metric: IMetric
  readonly threshold: number
  readonly periods?: number | undefined
  /** True if missing data triggers the alarm. */
  readonly isSilenceBad?: boolean
}

/**
 * Alarm thresholds of the function that consumes each queue. `threshold` is the number of failures per 15 minutes; `periods` is the number
 * of consecutive 15-minute periods.
 */
const QUEUE_FAILURES = {
  deliveryQueue: { runbook: 'late-webhooks', threshold: 3, periods: 1 },
  // While a node is down for one minute, all messages of its chain fail at once. So a single period triggers no alarm.
  // A batch of vaults (shard) that always fails causes 15 failures per period.
  shardQueue: { runbook: 'failing-jobs', threshold: 10, periods: 3 },
} as const satisfies Record<QueueKey, Pick<Condition, 'runbook' | 'threshold' | 'periods'>>

type QueueNames = { readonly queue: string; readonly deadLetters: string }

type TopicSettings = { readonly topicName: string; readonly email: string | undefined }

/** Adds the topic of a stage's alarms, and subscribes the e-mail address if one is given. */
export function addAlarmsTopic(scope: Construct, { topicName, email }: TopicSettings): void {
  const topic = new Topic(new Construct(scope, 'Alarms'), 'Topic', {
    // The name is fixed, so that alarms of other stacks and the command `doctor` find the topic by the stage.
    topicName,
    // The topic is not encrypted with the account's default SNS key: alarms may not use that key, and they contain no secret.
    enforceSSL: true,
  })
  // This policy replaces the default one. It allows CloudWatch alarms of this account to publish to the topic.
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(scope).account } },
    }),
  )
  if (email) topic.addSubscription(new EmailSubscription(email))
}

type Settings = Pick<StageEnvironment, 'observe'> & {
  /** Namespace of the metrics that are counted in the stage's logs, such as `vaultline-dev`. */
  readonly namespace: string
  readonly topicName: string
}

/**
 * Alarms of a stage; all publish to one SNS topic. Five alarms page on-call, and also report when they end. All other alarms are tickets:
 * their texts begin with `[ticket]`, and only a stage with `observe: 'all'` has them.
 */
export class Alarms {
  readonly #namespace: string
  readonly #topicName: string
  readonly #observe: Settings['observe']

  constructor({ namespace, topicName, observe }: Settings) {
    this.#namespace = namespace
    this.#topicName = topicName
    this.#observe = observe
  }

  /**
   * Adds alarms that page on-call if failing requests use up the month's error budget too fast, or if transactions or logins fail. Adds
   * tickets for slow, refused and throttled requests.
   */
  addApiAlarms(stack: Stack, apiId: string, accessLogs: ILogGroup): void {
    this.#onBurnRate(stack, apiId)
    this.#onFailing(stack, accessLogs, 'transactions', {
      impact: 'Users cannot deposit, withdraw or claim: one request in five fails.',
      runbook: 'failing-transactions',
    })
    this.#onFailing(stack, accessLogs, 'logins', {
      impact: 'Users cannot log in: one request in five fails.',
      runbook: 'failing-logins',
    })
    this.#ticket(stack, 'Slow requests', {
      impact: `One request in a hundred takes longer than ${MAX_LATENCY_MS / 1000} seconds: users wait, and some give up.`,
      runbook: 'slow-requests',
      metric: ifEnoughRequests(100, 'slowest', {
        requests: apiMetric(apiId, 'Count'),
        slowest: apiMetric(apiId, 'Latency', { statistic: 'p99' }),
      }),
      threshold: MAX_LATENCY_MS,
      periods: 3,
    })
    this.count('requests refused by the gateway', [accessLogs])
    this.#onLogged(stack, 'requests refused by the gateway', 100, {
      impact:
        'Users of all clients get 429 within the rates of their keys: together they send more than the stage takes.',
      runbook: 'throttled-requests',
    })
    this.#ticket(stack, 'Throttles', {
      impact: 'Requests fail, and jobs and messages wait: the account runs as many functions as it may.',
      runbook: 'throttled-requests',
      metric: lambdaMetric('Throttles'),
      threshold: 5,
    })
  }

  /**
   * Adds the alarm for the error budget. It goes off if too many requests fail both in the last hour and in the last five minutes. The hour
   * shows that the failures are significant; the five minutes show that they continue.
   */
  #onBurnRate(stack: Stack, apiId: string): void {
    if (this.#observe === 'none') return
    const text = {
      impact: `More than ${(BURN_RATE * ERROR_BUDGET).toFixed(2)} % of requests fail, in the last hour and in the last five minutes: a chain is unreachable, or a function is broken or throttled. The access log names the routes.`,
      runbook: 'failing-requests',
    } as const
    const windows = [
      ['hour', Duration.hours(1), 100],
      ['five minutes', PERIOD, 20],
    ] as const
    const alarms = windows.map(([name, period, least]) => {
      const [requests, failed] = [apiMetric(apiId, 'Count', { period }), apiMetric(apiId, '5xx', { period })]
      const metric = ifEnoughRequests(least, '100 * failed / requests', { requests, failed }, period)
      return this.#alarm(stack, `Failing within ${name}`, { ...text, metric, threshold: BURN_RATE * ERROR_BUDGET })
    })
    const both = new CompositeAlarm(stack, 'Failing requests', {
      alarmDescription: describe(text),
      alarmRule: AlarmRule.allOf(...alarms.map((alarm) => AlarmRule.fromAlarm(alarm, AlarmState.ALARM))),
    })
    this.#wakeBy(both)
  }

  #onFailing(stack: Stack, accessLogs: ILogGroup, what: 'transactions' | 'logins', alarmText: AlarmText): void {
    if (this.#observe === 'none') return
    const period = Duration.minutes(15)
    const count = (metricName: LoggedMetric) => {
      addLogMetric(this.#namespace, metricName, [accessLogs])
      return loggedMetric(this.#namespace, metricName, { period })
    }
    const metrics = { requests: count(what), failed: count(`${what} failed`) }
    const metric = ifEnoughRequests(MIN_REQUESTS, '100 * FILL(failed, 0) / requests', metrics, period)
    this.#wake(stack, `Failing ${what}`, { ...alarmText, metric, threshold: MAX_FAILED })
  }

  /**
   * Adds three tickets: CloudFront (the edge) fails more than 5 % of requests, it refuses more than half of them, or
   * its firewall blocks too many requests.
   */
  onEdge(
    stack: Stack,
    { distributionId, firewall }: { readonly distributionId: string; readonly firewall: string },
  ): void {
    const requests = edgeMetric(distributionId, 'Requests')
    this.#ticket(stack, 'Failing edge', {
      impact: 'More than 5 % of requests to CloudFront fail: if the API itself is well, CloudFront does not reach it.',
      runbook: 'failing-edge',
      metric: ifEnoughRequests(20, 'failed', { requests, failed: edgeMetric(distributionId, '5xxErrorRate') }),
      threshold: 5,
      periods: 3,
    })
    this.#ticket(stack, 'Refusing edge', {
      impact:
        'More than half of the requests to CloudFront are refused: the API does not know its key, or few callers are clients.',
      runbook: 'failing-edge',
      metric: ifEnoughRequests(100, 'refused', { requests, refused: edgeMetric(distributionId, '4xxErrorRate') }),
      threshold: 50,
      periods: 3,
    })
    this.#ticket(stack, 'Blocked requests', {
      impact:
        'The firewall refuses 1,000 requests in five minutes, again and again: an attack, or limits too low for users who share an address.',
      runbook: 'blocked-requests',
      metric: firewallMetric(firewall, 'BlockedRequests'),
      threshold: 1_000,
      periods: 3,
    })
  }

  /** Adds a ticket for an endpoint that crashes or returns a 500. */
  onEndpoint(name: FunctionName, deployed: ServiceFunction, impact: string): void {
    this.#onErrors(name, deployed, { impact, runbook: 'failing-requests', threshold: 1 })
  }

  /**
   * Adds a ticket for repeated failures of a function that consumes a queue. A single failure needs no ticket, because SQS delivers the
   * message again.
   */
  onConsumer(
    name: FunctionName,
    deployed: ServiceFunction,
    { impact, queue }: { readonly impact: string; readonly queue: QueueKey },
  ): void {
    this.#onErrors(name, deployed, { impact, ...QUEUE_FAILURES[queue], period: Duration.minutes(15) })
  }

  #onErrors(
    name: FunctionName,
    deployed: ServiceFunction,
    { period = PERIOD, ...condition }: Omit<Condition, 'metric'> & { readonly period?: Duration },
  ): void {
    if (this.#observe !== 'all') return
    // Lambda counts a response with status 500 as a success. The alarm therefore also counts the function's log lines of level ERROR.
    const logged = deployed.logGroup.addMetricFilter('Errors', {
      filterPattern: FilterPattern.stringValue('$.level', '=', 'ERROR'),
      metricNamespace: this.#namespace,
      metricName: `${name} errors`,
    })
    const metric = new MathExpression({
      expression: 'FILL(crashed, 0) + FILL(logged, 0)',
      usingMetrics: {
        crashed: lambdaMetric('Errors', { FunctionName: deployed.functionName }, period),
        logged: logged.metric({ statistic: 'Sum', period }),
      },
      period,
    })
    this.#ticket(deployed, 'Alarm', { ...condition, metric })
  }

  /**
   * Adds an alarm that pages on-call if webhook messages wait for half an hour, or become dead letters through a fault of this service.
   * Messages that wait for a retry do not count. Events that a client's server refused do not count either.
   */
  onLateWebhooks(stack: Stack, { queue, deadLetters }: QueueNames): void {
    this.#wake(stack, 'Late webhooks', {
      impact:
        'Webhooks come late or not at all: for half an hour more messages wait than are handed out, or some failed for good.',
      runbook: 'late-webhooks',
      metric: new MathExpression({
        // MAX ignores metrics without data, such as that of an unused dead-letter queue.
        expression: `MAX([${BACKLOG_EXPRESSION}, dead])`,
        usingMetrics: { ...backlogMetrics(queue), dead: visibleMessagesMetric(deadLetters) },
        period: PERIOD,
      }),
      threshold: 1,
      periods: BACKLOG_PERIODS,
    })
  }

  /** Adds tickets for the queue of shards (batches of vaults): one for messages that wait too long, one for dead letters. */
  onShards(stack: Stack, { queue, deadLetters }: QueueNames): void {
    this.#ticket(stack, 'Backlog of shards', {
      impact:
        'On chains with more than 1,000 vaults, positions get old. For half an hour more messages wait than are handed out.',
      runbook: 'lagging-jobs',
      metric: new MathExpression({
        expression: BACKLOG_EXPRESSION,
        usingMetrics: backlogMetrics(queue),
        period: PERIOD,
      }),
      threshold: 1,
      periods: BACKLOG_PERIODS,
    })
    this.#ticket(stack, 'Undone shards', {
      impact: 'Runs over shards of vaults could not begin five times, because tables or secrets were unreachable.',
      runbook: 'failing-jobs',
      metric: visibleMessagesMetric(deadLetters),
      threshold: 1,
    })
  }

  /**
   * Counts webhook deliveries, failed deliveries, events given up after ten attempts, and disabled webhooks. Adds a ticket for a disabled
   * webhook. Adds a ticket if the servers of several clients are unreachable, because the fault is then probably ours.
   */
  onDeliveries(stack: Stack, { logGroup }: ServiceFunction): void {
    if (this.#observe !== 'all') return
    for (const name of ['events delivered', 'deliveries failed', 'events given up', 'webhooks switched off'] as const) {
      this.count(name, [logGroup])
    }
    const ruleName = `${stack.stackName}-failing-webhooks`
    const rule = new CfnInsightRule(stack, 'FailingWebhooks', {
      ruleName,
      ruleState: 'ENABLED',
      ruleBody: stack.toJsonString({
        Schema: { Name: 'CloudWatchLogRule', Version: 1 },
        LogGroupNames: [logGroup.logGroupName],
        LogFormat: 'JSON',
        Contribution: {
          Keys: ['$.clientId'],
          Filters: [
            { Match: '$.message', In: ['deliveries failed'] },
            { Match: '$.reason', In: UNREACHED },
            // The log field `failures` counts consecutive failures that suggest that the webhook's server is down. A
            // failure does not count if the server accepts other events at the same time.
            { Match: '$.failures', GreaterThan: 0 },
          ],
        },
        AggregateOn: 'Count',
      }),
    })
    const failing = this.#ticket(stack, 'Failing webhooks', {
      impact: `Deliveries did not reach the servers of ${MANY_CLIENTS} clients or more within an hour, so the fault is probably ours: check DNS, the network and certificates. The rule ${ruleName} names the clients.`,
      runbook: 'failing-webhooks',
      metric: new MathExpression({
        expression: `INSIGHT_RULE_METRIC("${ruleName}", "UniqueContributors")`,
        // The period is an hour, because a quiet client has few events. While a webhook's server is down, the service
        // sends it twelve test requests an hour, so the hour contains failures.
        period: Duration.hours(1),
      }),
      threshold: MANY_CLIENTS,
    })
    failing?.node.addDependency(rule)
    this.#onLogged(stack, 'webhooks switched off', 1, {
      impact: 'A webhook of a client is disabled and gets nothing: the log has its id, and the client should know.',
      runbook: 'switched-off-webhooks',
    })
  }

  /**
   * Adds an alarm for a job whose data is late, or one of whose inputs has no successful run for three periods. The alarm of refresh-chain
   * pages on-call; its metric is the lag of the slowest chain with vaults. The alarms of other jobs are tickets.
   */
  onJob(name: FunctionName, deployed: ServiceFunction, { impact, everyMinutes, runs }: JobContract): void {
    const lag = LAG_METRICS[name]
    const isOfChains = lag === 'lag of chains'
    if (!lag || this.#observe === 'none' || (this.#observe === 'slo' && !isOfChains)) return
    if (isOfChains) this.countChains(deployed)
    else this.count(lag, [deployed.logGroup])
    const minutes = Math.max(5, 2 * everyMinutes)
    const period = Duration.minutes(minutes)
    const runsOfInput = minutes / everyMinutes
    const ofFunction = { FunctionName: deployed.functionName }
    const limit = maxLagSeconds({ everyMinutes })
    // Number of successful runs in a period at which the alarm goes off: 80 % of the runs of one input are missing. The
    // percentage is below 100, because a run near the end of a period can be counted in the next.
    const tooFew = runs.length * runsOfInput - 0.8 * runsOfInput
    const add = isOfChains ? this.#wake : this.#ticket
    add.call(this, deployed, 'Late', {
      impact: isOfChains ? `${impact} The worst chain with vaults is late, or fails in each run.` : impact,
      runbook: 'lagging-jobs',
      metric: new MathExpression({
        // MAX ignores metrics without data, such as the lag in a stage without vaults.
        expression: `MAX([IF(FILL(ran, 0) - FILL(failed, 0) <= ${tooFew}, ${limit}, 0), lag])`,
        usingMetrics: {
          ran: lambdaMetric('Invocations', ofFunction, period),
          failed: lambdaMetric('Errors', ofFunction, period),
          lag: loggedMetric(this.#namespace, lag, { statistic: 'Maximum', period }),
        },
        period,
      }),
      threshold: limit,
      periods: 3,
      isSilenceBad: true,
    })
  }

  /**
   * Makes CloudWatch count the metrics of chains (lag, changed vaults, unreported vaults) in the log of a function that
   * records blockchain events.
   */
  countChains({ logGroup }: ServiceFunction): void {
    if (this.#observe !== 'none') addLogMetric(this.#namespace, 'lag of chains', [logGroup])
    for (const name of CHAIN_METRICS) this.count(name, [logGroup])
  }

  /**
   * Counts the failed comparisons of two node hosts in the log of this function. A comparison fails if the results
   * differ, or if one host gives none.
   */
  countDisagreements({ logGroup }: ServiceFunction): void {
    this.count('nodes disagree on what is recorded', [logGroup])
  }

  /**
   * Adds three tickets: the code or price of a vault changed, clients get no events of vaults, or nodes disagree on
   * blockchain data to record.
   */
  addChainTickets(stack: Stack): void {
    this.#onLogged(stack, 'changed vaults', 1, {
      impact:
        'Users cannot deposit into vaults whose code, or instant price, has changed. The log names them; admin confirm-vault shows what is new, and allows deposits again.',
      runbook: 'changed-vaults',
    })
    this.#onLogged(stack, 'unreported vaults', 1, {
      impact:
        'Clients and their webhooks get no events of vaults, and the job stops recording these vaults. The next run that reaches the table of webhooks and the queue of deliveries makes up for it. It does not report what is a day old by then.',
      runbook: 'unreported-vaults',
      periods: 3,
    })
    this.#onLogged(stack, 'nodes disagree on what is recorded', 3, {
      impact:
        'The service records nothing more of a chain: two nodes contradict each other, or one is silent. The log names both.',
      runbook: 'nodes-disagree',
    })
  }

  /** Makes CloudWatch count a metric in these logs. A stage without tickets and dashboard (`observe` is not `all`) does not need it. */
  count(metricName: LoggedMetric, logs: readonly ILogGroup[]): void {
    if (this.#observe === 'all') addLogMetric(this.#namespace, metricName, logs)
  }

  /**
   * Adds two tickets for metrics that the logs of several stacks contain. One is for nodes that disagree on data to
   * sign. The other is for requests that the rate limiter could not count.
   */
  addLoggedTickets(stack: Stack): void {
    this.#onLogged(stack, 'nodes disagree on what is signed', 3, {
      impact:
        'Users get no transactions to sign, and link no contract accounts: two nodes of a chain contradict each other, or one is silent. The log names both.',
      runbook: 'nodes-disagree',
    })
    this.#onLogged(stack, 'requests not counted', 10, {
      impact:
        'Users notice nothing, and keys may exceed their rate: the table `cache` does not answer within a second.',
      runbook: 'uncounted-requests',
    })
  }

  /** Adds a ticket for job runs that failed after all retries. The queue with this name holds the inputs of these runs. */
  onDeadLetters(stack: Stack, queueName: string): void {
    this.#ticket(stack, 'Undone runs', {
      impact: 'Runs of a job failed for good; the queue holds their inputs.',
      runbook: 'failing-jobs',
      metric: visibleMessagesMetric(queueName),
      threshold: 1,
    })
  }

  #onLogged(
    stack: Stack,
    metricName: LoggedMetric,
    threshold: number,
    condition: AlarmText & { readonly periods?: number },
  ): void {
    const metric = loggedMetric(this.#namespace, metricName)
    this.#ticket(stack, metricName, { ...condition, threshold, metric })
  }

  #wake(scope: Construct, id: string, condition: Condition): void {
    if (this.#observe === 'none') return
    this.#wakeBy(this.#alarm(scope, id, condition))
  }

  #wakeBy(alarm: AlarmBase): void {
    alarm.addAlarmAction(this.#action(alarm))
    alarm.addOkAction(this.#action(alarm))
  }

  #ticket(scope: Construct, id: string, condition: Condition): Alarm | undefined {
    if (this.#observe !== 'all') return undefined
    const alarm = this.#alarm(scope, id, { ...condition, impact: `[ticket] ${condition.impact}` })
    alarm.addAlarmAction(this.#action(alarm))
    return alarm
  }

  #alarm(scope: Construct, id: string, { periods = 1, isSilenceBad = false, ...condition }: Condition): Alarm {
    return new Alarm(scope, id, {
      alarmDescription: describe(condition),
      metric: condition.metric,
      threshold: condition.threshold,
      evaluationPeriods: periods,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: isSilenceBad ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    })
  }

  /** Builds the ARN of the topic from its fixed name. A CDK reference would make the alarm's stack depend on the stack of the topic. */
  #action(alarm: AlarmBase): IAlarmAction {
    const alarmActionArn = Stack.of(alarm).formatArn({ service: 'sns', resource: this.#topicName })
    return { bind: () => ({ alarmActionArn }) }
  }
}

/** Adds the alarm that stops a deploy if too many calls of the new version fail. The alarm notifies nobody; CodeDeploy reads its state. */
export function addNewVersionAlarm(deployed: ServiceFunction, namespace: string, name: FunctionName): Alarm {
  const period = Duration.minutes(10)
  const { version } = deployed.lambda.currentVersion
  const metricName = `${name} errors by version`
  deployed.logGroup.addMetricFilter('ErrorsByVersion', {
    filterPattern: FilterPattern.stringValue('$.level', '=', 'ERROR'),
    metricNamespace: namespace,
    metricName,
    dimensions: { version: '$.version' },
  })
  const { functionName } = deployed
  const ofVersion = { FunctionName: functionName, Resource: `${functionName}:live`, ExecutedVersion: version }
  const logged = new Metric({ namespace, metricName, dimensionsMap: { version }, statistic: 'Sum', period })
  const [requests, crashed] = [
    lambdaMetric('Invocations', ofVersion, period),
    lambdaMetric('Errors', ofVersion, period),
  ]
  return new Alarm(deployed, 'NewVersion', {
    alarmDescription: `The new version of ${name} fails in ${MAX_ERRORS} % of at least ${MIN_CALLS} calls: its deploy is rolled back.`,
    metric: ifEnoughRequests(
      MIN_CALLS,
      '100 * (crashed + FILL(logged, 0)) / requests',
      { requests, crashed, logged },
      period,
    ),
    threshold: MAX_ERRORS,
    evaluationPeriods: 1,
    comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  })
}

function describe({ impact, runbook }: AlarmText): string {
  return `${impact} Runbook: docs/runbooks/${runbook}.md`
}
