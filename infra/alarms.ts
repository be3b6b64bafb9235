import type { HttpStage } from 'aws-cdk-lib/aws-apigatewayv2'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import {
  Alarm,
  CfnInsightRule,
  ComparisonOperator,
  type IMetric,
  MathExpression,
  Metric,
  TreatMissingData,
} from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { FilterPattern, type ILogGroup } from 'aws-cdk-lib/aws-logs'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { Duration, Stack } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { EVM_CHAINS } from '../lib/chain/registry.ts'
import { type JobContract, METRICS_NAMESPACE } from '../lib/frame/contract.ts'
import type { SendFailure } from '../lib/webhooks/sent.ts'
import type { FunctionName } from './functions.ts'
import { longestLagSeconds } from './lag.ts'
import {
  backlogOf,
  countLogged,
  failuresOf,
  judgedBy,
  type LoggedMetric,
  lambdaThrottles,
  latencyOf,
  loggedMetric,
  ofEdge,
  ofMany,
  PERIOD,
  requestsOf,
  waitingIn,
} from './metrics.ts'
import type { QueueKey } from './queues.ts'
import type { ServiceFunction } from './service-function.ts'

/** Periods of five minutes for which messages of a queue wait before it is an alarm. */
const BACKLOG_PERIODS = 6
/** Of so many clients within an hour it is hardly each one's own server. One alone says nothing, and two may share a host. */
const MANY_CLIENTS = 3
/** Why deliveries fail where it can be through us: with the other reasons a server was reached, or its name leads nowhere public. */
const UNREACHED = ['unresolved', 'connection', 'timeout', 'tls'] as const satisfies readonly SendFailure[]
/** A host that is given up after three seconds, and the one that is asked in its place, take four together. */
const LONGEST_LATENCY_MS = 5_000

/** The pages of `docs/runbooks` that alarms name: what an alarm means, what users notice, what to check and do. */
type Runbook =
  | 'blocked-requests'
  | 'changed-vaults'
  | 'failing-edge'
  | 'failing-jobs'
  | 'failing-requests'
  | 'failing-webhooks'
  | 'lagging-jobs'
  | 'late-webhooks'
  | 'nodes-disagree'
  | 'silent-jobs'
  | 'slow-requests'
  | 'switched-off-webhooks'
  | 'throttled-requests'
  | 'uncounted-requests'
  | 'undone-messages'
  | 'untold-vaults'

type QueueAlarms = {
  readonly failing: Runbook
  readonly failures: number
  /** Periods of 15 minutes in each of which so many fail; one unless given. */
  readonly periods?: number
  readonly late: Runbook
  readonly undone: Runbook
  /** What messages that are given up mean. */
  readonly lost: string
}

type Told = {
  /** What users notice, as sentences. */
  readonly impact: string
  readonly runbook: Runbook
}
type Condition = Told & {
  readonly metric: IMetric
  readonly threshold: number
  readonly periods?: number | undefined
  /** Whether silence is an alarm too. */
  readonly isSilenceBad?: boolean
}

/** What a queue's messages are for, and what users notice where they wait. */
type OfQueue = { readonly of: QueueKey; readonly impact: string }

/** Of each queue where to look when its function fails, and from how many failures on; when messages wait; and when they are given up. */
const QUEUE_ALARMS: Readonly<Record<QueueKey, QueueAlarms>> = {
  deliveryQueue: {
    ...{ failing: 'late-webhooks', failures: 3, late: 'late-webhooks' },
    ...{ undone: 'undone-messages', lost: 'Some webhooks do not get some events' },
  },
  // One minute of a node that is down fails all shards of its chain; a shard that always fails does so 15 times in each period.
  shardQueue: {
    ...{ failing: 'failing-jobs', failures: 10, periods: 3, late: 'lagging-jobs', undone: 'failing-jobs' },
    lost: 'Runs over shards of vaults could not begin five times, as tables or secrets were away',
  },
}

type Settings = {
  /** As in `vaultline-dev`: what is counted in the stage's logs is a metric of it. */
  readonly namespace: string
  readonly topicName: string
  readonly email: string | undefined
}

