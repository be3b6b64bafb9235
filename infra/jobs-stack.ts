import { type IRole, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler'
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { Duration, Stack, type StackProps } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import type { JobContract } from '../lib/frame/contract.ts'
import { JOBS } from './functions.ts'
import { type FunctionSettings, ServiceFunction } from './service-function.ts'
import type { SharedStack } from './shared-stack.ts'

type Settings = StackProps & { readonly shared: SharedStack }

/**
 * Scheduled jobs: their functions, a schedule for each input of a job, and a queue with the inputs of runs that failed after all retries.
 */
export class JobsStack extends Stack {
  constructor(scope: Construct, { shared, ...props }: Settings) {
    super(scope, 'jobs', props)
    const deadLetters = new Queue(this, 'DeadLetters', {
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      removalPolicy: shared.removalPolicy,
    })
    for (const [name, contract] of JOBS) {
      const deployed = new ServiceFunction(this, name, {
        ...runSettings(contract),
        ...shared.settingsFor(name, contract),
        deadLetters,
      })
      addSchedules(deployed, contract, deadLetters)
      if (contract.needsAgreement) shared.alarms.countDisagreements(deployed)
      shared.alarms.onJob(name, deployed, contract)
    }
    shared.alarms.addChainTickets(this)
    shared.alarms.onDeadLetters(this, deadLetters.queueName)
  }
}

/** Returns settings with which a run ends before the next run with the same input begins. Lambda stops any run after 15 minutes. */
function runSettings({ everyMinutes }: JobContract): Pick<FunctionSettings, 'memoryMiB' | 'timeout' | 'retries'> {
  return {
    // A run mostly waits for a chain, and no caller waits for the run: a third of a vCPU is enough.
    memoryMiB: 512,
    timeout: Duration.seconds(Math.min(everyMinutes * 60 - 10, 15 * 60)),
    // A failed run is retried once, unless the next scheduled run is due by then.
    retries: { retryAttempts: 1, maxEventAge: Duration.minutes(Math.min(everyMinutes, 6 * 60)) },
  }
}

// Functions get no reserved concurrency, because runs with different inputs must not wait for each other. A new AWS account allows ten
// concurrent executions, and none of them can be reserved. The timeout already prevents two concurrent runs with the same input.
function addSchedules(deployed: ServiceFunction, contract: JobContract, deadLetterQueue: Queue): void {
  const { summary, runs, everyMinutes } = contract
  const role = schedulerRole(deployed, deadLetterQueue)
  for (const run of runs) {
    // EventBridge Scheduler invokes the job through a role. EventBridge rules would instead add a statement per input to the resource
    // policies of the function and the queue. These policies have room for about 45 and 19 statements
    // (docs/decisions/0026-a-stack-for-each-area.md).
    new Schedule(deployed, JSON.stringify(run), {
      description: summary,
      schedule: ScheduleExpression.rate(Duration.minutes(everyMinutes)),
      target: new LambdaInvoke(deployed.live, {
        role,
        input: ScheduleTargetInput.fromObject(run),
        deadLetterQueue,
        retryAttempts: 1,
        maxEventAge: Duration.minutes(everyMinutes),
      }),
    })
  }
}

/**
 * Adds the role of a job's schedules: it may invoke the function and store failed inputs. CDK's default role could invoke all versions of
 * the function, so the role is built here.
 */
function schedulerRole(deployed: ServiceFunction, deadLetterQueue: Queue): IRole {
  const { account, partition, region } = Stack.of(deployed)
  const role = new Role(deployed, 'SchedulerRole', {
    assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
      conditions: {
        StringEquals: {
          'aws:SourceAccount': account,
          'aws:SourceArn': `arn:${partition}:scheduler:${region}:${account}:schedule-group/default`,
        },
      },
    }),
  })
  role.addToPolicy(new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [deployed.live.functionArn] }))
  role.addToPolicy(new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [deadLetterQueue.queueArn] }))
  return role.withoutPolicyUpdates()
}
