import type { HttpStage } from 'aws-cdk-lib/aws-apigatewayv2'
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
import { FilterPattern, type MetricFilter } from 'aws-cdk-lib/aws-logs'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions'
import type { Queue } from 'aws-cdk-lib/aws-sqs'
import { Duration, Stack } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { EVM_CHAINS } from '../lib/chain/registry.ts'
import { type JobContract, METRICS_NAMESPACE } from '../lib/frame/contract.ts'
import { alarmsTopicName, type Stage } from './environments.ts'
import type { FunctionName } from './functions.ts'
import { longestLagSeconds } from './lag.ts'
import type { ServiceFunction } from './service-function.ts'

/** So long after it was sent a message is late: it may be held back for a quarter of an hour, and fail four times in another. */
const LONGEST_WAIT_SECONDS = 30 * 60
/** So many webhooks fail together through us, and not each through its own server. */
const MANY_WEBHOOKS = 5

type Condition = { readonly metric: IMetric; readonly threshold: number; readonly periods?: number }

type Messages = {
  readonly id: string
  readonly messages: readonly string[]
  readonly metricName: string
  /** What each message adds: a number, or the field that has it; 1 unless given. */
  readonly metricValue?: string
  readonly dimensions?: Readonly<Record<string, string>>
}

/** Alarms are told to one topic of the stage, and stand beside what they watch. Each says what users notice. */
export class Alarms extends Construct {
  readonly #topic: Topic