/** Alarms are told to one topic of the stage, and stand beside what they watch. Each says what users notice, and its runbook. */
export class Alarms extends Construct {
  readonly #topic: Topic
  readonly #namespace: string

  constructor(scope: Construct, { namespace, topicName, email }: Settings) {
    super(scope, 'Alarms')
    this.#namespace = namespace
    this.#topic = new Topic(this, 'Topic', {
      // Given, not generated: the operators' command asks it by stage whom it reaches.
      topicName,
      // Not encrypted with the account's SNS key: alarms may not use that key, and they tell no secret.
      enforceSSL: true,
    })
    // A policy takes the place of the one that a topic has by itself, which lets the account's alarms publish.
    this.#topic.addToResourcePolicy(
      new PolicyStatement({
        principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
        actions: ['sns:Publish'],
        resources: [this.#topic.topicArn],
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    )
    if (email) this.#topic.addSubscription(new EmailSubscription(email))
  }

  /**
   * Alarms when more than one request in twenty fails for a quarter of an hour, when one in a hundred takes longer than a host
   * and its substitute may, and when the gateway or Lambda turn requests away.
   */
  onApi(stack: Stack, api: HttpStage, accessLogs: ILogGroup): void {
    const requests = requestsOf(api)
    this.#alarm(stack, 'Failing requests', {
      impact:
        'More than 5 % of requests fail: a chain is unreachable, or a function is broken or throttled. The access log names the routes.',
      runbook: 'failing-requests',
      // Of a handful of requests one failure says nothing.
      metric: ofMany(20, requests, '100 * failed / requests', { failed: failuresOf(api) }),
      threshold: 5,
      periods: 3,
    })
    this.#alarm(stack, 'Slow requests', {
      impact: `One request in a hundred takes longer than ${LONGEST_LATENCY_MS / 1000} seconds: users wait, and some give up.`,
      runbook: 'slow-requests',
      // Of fewer than a hundred, one in a hundred is the slowest.
      metric: ofMany(100, requests, 'slowest', { slowest: latencyOf(api, 'p99') }),
      threshold: LONGEST_LATENCY_MS,
      periods: 3,
    })
    countLogged(this.#namespace, 'requests refused by the gateway', [accessLogs])
    this.#onLogged(stack, 'requests refused by the gateway', 100, {
      impact:
        'Users of all clients get 429, whatever their keys may: together they ask more often than the stage takes.',
      runbook: 'throttled-requests',
    })
    this.#alarm(stack, 'Throttles', {
      impact:
        'Requests fail, and jobs and messages wait: as many functions of the account run as it may run at a time.',
      runbook: 'throttled-requests',
      metric: lambdaThrottles(),
      threshold: 5,
    })
  }

  /**
   * Alarms when the edge answers that something is wrong with us, or refuses most of what comes, for a quarter of an hour, and
   * when its firewall turns away so much that it is no single caller.
   */
  onEdge(
    stack: Stack,
    { distribution, firewall }: { readonly distribution: Distribution; readonly firewall: string },
  ): void {
    const requests = ofEdge(distribution, 'Requests')
    const failed = ofEdge(distribution, '5xxErrorRate')
    this.#alarm(stack, 'Failing edge', {
      impact:
        'More than 5 % of what reaches CloudFront fails: where the API itself is well, CloudFront does not reach it.',
      runbook: 'failing-edge',
      metric: ofMany(20, requests, 'failed', { failed }),
      threshold: 5,
      periods: 3,
    })
    const refused = ofEdge(distribution, '4xxErrorRate')
    this.#alarm(stack, 'Refusing edge', {
      impact:
        'More than half of what reaches CloudFront is refused: the API does not know its key, or hardly anybody who asks is a client.',
      runbook: 'failing-edge',
      metric: ofMany(100, requests, 'refused', { refused }),
      threshold: 50,
      periods: 3,
    })
    this.#alarm(stack, 'Blocked requests', {
      impact:
        'The firewall turns away 1,000 requests in five minutes, again and again: somebody attacks, or its limits are too low for users who share an address.',
      runbook: 'blocked-requests',
      metric: judgedBy(firewall, 'BlockedRequests'),
      threshold: 1_000,
      periods: 3,
    })
  }

  /** Alarms when the functions whose requests are counted let them through uncounted so often that it is no single failure. */
  onUncounted(stack: Stack): void {
    this.#onLogged(stack, 'requests not counted', 10, {
      impact:
        'Users notice nothing, and keys may ask more often than their rate: the table `cache` does not answer within a second.',
      runbook: 'uncounted-requests',
    })
  }

  /**
   * Alarms for each chain of which nodes contradicted each other, or a second one was silent, three times: who asks again, and
   * the job each minute, makes good one failure.
   */
  onDisagreement(stack: Stack, metricName: LoggedMetric, impact: string): void {
    for (const { id, name } of EVM_CHAINS) {
      this.#alarm(stack, `Disagreements ${id}`, {
        impact: `${impact}: two nodes of ${name} contradict each other, or one is silent. The log has their places.`,
        runbook: 'nodes-disagree',
        metric: loggedMetric(this.#namespace, metricName, id),
        threshold: 3,
      })
    }
  }

  /** Has the logs of these functions of a stack add to what is counted in the stage. */
  count(metricName: LoggedMetric, functions: readonly ServiceFunction[]): void {
    countLogged(
      this.#namespace,
      metricName,
      functions.map(({ logGroup }) => logGroup),
    )
  }

  /** Alarms when an endpoint crashed or answered that something went wrong on our side. */
  onEndpoint(name: FunctionName, deployed: ServiceFunction, impact: string): Alarm {
    return this.#onErrors(name, deployed, { impact, runbook: 'failing-requests' }, { period: PERIOD, threshold: 1 })
  }

  /**
   * Alarms on repeated failures within 15 minutes; retries cover single ones.
   */
  onConsumer(name: FunctionName, deployed: ServiceFunction, { impact, of }: OfQueue): Alarm {
    const { failing: runbook, failures: threshold, periods } = QUEUE_ALARMS[of]
    return this.#onErrors(name, deployed, { impact, runbook }, { period: Duration.minutes(15), threshold, periods })
  }

  #onErrors(
    name: FunctionName,
    deployed: ServiceFunction,
    told: Told,
    { period, ...limits }: { readonly period: Duration } & Pick<Condition, 'threshold' | 'periods'>,
  ): Alarm {
    const { lambda, logGroup } = deployed
    // The frame answers a failure of ours with 500 and logs it as an error: to Lambda that is a success.
    const logged = logGroup.addMetricFilter('Errors', {
      filterPattern: FilterPattern.stringValue('$.level', '=', 'ERROR'),
      metricNamespace: this.#namespace,
      metricName: `${name} errors`,
    })
    const metric = new MathExpression({
      expression: 'FILL(crashed, 0) + FILL(logged, 0)',
      usingMetrics: {
        crashed: lambda.metricErrors({ period }),
        logged: logged.metric({ statistic: 'Sum', period }),
      },
      period,
    })
    return this.#alarm(deployed, 'Alarm', { ...told, metric, ...limits })
  }

  /**
   * Alarms when messages wait all the time: their function is throttled, or cannot keep up. Messages that are hidden after a
   * failure do not count.
   */
  onBacklog(stack: Stack, name: FunctionName, queue: Queue, { impact, of }: OfQueue): void {
    this.#alarm(stack, `Backlog ${name}`, {
      impact: `${impact} For half an hour more messages wait than ${name} takes in five minutes: it is throttled, or cannot keep up.`,
      runbook: QUEUE_ALARMS[of].late,
      metric: backlogOf(queue),
      threshold: 1,
      periods: BACKLOG_PERIODS,
    })
  }

  /** Alarms while a dead-letter queue holds messages that a function could not work on: never what a client's server refused. */
  onUndone(stack: Stack, name: FunctionName, deadLetters: Queue, { of }: OfQueue): void {
    const { undone, lost } = QUEUE_ALARMS[of]
    this.#alarm(stack, `Undone ${name}`, {
      impact: `${lost}: ${name} could not work on messages. Mend what its log says, then admin redrive-dead-letters.`,
      runbook: undone,
      metric: waitingIn(deadLetters),
      threshold: 1,
    })
  }

  /**
   * Counts the events that webhooks took, did not take, and were sent ten times in vain, which is their clients' own matter, and
   * alarms when the servers of so many clients are not reached that it is ours, for which there must be as many, and when a
   * webhook is disabled.
   */
  onDeliveries(stack: Stack, functions: readonly ServiceFunction[]): void {
    for (const name of ['events delivered', 'deliveries failed', 'events given up'] as const)
      this.count(name, functions)
    const ruleName = `${stack.stackName}-failing-webhooks`
    const rule = new CfnInsightRule(stack, 'FailingWebhooks', {
      ruleName,
      ruleState: 'ENABLED',
      ruleBody: stack.toJsonString({
        Schema: { Name: 'CloudWatchLogRule', Version: 1 },
        LogGroupNames: functions.map(({ logGroup }) => logGroup.logGroupName),
        LogFormat: 'JSON',
        Contribution: {
          Keys: ['$.clientId'],
          Filters: [
            { Match: '$.message', In: ['deliveries failed'] },
            { Match: '$.reason', In: UNREACHED },
            // Nothing arrived, of one event or more: of a busy webhook a slow answer now and then says nothing.
            { Match: '$.failures', GreaterThan: 0 },
          ],
        },
        AggregateOn: 'Count',
      }),
    })
    const failing = this.#alarm(stack, 'Failing webhooks', {
      impact: `Deliveries to ${MANY_CLIENTS} clients or more did not reach their servers within an hour, which is hardly theirs: look at DNS, the network and certificates. The rule ${ruleName} names the clients.`,
      runbook: 'failing-webhooks',
      metric: new MathExpression({
        expression: `INSIGHT_RULE_METRIC("${ruleName}", "UniqueContributors")`,
        // A quiet client has few events, and a webhook that is behind has twelve probes in this time.
        period: Duration.hours(1),
      }),
      threshold: MANY_CLIENTS,
    })
    failing.node.addDependency(rule)
    this.count('webhooks switched off', functions)
    this.#onLogged(stack, 'webhooks switched off', 1, {
      impact: 'A webhook of a client is disabled and gets nothing: the log has its id, and the client should know.',
      runbook: 'switched-off-webhooks',
    })
  }

  /**
   * Alarms when within five minutes, or where a job runs less often in one run, as many runs failed as the job has inputs, and
   * three at least: the next run makes good one failure, and an input that always fails is silent.
   */
  onJob(deployed: ServiceFunction, { impact, everyMinutes, runs }: JobContract): Alarm {
    const minutes = Math.max(5, everyMinutes)
    return this.#alarm(deployed, 'Alarm', {
      impact,
      runbook: 'failing-jobs',
      metric: deployed.lambda.metricErrors({ period: Duration.minutes(minutes) }),
      threshold: Math.max(runs.length, Math.min(3, Math.floor(minutes / everyMinutes))),
    })
  }

  /**
   * Alarms when a run has reported nothing three times in a row: its schedule does not run, or each of its runs fails. One
   * alarm watches ten inputs, as what silences one is rarely its own.
   */
  onSilence(deployed: ServiceFunction, contract: JobContract): void {
    const { heartbeat, impact } = contract
    const silent = (run: string) => `IF(FILL(${run}, 0) < 1, 1, 0)`
    for (const { id, inputs, metric } of inTens(runMetrics(deployed, contract, heartbeat, 'SampleCount'), silent)) {
      const of = inputs.filter((input) => input !== '').join(', ')
      this.#alarm(deployed, `Silence ${id}`, {
        impact: `${impact} No run${of && ` of one of ${of}`} has reported anything for ${3 * minutesOfPeriod(contract)} minutes.`,
        runbook: 'silent-jobs',
        metric,
        threshold: 1,
        periods: 3,
        isSilenceBad: true,
      })
    }
  }

  /**
   * Alarms when what a job keeps falls behind. Each run's input has its own alarm: one chain's lag is not hidden by the
   * others.
   */
  onLag(deployed: ServiceFunction, contract: JobContract): void {
    const threshold = longestLagSeconds(contract)
    for (const { input, metric } of runMetrics(deployed, contract, 'lagSeconds', 'Maximum')) {
      const impact = `${contract.impact}${input && ` It is ${input} that is behind.`}`
      this.#alarm(deployed, `${input} Lag`, { impact, runbook: 'lagging-jobs', metric, threshold, periods: 3 })
    }
  }

  /** Alarms while vaults are not what an operator confirmed; each run's input has its own alarm. */
  onChangedVaults(deployed: ServiceFunction, contract: JobContract): void {
    for (const { input, metric } of runMetrics(deployed, contract, 'changedVaults', 'Maximum')) {
      this.#alarm(deployed, `${input} Changed vaults`, {
        impact:
          'Users cannot deposit into vaults whose code, or price at once, has changed. The log names them; admin confirm-vault shows what is new, and lets deposits go on.',
        runbook: 'changed-vaults',
        metric,
        threshold: 1,
      })
    }
  }

  /**
   * Alarms when in each of 15 minutes there was a run that could not tell clients what happened. One alarm watches ten inputs:
   * what they are told through is the same for all.
   */
  onUntoldVaults(deployed: ServiceFunction, contract: JobContract): void {
    const untold = (run: string) => `FILL(${run}, 0)`
    for (const { id, metric } of inTens(runMetrics(deployed, contract, 'untoldVaults', 'Maximum'), untold)) {
      this.#alarm(deployed, `Untold vaults ${id}`, {
        impact:
          'Clients and their webhooks get no events of vaults, and the job stops recording these vaults. The next run that reaches the table of webhooks and the queue of deliveries makes up for it. It does not report what is a day old by then.',
        runbook: 'untold-vaults',
        metric,
        threshold: 1,
        periods: 3,
      })
    }
  }

  /** Alarms when runs failed for good: their inputs wait in the queue to be looked at. */
  onDeadLetters(queue: Queue): void {
    this.#alarm(queue, 'Alarm', {
      impact: 'Runs of a job failed for good; the queue holds their inputs.',
      runbook: 'failing-jobs',
      metric: waitingIn(queue),
      threshold: 1,
    })
  }

  #onLogged(stack: Stack, metricName: LoggedMetric, threshold: number, told: Told): void {
    this.#alarm(stack, metricName, { ...told, metric: loggedMetric(this.#namespace, metricName), threshold })
  }

  #alarm(scope: Construct, id: string, condition: Condition): Alarm {
    const { impact, runbook, metric, threshold, periods = 1, isSilenceBad = false } = condition
    const alarm = new Alarm(scope, id, {
      alarmDescription: `${impact} Runbook: docs/runbooks/${runbook}.md`,
      metric,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: isSilenceBad ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    })
    alarm.addAlarmAction(new SnsAction(this.#topic))
    return alarm
  }
}

