import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import { ArnFormat, Duration, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { type Contract, listUses } from '../lib/frame/contract.ts'
import { EDGE_VARIABLE, type Edge } from '../lib/frame/edge.ts'
import { buildVariables, type Resource, type SecretResource, type Uses } from '../lib/frame/resources.ts'
import { Alarms, addAlarmsTopic } from './alarms.ts'
import { addBudget } from './budget.ts'
import {
  accountSettings,
  alarmsTopicName,
  configSecretName,
  identitySecretName,
  type Stage,
  signingSecretName,
  webhookKeySecretName,
} from './environments.ts'
import { type FunctionName, functionName } from './functions.ts'
import { deadLettersName, QUEUE_KEYS, QUEUES, type QueueKey, queueName } from './queues.ts'
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

const SECRETS = ['config', 'identity', 'signing', 'webhookKey'] as const satisfies readonly SecretResource[]

type Settings = StackProps & {
  readonly stage: Stage
  readonly environment: StageEnvironment
  readonly version: string
}

/** The tables, queues and secrets that functions of a stage share, and the topic of its alarms. */
export class SharedStack extends Stack {
  readonly alarms: Alarms
  /** As in `vaultline-dev`. */
  readonly name: string
  readonly #stage: Stage
  readonly #environment: StageEnvironment
  /** What a function's environment tells of each resource. */
  readonly #values: Readonly<Record<Resource, string>>

  constructor(scope: Construct, { stage, environment, version, ...props }: Settings) {
    super(scope, 'shared', props)
    this.name = `vaultline-${stage}`
    this.#stage = stage
    this.#environment = environment
    for (const key of TABLE_KEYS) this.#addTable(key)
    for (const key of QUEUE_KEYS) this.#addQueue(key)
    this.#addSecrets()
    this.#values = {
      clients: tableName(stage, 'clients'),
      deposits: tableName(stage, 'deposits'),
      users: tableName(stage, 'users'),
      webhooks: tableName(stage, 'webhooks'),
      cache: tableName(stage, 'cache'),
      deliveryQueue: this.#queueUrl('deliveryQueue'),
      shardQueue: this.#queueUrl('shardQueue'),
      config: configSecretName(stage),
      identity: identitySecretName(stage),
      signing: signingSecretName(stage),
      webhookKey: webhookKeySecretName(stage),
      ...accountSettings(environment),
      webhookReach: 'public',
      version,
    }
    const { observe, alarmEmail: email, monthlyBudgetUsd: monthlyUsd } = environment
    const topicName = alarmsTopicName(stage)
    addAlarmsTopic(this, { topicName, email })
    this.alarms = new Alarms({ namespace: this.name, topicName, observe })
    if (monthlyUsd && email) addBudget(this, { name: this.name, monthlyUsd, email })
  }

  /** Name, variables, permissions and log group of a function, as its contract asks for them. */
  settingsFor(
    name: FunctionName,
    contract: Contract,
  ): Pick<FunctionSettings, 'functionName' | 'description' | 'variables' | 'permissions' | 'logs'> {
    const uses = listUses(contract)
    // A contract's uses have no other names.
    const resources = Object.keys(uses) as Resource[]
    return {
      functionName: functionName(this.#stage, name),
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

  // Names are given, and ARNs are built from them: a stack that reads another's output could not be replaced without it.

  /** The ARN of a queue. */
  queueArn(key: QueueKey): string {
    return this.formatArn({ service: 'sqs', resource: queueName(this.#stage, key) })
  }

  /** The names of a queue, and of the one for its dead letters. */
  queueNames(key: QueueKey) {
    return { queue: queueName(this.#stage, key), deadLetters: deadLettersName(this.#stage, key) }
  }

  #queueUrl(key: QueueKey): string {
    return `https://sqs.${this.region}.${this.urlSuffix}/${this.account}/${queueName(this.#stage, key)}`
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

  /** Whether a new version gets its traffic by parts, and loses it where an alarm goes off. */
  get isGradual(): boolean {
    return this.#environment.gradual
  }

  /** What becomes of data, secrets and logs when their stack is removed. */
  get removalPolicy(): RemovalPolicy {
    return this.#environment.retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY
  }

  #addTable(key: TableKey): void {
    const { partitionKey, sortKey, indexes, timeToLive }: TableDefinition = TABLES[key]
    const table = new Table(this, `${key}-table`, {
      // Given, not generated: the operators' command addresses the tables by stage.
      tableName: tableName(this.#stage, key),
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
  }

  /**
   * SQS's own key encrypts what waits: it costs nothing, and no function needs a permission for it. Messages carry the ids of
   * clients and webhooks, and no more.
   */
  #addQueue(key: QueueKey): void {
    const safe = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true, removalPolicy: this.removalPolicy }
    const deadLetters = new Queue(this, `${key}-dead-letters`, {
      ...safe,
      // Given, not generated: the operators' command addresses the queues by stage.
      queueName: deadLettersName(this.#stage, key),
      retentionPeriod: Duration.days(14),
    })
    new Queue(this, key, {
      ...safe,
      queueName: queueName(this.#stage, key),
      visibilityTimeout: Duration.seconds(QUEUES[key].visibilitySeconds),
      retentionPeriod: Duration.days(QUEUES[key].keptDays),
      deadLetterQueue: { queue: deadLetters, maxReceiveCount: QUEUES[key].maxReceives },
    })
  }

  #addSecrets(): void {
    const secrets = [
      this.#configSecret(this.#stage),
      this.#identitySecret(this.#stage),
      this.#signingSecret(this.#stage),
      this.#webhookKeySecret(this.#stage),
    ]
    for (const secret of secrets) {
      Validations.of(secret).acknowledge({
        id: 'AwsSolutions::AwsSolutions-SMG4',
        reason:
          'AWS can rotate none: URLs of others, the keys that signatures need two of, and keys on which what users hold rests.',
      })
    }
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
        const resourceName = tableName(this.#stage, key)
        const tableArn = this.formatArn({ service: 'dynamodb', resource: 'table', resourceName })
        const [action, index] = access.split(' ')
        return new PolicyStatement({
          actions: [`dynamodb:${action}`],
          resources: [index ? `${tableArn}/index/${index}` : tableArn],
        })
      }),
    )
  }

  #queuePermissions(resources: readonly Resource[]): PolicyStatement[] {
    return QUEUE_KEYS.filter((key) => resources.includes(key)).map(
      (key) => new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [this.queueArn(key)] }),
    )
  }

  /** Secrets Manager ends the ARN of a secret with six characters of its own. */
  #secretPermissions(resources: readonly Resource[]): PolicyStatement[] {
    return SECRETS.filter((key) => resources.includes(key)).map((key) => {
      const arnFormat = ArnFormat.COLON_RESOURCE_NAME
      const resourceName = `${this.#values[key]}-??????`
      const secretArn = this.formatArn({ service: 'secretsmanager', resource: 'secret', resourceName, arnFormat })
      return new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [secretArn] })
    })
  }
}

function attribute({ name, type }: TableDefinition['partitionKey']) {
  return { name, type: { S: AttributeType.STRING, N: AttributeType.NUMBER }[type] }
}