  constructor(scope: Construct, stage: Stage, email: string | undefined) {
    super(scope, 'Alarms')
    this.#topic = new Topic(this, 'Topic', {
      // Given, not generated: the operators' command asks it by stage whom it reaches.
      topicName: alarmsTopicName(stage),
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
   * Alarms when messages could not be worked on three times in a quarter of an hour: they come again, which makes good one
   * failure.
   */
  onConsumer(name: FunctionName, deployed: ServiceFunction, impact: string): Alarm {
    return this.#onErrors(name, deployed, impact, { period: Duration.minutes(15), threshold: 3 })
  }

  /** Alarms when a message waits for longer than it takes to notice: its function fails, or cannot keep up. */
  onBacklog(stack: Stack, name: FunctionName, queue: Queue): void {
    const metric = queue.metricApproximateAgeOfOldestMessage({ period: Duration.minutes(5), statistic: 'Maximum' })
    const told = `Clients are told late of what happens: the messages for ${name} have waited for half an hour.`
    this.#alarm(stack, `Backlog ${name}`, told, { metric, threshold: LONGEST_WAIT_SECONDS })
  }

  /** Alarms while a dead-letter queue holds messages that a function could not work on: never what a client's server refused. */
  onUndone(stack: Stack, name: FunctionName, deadLetters: Queue): void {
    const metric = deadLetters.metricApproximateNumberOfMessagesVisible({
      period: Duration.minutes(5),
      statistic: 'Maximum',
    })
    const told = `Some events reach nobody: ${name} could not work on messages. Mend what its log says, then admin redrive-webhooks.`
    this.#alarm(stack, `Undone ${name}`, told, { metric, threshold: 1 })
  }

  /**
   * Counts the events that webhooks were sent ten times in vain, which is their clients' own matter, and alarms when so many
   * webhooks take nothing at once that it is ours.
   */
  onRefusals(stack: Stack, functions: readonly ServiceFunction[]): void {
    addFilters(stack, functions, {
      id: 'GivenUp',
      messages: ['events given up'],
      metricName: 'events given up',
      metricValue: '$.events',
    })
    const ruleName = `${stack.stackName}-failing-webhooks`
    const rule = new CfnInsightRule(stack, 'FailingWebhooks', {
      ruleName,
      ruleState: 'ENABLED',
      ruleBody: stack.toJsonString({
        Schema: { Name: 'CloudWatchLogRule', Version: 1 },
        LogGroupNames: functions.map(({ logGroup }) => logGroup.logGroupName),
        LogFormat: 'JSON',
        Contribution: {
          Keys: ['$.clientId', '$.webhookId'],
          Filters: [
            { Match: '$.message', In: ['deliveries failed'] },
            // Of more than one event in a row nothing arrived.
            { Match: '$.failures', GreaterThan: 1 },
          ],
        },
        AggregateOn: 'Count',
      }),
    })
    const metric = new MathExpression({
      expression: `INSIGHT_RULE_METRIC("${ruleName}", "UniqueContributors")`,
      period: Duration.minutes(5),
    })
    const told = `${MANY_WEBHOOKS} webhooks or more take nothing: deliveries do not leave us, as by DNS or the network. The rule ${ruleName} names them.`
    const alarm = this.#alarm(stack, 'Failing webhooks', told, { metric, threshold: MANY_WEBHOOKS })
    alarm.node.addDependency(rule)
  }

  /** Alarms when nothing is sent to a webhook any more, as it has taken nothing for three days or says that it is gone. */
  onSwitchedOff(stack: Stack, functions: readonly ServiceFunction[]): void {
    const [filter] = addFilters(stack, functions, {
      id: 'SwitchedOff',
      messages: ['webhook switched off'],
      metricName: 'webhooks switched off',
    })
    if (!filter) return
    const metric = filter.metric({ statistic: 'Sum', period: Duration.minutes(5) })
    const told =
      'A client is told nothing any more at one of its webhooks: the log has its id, and the client should know.'
    this.#alarm(stack, 'Switched off', told, { metric, threshold: 1 })
  }

  /** Alarms when an endpoint crashed or answered that something went wrong on our side. */
  onEndpoint(name: FunctionName, deployed: ServiceFunction, impact: string): Alarm {
    return this.#onErrors(name, deployed, impact, { period: Duration.minutes(5), threshold: 1 })
  }

  #onErrors(
    name: FunctionName,
    deployed: ServiceFunction,
    impact: string,
    { period, threshold }: { readonly period: Duration; readonly threshold: number },
  ): Alarm {
    const { lambda, logGroup } = deployed
    // The frame answers a failure of ours with 500 and logs it as an error: to Lambda that is a success.
    const logged = logGroup.addMetricFilter('Errors', {
      filterPattern: FilterPattern.stringValue('$.level', '=', 'ERROR'),
      metricNamespace: Stack.of(logGroup).stackName,
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
    return this.#alarm(deployed, 'Alarm', impact, { metric, threshold })
  }

  /** Alarms for each chain of which nodes contradicted each other, or a second one was silent, so many times in these functions of a stack. */
  onDisagreement(
    stack: Stack,
    functions: readonly ServiceFunction[],
    { impact, times }: { readonly impact: string; readonly times: number },
  ): void {
    const [filter] = addFilters(stack, functions, {
      id: 'Disagreements',
      messages: ['nodes disagree', 'second node silent'],
      metricName: 'disagreements of nodes',
      dimensions: { chainId: '$.chainId' },
    })
    if (!filter) return
    for (const { id, name } of EVM_CHAINS) {
      const dimensionsMap = { chainId: String(id) }
      const metric = filter.metric({ statistic: 'Sum', period: Duration.minutes(5), dimensionsMap })
      const told = `${impact}: two nodes of ${name} contradict each other, or one is silent. The log has their places.`
      this.#alarm(stack, `Disagreements ${id}`, told, { metric, threshold: times })
    }
  }

  /** Alarms when these functions of a stack let requests through uncounted so often that it is no single failure. */
  onUncounted(stack: Stack, functions: readonly ServiceFunction[]): void {
    const [filter] = addFilters(stack, functions, {
      id: 'Uncounted',
      messages: ['requests are not counted'],
      metricName: 'requests not counted',
    })
    if (!filter) return
    const metric = filter.metric({ statistic: 'Sum', period: Duration.minutes(5) })
    const why = 'the table `cache` does not answer within a second'
    const told = `Users notice nothing, and keys may ask more often than their rate: ${why}.`
    this.#alarm(stack, 'Uncounted', told, { metric, threshold: 10 })
  }

  /** Alarms when three runs of a job failed within five minutes, or one where it runs less often: the next run makes good one failure. */
  onJob(deployed: ServiceFunction, { impact, everyMinutes }: JobContract): Alarm {
    const minutes = Math.max(5, everyMinutes)
    const metric = deployed.lambda.metricErrors({ period: Duration.minutes(minutes) })
    return this.#alarm(deployed, 'Alarm', impact, {
      metric,
      threshold: Math.min(3, Math.floor(minutes / everyMinutes)),
    })
  }

  /**
   * Alarms when what a job keeps falls behind. Each run's input has its own alarm: one chain's lag is not hidden by the
   * others.
   */
  onLag(deployed: ServiceFunction, contract: JobContract): void {
    const threshold = longestLagSeconds(contract)
    for (const { input, metric } of metricsOf(deployed, contract, 'lagSeconds')) {
      this.#alarm(deployed, `${input} Lag`, contract.impact, { metric, threshold, periods: 3 })
    }
  }

