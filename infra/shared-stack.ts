import { AttributeType, BillingMode, Table, TableEncryption } from 'aws-cdk-lib/aws-dynamodb'
import { PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { Secret } from 'aws-cdk-lib/aws-secretsmanager'
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs'
import { ArnFormat, Duration, RemovalPolicy, Stack, type StackProps, Validations } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { type Contract, listUses } from '../lib/frame/contract.ts'
import { EDGE_VARIABLE, type EdgeSettings } from '../lib/frame/edge.ts'
import { buildVariables, type Resource, type SecretResource, type Uses } from '../lib/frame/resources.ts'
import { Alarms, addAlarmsTopic } from './alarms.ts'
import { addBudget } from './budget.ts'
import {
  alarmsTopicName,
  buildAccountVariables,
  configSecretName,
  identitySecretName,
  type Stage,
  signingSecretName,
  webhookKeySecretName,
} from './environments.ts'
import { type FunctionName, functionName } from './functions.ts'
import { deadLetterQueueName, QUEUE_KEYS, QUEUES, type QueueKey, queueName } from './queues.ts'
import type { FunctionSettings } from './service-function.ts'
import type { StageEnvironment } from './stages.ts'
import { TABLE_KEYS, TABLES, type TableDefinition, type TableKey, tableName } from './tables.ts'

/**
 * Settings with which CloudFormation generates a key that no human needs to read. A change of these settings would replace the keys of
 * every stage.
 */
const GENERATED_KEY = {
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

/** Tables, queues and secrets that a stage's functions share, and the topic of its alarms. */
export class SharedStack extends Stack {
  readonly alarms: Alarms
  readonly name: string
  readonly #stage: Stage
  readonly #environment: StageEnvironment
  /** Name or URL of each table, queue and secret, as the functions' environment variables contain it. */
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
      ...buildAccountVariables(environment),
      webhookReach: 'public',
      version,
    }
    const { observe, alarmEmail: email, monthlyBudgetUsd: monthlyUsd } = environment
    const topicName = alarmsTopicName(stage)
    addAlarmsTopic(this, { topicName, email })
    this.alarms = new Alarms({ namespace: this.name, topicName, observe })
    if (monthlyUsd && email) addBudget(this, { name: this.name, monthlyUsd, email })
  }

  /** Returns the name, variables, permissions and log group of a function, as its contract requires them. */
  settingsFor(
    name: FunctionName,
    contract: Contract,
  ): Pick<FunctionSettings, 'functionName' | 'description' | 'variables' | 'permissions' | 'logs'> {
    const uses = listUses(contract)
    // The cast is safe: the type of a contract's `uses` allows only these keys.
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

  /**
   * Returns the ARN of a queue, built from its fixed name. Other stacks use it instead of an output of this stack, so that this stack can
   * be replaced separately.
   */
  queueArn(key: QueueKey): string {
    return this.formatArn({ service: 'sqs', resource: queueName(this.#stage, key) })
  }

  queueNames(key: QueueKey) {
    return { queue: queueName(this.#stage, key), deadLetters: deadLetterQueueName(this.#stage, key) }
  }

  #queueUrl(key: QueueKey): string {
    return `https://sqs.${this.region}.${this.urlSuffix}/${this.account}/${queueName(this.#stage, key)}`
  }

  /**
   * Returns the environment variable with the hashes of the keys by which endpoints recognize CloudFront. Returns no variable without a
   * CloudFront distribution.
   */
  #edgeVariable(): Readonly<Record<string, string>> {
    if (!this.#environment.edge) return {}
    const { keys, isOnlyWay } = this.#environment.edge
    return { [EDGE_VARIABLE]: JSON.stringify({ keys, isOnlyWay } satisfies EdgeSettings) }
  }

  /** Retention and removal policy of log groups. */
  get logs() {
    return { retention: this.#environment.logRetentionDays, removalPolicy: this.removalPolicy }
  }

  /** True if CodeDeploy shifts traffic to a new version gradually, and back to the old version if the new version's alarm goes off. */
  get isGradual(): boolean {
    return this.#environment.gradual
  }

  get removalPolicy(): RemovalPolicy {
    return this.#environment.retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY
  }

  #addTable(key: TableKey): void {
    const { partitionKey, sortKey, indexes, timeToLive }: TableDefinition = TABLES[key]
    const table = new Table(this, `${key}-table`, {
      // The name is fixed, because operators' commands address the tables by the stage's name.
      tableName: tableName(this.#stage, key),
      partitionKey: keyAttribute(partitionKey),
      sortKey: keyAttribute(sortKey),
      billingMode: BillingMode.PAY_PER_REQUEST,
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      // Tables use the account's AWS managed key for DynamoDB: CloudTrail shows its use, and functions need no permission for it. A
      // customer managed key costs $1 a month each. It would exclude nobody to whom the account's IAM policies grant access.
      encryption: TableEncryption.AWS_MANAGED,
      ...(timeToLive && { timeToLiveAttribute: timeToLive }),
      deletionProtection: this.#environment.retain,
      removalPolicy: this.removalPolicy,
    })
    for (const { name, ...keys } of indexes) {
      table.addGlobalSecondaryIndex({
        indexName: name,
        partitionKey: keyAttribute(keys.partitionKey),
        sortKey: keyAttribute(keys.sortKey),
      })
    }
  }

  /**
   * Adds a queue and its dead-letter queue. SQS's own key encrypts messages: it costs nothing and needs no permission. No message contains
   * a secret, only ids of clients, webhooks and chains.
   */
  #addQueue(key: QueueKey): void {
    const safe = { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true, removalPolicy: this.removalPolicy }
    const deadLetters = new Queue(this, `${key}-dead-letters`, {
      ...safe,
      // The name is fixed, because operators' commands address the queues by the stage's name.
      queueName: deadLetterQueueName(this.#stage, key),
      retentionPeriod: Duration.days(14),
    })
    new Queue(this, key, {
      ...safe,
      queueName: queueName(this.#stage, key),
      visibilityTimeout: Duration.seconds(QUEUES[key].visibilitySeconds),
      retentionPeriod: Duration.days(QUEUES[key].retentionDays),
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
   * Adds the configuration secret without node URLs, so that functions read chains at public nodes. An operator stores other URLs
   * (docs/operate/secrets.md). Never change `GenerateSecretString`: CloudFormation would then overwrite the stored values.
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
   * Adds the key from which the secrets of one-time codes are derived. Never change the key: with another one, every one-time code of the
   * stage fails.
   */
  #identitySecret(stage: Stage): Secret {
    return new Secret(this, 'Identity', {
      secretName: identitySecretName(stage),
      description: "The service's own key; see docs/operate/secrets.md",
      generateSecretString: GENERATED_KEY,
      removalPolicy: this.removalPolicy,
    })
  }

  /**
   * Adds the secret for signing keys, without a key: CloudFormation cannot create an Ed25519 key, but an operator's command can. Never
   * change the secret's settings: CloudFormation would then overwrite the stored keys.
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
   * Adds the key from which webhook secrets are derived. Never change the key: with another one, every client must fetch new secrets
   * (docs/operate/secrets.md).
   */
  #webhookKeySecret(stage: Stage): Secret {
    return new Secret(this, 'WebhookKey', {
      secretName: webhookKeySecretName(stage),
      description: 'The key of the secrets of webhooks; see docs/operate/secrets.md',
      generateSecretString: GENERATED_KEY,
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

  /** Returns the permissions to read these secrets. Each ARN ends in a wildcard, because Secrets Manager appends six characters to it. */
  #secretPermissions(resources: readonly Resource[]): PolicyStatement[] {
    return SECRETS.filter((key) => resources.includes(key)).map((key) => {
      const arnFormat = ArnFormat.COLON_RESOURCE_NAME
      const resourceName = `${this.#values[key]}-??????`
      const secretArn = this.formatArn({ service: 'secretsmanager', resource: 'secret', resourceName, arnFormat })
      return new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [secretArn] })
    })
  }
}

function keyAttribute({ name, type }: TableDefinition['partitionKey']) {
  return { name, type: { S: AttributeType.STRING, N: AttributeType.NUMBER }[type] }
}
