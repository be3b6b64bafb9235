import { dirname } from 'node:path/posix'
import { CfnInsightRule } from 'aws-cdk-lib/aws-cloudwatch'
import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import { CfnOutput, Duration, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { type Contract, listUses } from '../lib/frame/contract.ts'
import { EDGE_VARIABLE, type Edge } from '../lib/frame/edge.ts'
import {
  buildVariables,
  type QueueResource,
  type Resource,
  type SecretResource,
  type Uses,
} from '../lib/frame/resources.ts'
import { Alarms } from './alarms.ts'
import { addBudget } from './budget.ts'
import { addDashboard } from './dashboard.ts'
import {
  accountSettings,
  alarmsTopicName,
  configSecretName,
  identitySecretName,
  type Stage,
  signingSecretName,
  webhookKeySecretName,
} from './environments.ts'
import { CONSUMERS, ENDPOINTS, JOBS } from './functions.ts'
import { ServiceApi } from './http-api.ts'
import { deadLettersName, QUEUES, type QueueKey, queueName } from './queues.ts'
import type { FunctionSettings } from './service-function.ts'
import type { StageEnvironment } from './stages.ts'
import { TABLE_KEYS, TABLES, type TableDefinition, type TableKey, tableName } from './tables.ts'

/** How CloudFormation makes a key that nobody needs to know. A change of it would replace the keys of every stage. */
const A_KEY = {
  secretStringTemplate: '{}',
  generateStringKey: 'key',
  passwordLength: 64,
  excludePunctuation: true,
}

type Settings = StackProps & {
  readonly stage: Stage
  readonly environment: StageEnvironment
  readonly version: string
}

/** A queue, and where its messages go that were handed out too often. */
export type QueueWithDeadLetters = { readonly queue: Queue; readonly deadLetters: Queue }

/** What the functions of a stage share: its tables, queues and secrets, its API, and who is told of its alarms. */
export class SharedStack extends Stack {
  readonly api: ServiceApi
  readonly alarms: Alarms
  /** Each queue that functions take messages of, with what could not be done. */
  readonly queues: Readonly<Record<QueueKey, QueueWithDeadLetters>>
  readonly #environment: StageEnvironment
  /** As in `vaultline-dev`. */
  readonly #name: string
  readonly #tables: Readonly<Record<TableKey, Table>>
  readonly #queues: Readonly<Record<QueueResource, Queue>>
  readonly #secrets: Readonly<Record<SecretResource, Secret>>
  /** What a function's environment tells of each resource. */
  readonly #values: Readonly<Record<Resource, string>>

  constructor(scope: Construct, { stage, environment, version, ...props }: Settings) {
    super(scope, 'shared', props)
    this.#environment = environment
    this.#tables = {
      clients: this.#table(stage, 'clients'),
      deposits: this.#table(stage, 'deposits'),
      users: this.#table(stage, 'users'),
      webhooks: this.#table(stage, 'webhooks'),
      cache: this.#table(stage, 'cache'),
    }
    const deliveries = this.#queue(stage, 'deliveryQueue')
    const shards = this.#queue(stage, 'shardQueue')
    this.queues = { deliveryQueue: deliveries, shardQueue: shards }
    this.#queues = { deliveryQueue: deliveries.queue, shardQueue: shards.queue }
    this.#secrets = {
      config: this.#configSecret(stage),
      identity: this.#identitySecret(stage),
      signing: this.#signingSecret(stage),
      webhookKey: this.#webhookKeySecret(stage),
    }
    for (const secret of Object.values(this.#secrets)) {
      Validations.of(secret).acknowledge({
        id: 'AwsSolutions::AwsSolutions-SMG4',
        reason:
          'AWS can rotate none: URLs of others, the keys that signatures need two of, and keys on which what users hold rests.',
      })
    }
    this.#values = {
      clients: this.#tables.clients.tableName,
      deposits: this.#tables.deposits.tableName,
      users: this.#tables.users.tableName,
      webhooks: this.#tables.webhooks.tableName,
      cache: this.#tables.cache.tableName,
      deliveryQueue: this.#queues.deliveryQueue.queueUrl,
      shardQueue: this.#queues.shardQueue.queueUrl,
      config: this.#secrets.config.secretArn,
      identity: this.#secrets.identity.secretArn,
      signing: this.#secrets.signing.secretArn,
      webhookKey: this.#secrets.webhookKey.secretArn,
      ...accountSettings(environment),
      webhookReach: 'public',
      version,
    }

    const name = `vaultline-${stage}`
    this.#name = name
    const accessLogs = new LogGroup(this, 'AccessLogs', {
      ...this.logs,
      // Logs that AWS services write themselves need no place in the account's log policy under this prefix.
      logGroupName: `/aws/vendedlogs/${name}/access`,
    })
    this.alarms = new Alarms(this, {
      namespace: name,
      topicName: alarmsTopicName(stage),
      email: environment.alarmEmail,
    })
    this.api = new ServiceApi(this, {
      ...environment,
      name,
      methods: ENDPOINTS.map(([, { method }]) => method),
      accessLogs,
    })
    this.alarms.onApi(this, this.api.stage, accessLogs)
    this.alarms.onUncounted(this)
    const impact = 'Users get no transactions to sign, and link no contract accounts'
    this.alarms.onDisagreement(this, 'nodes disagree on what is signed', impact)
    const { monthlyBudgetUsd: monthlyUsd, alarmEmail: email } = environment
    if (monthlyUsd && email) addBudget(this, { name, monthlyUsd, email })
    addDashboard(this, {
      ...{ name, accessLogs, api: this.api.stage, tables: this.#tables, queues: this.queues },
      hasEdge: environment.edge !== undefined,
      areas: [...new Set([...ENDPOINTS, ...JOBS, ...CONSUMERS].map(([folder]) => dirname(folder)))],
      rules: {
        codes: this.#countErrors(name, 'errors', ['$.code']),
        upstreams: this.#countErrors(name, 'upstreams', ['$.code', '$.cause']),
      },
    })
    new CfnOutput(this, 'ApiUrl', { value: this.api.url })
  }

  /** Counts what the functions of the stage log with these fields, by their values; the name of the rule that does. */
  #countErrors(name: string, what: string, Keys: readonly string[]): string {
    const ruleName = `${name}-${what}`
    new CfnInsightRule(this, `${what} rule`, {
      ruleName,
      ruleState: 'ENABLED',
      ruleBody: this.toJsonString({
        Schema: { Name: 'CloudWatchLogRule', Version: 1 },
        LogGroupNames: [`${name}-*`],
        LogFormat: 'JSON',
        Contribution: { Keys, Filters: [{ Match: '$.level', In: ['WARN'] }] },
        AggregateOn: 'Count',
      }),
    })
    return ruleName
  }

  /** What a function gets for its contract: its variables, the permissions for what it uses, and a place for its logs. */
  settingsFor(contract: Contract): Pick<FunctionSettings, 'description' | 'variables' | 'permissions' | 'logs'> {
    const uses = listUses(contract)
    // A contract's uses have no other names.
    const resources = Object.keys(uses) as Resource[]
    return {
      description: contract.summary,
      variables: {
        ...buildVariables(Object.fromEntries(resources.map((resource) => [resource, this.#values[resource]]))),
        ...('caller' in contract && this.#edgeVariable()),
      },
      permissions: [
        ...this.#tablePermissions(uses),
        ...this.#queuePermissions(resources),
        ...this.#secretPermissions(resources),
      ],
      logs: this.logs,
    }
  }

  /** The name under which a job's metrics are published, by whichever function. */
  metricsName(job: string): string {
    return `${this.#name}-${job}`
  }

  /** By what endpoints know CloudFront; nothing where none stands before them. */
  #edgeVariable(): Readonly<Record<string, string>> {
    if (!this.#environment.edge) return {}
    const { keys, isOnlyWay } = this.#environment.edge
    return { [EDGE_VARIABLE]: JSON.stringify({ keys, isOnlyWay } satisfies Edge) }
  }

  /** How long logs are kept, and whether they outlive their stack. */
  get logs() {
    return { retention: this.#environment.logRetentionDays, removalPolicy: this.removalPolicy }
  }

  /** Where callers find the API, without a slash at its end. */
  get publicUrl(): string {
    const { edge } = this.#environment
    return edge ? `https://${edge.domain.name}` : this.api.url
  }

  /** Whether a new version gets its traffic by parts, and loses it where an alarm goes off. */
  get isGradual(): boolean {
    return this.#environment.gradual
  }

  /** What becomes of data, secrets and logs when their stack is removed. */
  get removalPolicy(): RemovalPolicy {
    return this.#environment.retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY
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
      removalPolicy: this.removalPolicy,
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
   * SQS's own key encrypts what waits: it costs nothing, and no function needs a permission for it. Messages carry the ids of
   * clients and webhooks, and no more.
   */
  #queue(stage: Stage, key: QueueKey): QueueWithDeadLetters {
    const safe = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true, removalPolicy: this.removalPolicy }
    const deadLetters = new Queue(this, `${key}-dead-letters`, {
      ...safe,
      // Given, not generated: the operators' command addresses the queues by stage.
      queueName: deadLettersName(stage, key),
      retentionPeriod: Duration.days(14),
    })
    const queue = new Queue(this, key, {
      ...safe,
      queueName: queueName(stage, key),
      visibilityTimeout: Duration.seconds(QUEUES[key].visibilitySeconds),
      retentionPeriod: Duration.days(QUEUES[key].keptDays),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: QUEUES[key].maxReceives },
    })
    return { queue, deadLetters }
  }

  /**
   * The secret starts with no RPC URL, so that chains are read at the registry's public ones; an operator stores more
   * (docs/operate/secrets.md). Never change `GenerateSecretString`: CloudFormation would then overwrite what operators stored.
   */
  #configSecret(stage: Stage): Secret {
    return new Secret(this, 'Config', {
      secretName: configSecretName(stage),
      description: 'RPC URLs by chain id; see docs/operate/secrets.md',
      generateSecretString: { secretStringTemplate: '{"rpcUrls":{}}', generateStringKey: 'unused' },
      removalPolicy: this.removalPolicy,
    })
  }

  /**
   * The key from which the secrets of one-time codes follow. Nobody needs to know it, and nothing here may change: with
   * another key every one-time code of the stage would be refused.
   */
  #identitySecret(stage: Stage): Secret {
    return new Secret(this, 'Identity', {
      secretName: identitySecretName(stage),
      description: "The service's own key; see docs/operate/secrets.md",
      generateSecretString: A_KEY,
      removalPolicy: this.removalPolicy,
    })
  }

  /**
   * The secret starts without a key: CloudFormation can make no Ed25519 key, and an operator's command does. Nothing here
   * may change, for it would replace the keys.
   */
  #signingSecret(stage: Stage): Secret {
    return new Secret(this, 'Signing', {
      secretName: signingSecretName(stage),
      description: 'The keys that sign answers; see docs/operate/secrets.md',
      generateSecretString: { secretStringTemplate: '{"keys":[]}', generateStringKey: 'unused' },
      removalPolicy: this.removalPolicy,
    })
  }

  /**
   * The key from which the secrets of webhooks follow. Nobody needs to know it, and nothing here may change: with another key
   * every client has to fetch new secrets (docs/operate/secrets.md).
   */
  #webhookKeySecret(stage: Stage): Secret {
    return new Secret(this, 'WebhookKey', {
      secretName: webhookKeySecretName(stage),
      description: 'The key of the secrets of webhooks; see docs/operate/secrets.md',
      generateSecretString: A_KEY,
      removalPolicy: this.removalPolicy,
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

  #queuePermissions(resources: readonly Resource[]): PolicyStatement[] {
    return Object.entries(this.#queues)
      .filter(([name]) => resources.some((resource) => resource === name))
      .map(([, { queueArn }]) => new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [queueArn] }))
  }

  #secretPermissions(resources: readonly Resource[]): PolicyStatement[] {
    return Object.entries(this.#secrets)
      .filter(([name]) => resources.some((resource) => resource === name))
      .map(
        ([, { secretArn }]) =>
          new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [secretArn] }),
      )
  }
}

function attribute({ name, type }: TableDefinition['partitionKey']) {
  return { name, type: { S: AttributeType.STRING, N: AttributeType.NUMBER }[type] }
}
