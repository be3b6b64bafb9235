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

/** The scheduled jobs: their functions, a schedule for each run, and the inputs of runs that failed for good. */
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
        ...work(contract),
        ...shared.settingsFor(name, contract),
        deadLetters,
      })
      schedule(deployed, contract, deadLetters)
      if (contract.needsAgreement) shared.alarms.countDisagreements(deployed)
      shared.alarms.onJob(name, deployed, contract)
    }
    shared.alarms.onChains(this)
    shared.alarms.onDeadLetters(this, deadLetters.queueName)
  }
}

/** A run ends before the next one of the same input begins, within the quarter of an hour that Lambda allows. */
function work({ everyMinutes }: JobContract): Pick<FunctionSettings, 'memoryMiB' | 'timeout' | 'retries'> {
  return {
    // A run waits for a chain nearly all its time, and nobody waits for the run: a third of a vCPU is enough.
    memoryMiB: 512,
    timeout: Duration.seconds(Math.min(everyMinutes * 60 - 10, 15 * 60)),
    // A failed run is tried once more, unless the next one is due by then.
    retries: { retryAttempts: 1, maxEventAge: Duration.minutes(Math.min(everyMinutes, 6 * 60)) },
  }
}

// No reserved concurrency: the runs of different inputs then never wait for each other, and a new account, which may run
// ten functions at a time, has none to reserve. One input's runs do not overlap, by their time-out.
function schedule(deployed: ServiceFunction, contract: JobContract, deadLetterQueue: Queue): void {
  const { summary, runs, everyMinutes } = contract
  const role = schedulerRole(deployed, deadLetterQueue)
  for (const run of runs) {
    // A role invokes the job. EventBridge's rules would add a statement for each run to the policies of function and
    // queue, which have room for about 45 and for 19 (docs/decisions/0026-a-stack-for-each-area.md).
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

/** What the schedules of a job act as: it may invoke the function and keep what failed. By itself the target would add all versions. */
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
