import { CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler'
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { type Contract, type JobContract, listUses } from '../lib/frame/contract.ts'
import { buildVariables, type Resource, type SecretResource, type Uses } from '../lib/frame/resources.ts'
import { Alarms } from './alarms.ts'
import {
  accountSettings,
  configSecretName,
  ENVIRONMENTS,
  identitySecretName,
  type Stage,
  type StageEnvironment,
} from './environments.ts'
import { ENDPOINTS, type FunctionName, JOBS } from './functions.ts'
import { ServiceApi } from './http-api.ts'
import { type FunctionSettings, ServiceFunction } from './service-function.ts'
import { TABLE_KEYS, TABLES, type TableDefinition, type TableKey, tableName } from './tables.ts'

type Work = Pick<FunctionSettings, 'memoryMiB' | 'timeout' | 'retries' | 'deadLetters'>

const ENDPOINT_WORK: Work = {
  // One whole vCPU. A request runs on one thread: less would stretch cold starts, more would buy nothing.
  memoryMiB: 1769,
  // What a request may take, all upstreams included. Half a second earlier the frame answers 504 by itself.
  timeout: Duration.seconds(10),
}

/** One stage of the service on AWS: what the contracts ask for, and nothing else. */
export class ServiceStack extends Stack {
  readonly #environment: StageEnvironment
  readonly #tables: Readonly<Record<TableKey, Table>>
  readonly #secrets: Readonly<Record<SecretResource, Secret>>
  /** What a function's environment tells of each resource. */
  readonly #values: Readonly<Record<Resource, string>>

  constructor(scope: Construct, stage: Stage, version: string) {
    const environment: StageEnvironment = ENVIRONMENTS[stage]
    super(scope, `vaultline-${stage}`, {
      description: `The Vaultline wallet service, ${stage}`,
      tags: { service: 'vaultline', stage },
      terminationProtection: environment.retain,
    })
    this.#environment = environment
    this.#tables = {
      clients: this.#table(stage, 'clients'),
      deposits: this.#table(stage, 'deposits'),
      users: this.#table(stage, 'users'),
      cache: this.#table(stage, 'cache'),
    }
    this.#secrets = { config: this.#configSecret(stage), identity: this.#identitySecret(stage) }
    this.#values = {
      clients: this.#tables.clients.tableName,
      deposits: this.#tables.deposits.tableName,
      users: this.#tables.users.tableName,
      cache: this.#tables.cache.tableName,
      config: this.#secrets.config.secretArn,
      identity: this.#secrets.identity.secretArn,
      ...accountSettings(environment),
      version,
    }

    const alarms = new Alarms(this, environment.alarmEmail)
    const api = new ServiceApi(this, {
      ...environment,
      name: this.stackName,
      methods: ENDPOINTS.map(([, { method }]) => method),
      accessLogs: new LogGroup(this, 'AccessLogs', {
        ...this.#logs(),
        // Logs that AWS services write themselves need no place in the account's log policy under this prefix.
        logGroupName: `/aws/vendedlogs/${this.stackName}/access`,
      }),
    })
    for (const [name, contract] of ENDPOINTS) {
      const deployed = this.#deploy(name, contract, ENDPOINT_WORK)
      api.route(contract, deployed.lambda)
      alarms.onEndpoint(name, deployed, contract.impact)
    }
    const deadLetters = new Queue(this, 'DeadLetters', {
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
      removalPolicy: this.#removalPolicy(),
    })
    for (const [name, contract] of JOBS) {
      const deployed = this.#deploy(name, contract, { ...jobWork(contract), deadLetters })
      this.#schedule(contract, deployed, deadLetters)
      alarms.onJob(name, deployed, contract)
      alarms.onLag(name, deployed, contract)
    }
    alarms.onDeadLetters(deadLetters)
    alarms.onApi(api.stage)

    new CfnOutput(this, 'ApiUrl', { value: api.url })
  }

  #table(stage: Stage, key: TableKey): Table {
    const { partitionKey, sortKey, indexes, timeToLive }: TableDefinition = TABLES[key]
    const table = new Table(this, `${key}-table`, {
      // Given, not generated: the operators' command addresses the tables by stage.
      tableName: tableName(stage, key),
      partitionKey: attribute(partitionKey),
      sortKey: attribute(sortKey),
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      // The account's own DynamoDB key: its use shows in CloudTrail, and no function needs a permission for it. A key
      // of ours would cost $1 a month each and keep out nobody whom the account's IAM lets in.
      encryption: TableEncryption.AWS_MANAGED,
      ...(timeToLive && { timeToLiveAttribute: timeToLive }),
      deletionProtection: this.#environment.retain,
      removalPolicy: this.#removalPolicy(),
    })
    for (const { name, ...keys } of indexes) {
      table.addGlobalSecondaryIndex({
        indexName: name,
        partitionKey: attribute(keys.partitionKey),
        sortKey: attribute(keys.sortKey),
      })
    }
    return table
  }

  /**
   * The secret starts with no RPC URL, so that chains are read at the registry's public ones; an operator stores more
   * (docs/deploy.md). CloudFormation writes a secret's value again only when its `GenerateSecretString` changes: what
   * stands there must stay as it is, for a change of it would replace what operators stored in every stage.
   */
  #configSecret(stage: Stage): Secret {
    return new Secret(this, 'Config', {
      secretName: configSecretName(stage),
      description: 'RPC URLs by chain id; see docs/deploy.md',
      generateSecretString: { secretStringTemplate: '{"rpcUrls":{}}', generateStringKey: 'unused' },
      removalPolicy: this.#removalPolicy(),
    })
  }

  /**
   * The key from which the secrets of one-time codes follow. Nobody needs to know it, and nothing here may change: with
   * another key every one-time code of the stage would be refused.
   */
  #identitySecret(stage: Stage): Secret {
    return new Secret(this, 'Identity', {
      secretName: identitySecretName(stage),
      description: "The service's own key; see docs/deploy.md",
      generateSecretString: {
        secretStringTemplate: '{}',
        generateStringKey: 'key',
        passwordLength: 64,
        excludePunctuation: true,
      },
      removalPolicy: this.#removalPolicy(),
    })
  }

  #deploy(name: FunctionName, contract: Contract, work: Work): ServiceFunction {
    const uses = listUses(contract)
    // A contract's uses have no other names.
    const resources = Object.keys(uses) as Resource[]
    return new ServiceFunction(this, name, {
      ...work,
      description: contract.summary,
      variables: buildVariables(Object.fromEntries(resources.map((resource) => [resource, this.#values[resource]]))),
      permissions: [...this.#tablePermissions(uses), ...this.#secretPermissions(resources)],
      logs: this.#logs(),
    })
  }

  #tablePermissions(uses: Uses): PolicyStatement[] {
    return TABLE_KEYS.flatMap((key) =>
      (uses[key] ?? []).map((access) => {
        const { tableArn } = this.#tables[key]
        const [action, index] = access.split(' ')
        return new PolicyStatement({
          actions: [`dynamodb:${action}`],
          resources: [index ? `${tableArn}/index/${index}` : tableArn],
        })
      }),
    )
  }

  #secretPermissions(resources: readonly Resource[]): PolicyStatement[] {
    return Object.entries(this.#secrets)
      .filter(([name]) => resources.some((resource) => resource === name))
      .map(
        ([, { secretArn }]) =>
          new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [secretArn] }),
      )
  }

  // No reserved concurrency: the runs of different inputs then never wait for each other, and a new account, which may
  // run ten functions at a time, has none to reserve. One input's runs do not overlap, by their time-out.
  #schedule(
    { summary, runs, everyMinutes }: JobContract,
    { lambda, node }: ServiceFunction,
    deadLetterQueue: Queue,
  ): void {
    for (const run of runs) {
      // A role invokes the job. EventBridge's rules would add a statement for each run to the policies of function and
      // queue, which have room for about 45 and for 19.
      new Schedule(this, `${node.id} ${JSON.stringify(run)}`, {
        description: summary,
        schedule: ScheduleExpression.rate(Duration.minutes(everyMinutes)),
        target: new LambdaInvoke(lambda, {
          input: ScheduleTargetInput.fromObject(run),
          deadLetterQueue,
          retryAttempts: 1,
          maxEventAge: Duration.minutes(everyMinutes),
        }),
      })
    }
  }

  #logs() {
    return { retention: this.#environment.logRetentionDays, removalPolicy: this.#removalPolicy() }
  }

  #removalPolicy(): RemovalPolicy {
    return this.#environment.retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY
  }
}

/** A run ends before the next one of the same input begins, within the quarter of an hour that Lambda allows. */
function jobWork({ everyMinutes }: JobContract): Work {
  return {
    // A run waits for a chain nearly all its time, and nobody waits for the run: a third of a vCPU is enough.
    memoryMiB: 512,
    timeout: Duration.seconds(Math.min(everyMinutes * 60 - 10, 15 * 60)),
    // A failed run is tried once more, unless the next one is due by then.
    retries: { retryAttempts: 1, maxEventAge: Duration.minutes(Math.min(everyMinutes, 6 * 60)) },
  }
}

function attribute({ name, type }: TableDefinition['partitionKey']) {
  return { name, type: { S: AttributeType.STRING, N: AttributeType.NUMBER }[type] }
}