type RunMetric = { readonly input: string; readonly metric: Metric }

/** A metric of a job's report for each input of its runs; none of a job that does not have it. */
function runMetrics(
  { measuredAs = '' }: ServiceFunction,
  contract: JobContract,
  metricName: string,
  statistic: 'Maximum' | 'SampleCount',
): RunMetric[] {
  if (!contract.metrics[metricName]) return []
  return contract.runs.map((run) => {
    const input = Object.fromEntries(Object.entries(run).map(([field, value]) => [field, String(value)]))
    const metric = new Metric({
      namespace: METRICS_NAMESPACE,
      metricName,
      dimensionsMap: { service: measuredAs, ...input },
      statistic,
      period: Duration.minutes(minutesOfPeriod(contract)),
    })
    return { input: Object.values(input).join(' '), metric }
  })
}

/** In so much time there is a run of each input, however its schedule falls. */
function minutesOfPeriod({ everyMinutes }: JobContract): number {
  return Math.max(5, 2 * everyMinutes)
}

/** Sums of what these metrics come to, ten in each: an alarm takes no more. */
function inTens(metrics: readonly RunMetric[], expressionOf: (name: string) => string) {
  return Array.from({ length: Math.ceil(metrics.length / 10) }, (_, ten) => {
    const some = metrics.slice(10 * ten, 10 * (ten + 1))
    const named = some.map(({ metric }, index) => [`run${index}`, metric] as const)
    return {
      id: ten + 1,
      inputs: some.map(({ input }) => input),
      metric: new MathExpression({
        expression: named.map(([name]) => expressionOf(name)).join(' + '),
        usingMetrics: Object.fromEntries(named),
        ...(some[0] && { period: some[0].metric.period }),
      }),
    }
  })
}