  /** Alarms while vaults are not what an operator confirmed; each run's input has its own alarm. */
  onChangedVaults(deployed: ServiceFunction, contract: JobContract): void {
    const impact = 'Users cannot deposit into vaults whose code, or price at once, has changed. The log names them'
    const remedy = 'admin confirm-vault shows what is new, and lets deposits go on'
    for (const { input, metric } of metricsOf(deployed, contract, 'changedVaults')) {
      this.#alarm(deployed, `${input} Changed vaults`, `${impact}; ${remedy}.`, { metric, threshold: 1 })
    }
  }

  /**
   * Alarms when in each of 15 minutes there was a run that could not tell clients what happened; each run's input has its own
   * alarm.
   */
  onUntoldVaults(deployed: ServiceFunction, contract: JobContract): void {
    const impact =
      'Clients and their webhooks are not told what happens in vaults, and no more of these is recorded until they are'
    const remedy =
      'The next run that reaches the table of webhooks and the queue of events makes it good; what is a day old is recorded and never told'
    for (const { input, metric } of metricsOf(deployed, contract, 'untoldVaults')) {
      this.#alarm(deployed, `${input} Untold vaults`, `${impact}. ${remedy}.`, { metric, threshold: 1, periods: 3 })
    }
  }

  /** Alarms when runs failed for good: their inputs wait in the queue to be looked at. */
  onDeadLetters(queue: Queue): void {
    const metric = queue.metricApproximateNumberOfMessagesVisible({ period: Duration.minutes(5), statistic: 'Maximum' })
    this.#alarm(queue, 'Alarm', 'Runs of a job failed for good; the queue holds their inputs.', {
      metric,
      threshold: 1,
    })
  }

  /** Alarms when more than one request in twenty fails, for a quarter of an hour. */
  onApi(stage: HttpStage): void {
    const period = Duration.minutes(5)
    const metric = new MathExpression({
      // Of a handful of requests one failure says nothing.
      expression: 'IF(requests < 20, 0, 100 * failed / requests)',
      usingMetrics: {
        failed: stage.metricServerError({ statistic: 'Sum', period }),
        requests: stage.metricCount({ period }),
      },
      period,
    })
    const impact = 'More than 5 % of requests fail: a chain is unreachable, or a function is broken or throttled.'
    this.#alarm(stage, 'Alarm', `${impact} The access log names the routes.`, { metric, threshold: 5, periods: 3 })
  }

  #alarm(scope: Construct, id: string, impact: string, { metric, threshold, periods = 1 }: Condition): Alarm {
    const alarm = new Alarm(scope, id, {
      alarmDescription: impact,
      metric,
      threshold,
      evaluationPeriods: periods,
      comparisonOperator: ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: TreatMissingData.NOT_BREACHING,
    })
    alarm.addAlarmAction(new SnsAction(this.#topic))
    return alarm
  }
}

/** A metric of a job's report for each input of its runs; none of a job that does not have it. */
function metricsOf(
  { lambda }: ServiceFunction,
  { runs, metrics, everyMinutes }: JobContract,
  metricName: string,
): { readonly input: string; readonly metric: Metric }[] {
  if (!metrics[metricName]) return []
  return runs.map((run) => {
    const input = Object.fromEntries(Object.entries(run).map(([field, value]) => [field, String(value)]))
    const metric = new Metric({
      namespace: METRICS_NAMESPACE,
      metricName,
      dimensionsMap: { service: lambda.functionName, ...input },
      statistic: 'Maximum',
      // In so much time there is a run, however its schedule falls.
      period: Duration.minutes(Math.max(5, 2 * everyMinutes)),
    })
    return { input: Object.values(input).join(' '), metric }
  })
}

/** Counts these messages in the logs of a stack's functions: all filters add to one metric, of each value of the dimensions. */
function addFilters(
  stack: Stack,
  functions: readonly ServiceFunction[],
  { id, messages, ...metric }: Messages,
): MetricFilter[] {
  const filterPattern = FilterPattern.any(...messages.map((text) => FilterPattern.stringValue('$.message', '=', text)))
  return functions.map(({ logGroup }) =>
    logGroup.addMetricFilter(id, { filterPattern, metricNamespace: stack.stackName, ...metric }),
  )
}
