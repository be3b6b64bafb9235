import { randomBytes } from 'node:crypto'
import { CreateSecretCommand, ResourceExistsException, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import type { SQSBatchResponse } from 'aws-lambda'
import * as z from 'zod'
import { dynamoClient } from '../lib/aws/dynamo.ts'
import type { SynthesizedStack } from './assembly.ts'
import { createConsumers, type Mapping } from './consumers.ts'
import { createTable, localConfig, localCredentials } from './dynamo.ts'
import { type Aws, type AwsCall, type AwsServices, type Principal, startAws } from './template/aws.ts'
import { createContainers, type LambdaFunction } from './template/containers.ts'
import { ACCOUNT_ID, type DeployedResource, deploy, REGION, type ResourceFinder } from './template/deployed.ts'
import { startHttpApi } from './template/gateway.ts'
import { isAllowed, PolicyDocument, type Statement, TrustPolicy } from './template/policies.ts'

/** Synthesized CDK stage (a set of CloudFormation stacks) that runs on this machine. */
export type RunningTemplate = {
  readonly url: string
  /** Environment variables with which an operator's command-line tool reaches the imitated AWS account. */
  readonly operator: Readonly<Record<string, string>>
  /** Schedules of EventBridge Scheduler. `run` invokes the scheduled Lambda function and throws the function's error. */
  readonly schedules: readonly { readonly name: string; readonly input: unknown; run(): Promise<unknown> }[]
  /** Invokes functions with all available queue messages. Returns the number of processed messages. */
  consume(): Promise<number>
  calls(): AwsCall[]
  names(): string[]
  logs(name: string): string
  stop(): Promise<void>
}

type Role = {
  readonly name: string
  readonly statements: readonly Statement[]
  trusts(service: string): boolean
  /** Throws if this role does not allow the action on the resource. */
  verify(action: string, resource: string): void
}
type Settings = {
  /** Port of the API; 0 or undefined for any free port. */
  readonly port?: number
  /**
   * Environment variables that replace the template's values. A function gets a variable only if the template defines that variable for the
   * function.
   */
  readonly variables?: Readonly<Record<string, string>>
}

const OPERATOR_KEY = 'operator'
/** Maximum bytes of a function's environment variables in Lambda. */
const MAX_VARIABLES_BYTES = 4 * 1024
/** Maximum characters of a role's inline policies in IAM, without white space. */
const MAX_POLICY_CHARACTERS = 10_240

const SQS_URL = `https://sqs.${REGION}.amazonaws.com`
/** IAM permissions that a function's role needs for an event source mapping from an SQS queue. */
const TAKING = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes']

const Table = z.looseObject({ TableName: z.string() })
const Queue = z.object({
  VisibilityTimeout: z.number().optional(),
  RedrivePolicy: z.object({ deadLetterTargetArn: z.string(), maxReceiveCount: z.number() }).optional(),
})
const Secret = z.object({
  Name: z.string(),
  GenerateSecretString: z.object({
    SecretStringTemplate: z.string(),
    GenerateStringKey: z.string(),
    PasswordLength: z.number().default(32),
  }),
})
const RoleProperties = z.strictObject({
  AssumeRolePolicyDocument: TrustPolicy,
  ManagedPolicyArns: z.unknown().optional(),
  Tags: z.unknown().optional(),
})
const Policy = z.object({ PolicyDocument, Roles: z.array(z.string()) })
const Lambda = z.object({
  LoggingConfig: z.object({ LogGroup: z.string() }),
  DeadLetterConfig: z.object({ TargetArn: z.string() }).optional(),
  Code: z.object({ S3Key: z.string() }),
  Environment: z.object({ Variables: z.record(z.string(), z.string()) }).default({ Variables: {} }),
  Handler: z.string(),
  MemorySize: z.number(),
  RecursiveLoop: z.enum(['Allow', 'Terminate']).default('Terminate'),
  Role: z.string(),
  Runtime: z.templateLiteral(['nodejs', z.number(), '.x']),
  Timeout: z.number(),
})
const Alias = z.object({ FunctionName: z.string(), Name: z.string() })
const EventSource = z.object({
  BatchSize: z.number(),
  EventSourceArn: z.string(),
  FunctionName: z.string(),
  FunctionResponseTypes: z.array(z.string()).default([]),
  ScalingConfig: z.object({ MaximumConcurrency: z.number() }),
})
const Schedule = z.object({ Target: z.object({ Arn: z.string(), RoleArn: z.string(), Input: z.string() }) })

/**
 * Runs a synthesized CDK stage on this machine, with local services in place of DynamoDB, SQS and Secrets Manager. Creates missing tables,
 * queues and secrets, and keeps existing ones. Functions get the template's variables, permissions, routes and triggers. Throws if AWS
 * would reject the template.
 */
export async function startTemplate(
  stacks: readonly SynthesizedStack[],
  services: AwsServices,
  settings: Settings = {},
): Promise<RunningTemplate> {
  const aws = await startAws(services, OPERATOR_KEY)
  return await startOn(aws, stacks, services, settings).catch(async (error: unknown) => {
    await aws.stop()
    throw error
  })
}

async function startOn(
  aws: Aws,
  stacks: readonly SynthesizedStack[],
  services: AwsServices,
  { port = 0, variables = {} }: Settings,
): Promise<RunningTemplate> {
  const deployed = deploy(stacks, aws.url)
  await createStores(deployed, services)
  const roles = rolesOf(deployed)
  const assets = Object.assign({}, ...stacks.map((stack) => stack.assets))

  const containers = createContainers()
  const functions = deployed('AWS::Lambda::Function', Lambda).map((resource) => {
    const { id, arn, properties } = resource
    const role = roles.get(properties.Role)
    if (!role?.trusts('lambda.amazonaws.com')) throw new Error(`The role of ${id} cannot be assumed by Lambda.`)
    verifyLimits(resource)
    const { DeadLetterConfig } = properties
    if (DeadLetterConfig) role.verify('sqs:SendMessage', DeadLetterConfig.TargetArn)
    const credentials = credentialsOf(id)
    aws.principals.set(credentials.AWS_ACCESS_KEY_ID, principalOf(id, role, credentials.AWS_SESSION_TOKEN))
    const lambda: LambdaFunction = {
      ...{ name: id, arn, directory: assets[properties.Code.S3Key], handler: properties.Handler },
      environment: { ...buildEnvironment(resource, variables, aws.url), ...credentials, AWS_ENDPOINT_URL: aws.url },
      ...{ timeoutSeconds: properties.Timeout, memoryMiB: properties.MemorySize },
      logGroup: properties.LoggingConfig.LogGroup,
    }
    return { lambda, role, credentials, enqueuesItself: properties.RecursiveLoop === 'Allow' }
  })
  // The map finds a function by its ARN, its name, its alias's ARN or its alias's name.
  const called = new Map(functions.flatMap((one) => [[one.lambda.arn, one] as const, [one.lambda.name, one] as const]))
  for (const { arn, properties } of deployed('AWS::Lambda::Alias', Alias)) {
    const one = called.get(properties.FunctionName)
    if (one) called.set(arn, one).set(`${properties.FunctionName}:${properties.Name}`, one)
  }
  const find = (arn: string) => {
    const container = called.get(arn)
    if (!container) throw new Error(`There is no function ${arn}.`)
    return container
  }

  const mappings = deployed('AWS::Lambda::EventSourceMapping', EventSource).map(({ properties }): Mapping => {
    const { BatchSize, EventSourceArn, FunctionName, FunctionResponseTypes, ScalingConfig } = properties
    const { lambda, role, credentials, enqueuesItself } = find(FunctionName)
    for (const action of TAKING) role.verify(action, EventSourceArn)
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = credentials
    const client = new SQSClient({
      ...localConfig(aws.url),
      credentials: {
        ...{ accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY, sessionToken: AWS_SESSION_TOKEN },
      },
    })
    const QueueUrl = `${aws.url}/${ACCOUNT_ID}/${EventSourceArn.split(':').at(-1)}`
    return {
      ...{ name: lambda.name, queueArn: EventSourceArn, batchSize: BatchSize, place: () => ({ client, QueueUrl }) },
      ...{ maxConcurrency: ScalingConfig.MaximumConcurrency, timeoutSeconds: lambda.timeoutSeconds, enqueuesItself },
      reportsFailures: FunctionResponseTypes.includes('ReportBatchItemFailures'),
    }
  })
  const { consume } = createConsumers(
    mappings,
    // The cast is safe: every queue consumer of this service returns an SQSBatchResponse.
    async (name, event, { trace }) => (await containers.invoke(find(name).lambda, event, trace)) as SQSBatchResponse,
  )

  const schedules = deployed('AWS::Scheduler::Schedule', Schedule).map(({ properties: { Target } }) => {
    const { Arn, RoleArn, Input } = Target
    const { lambda } = find(Arn)
    const role = roles.get(RoleArn)
    if (!role?.trusts('scheduler.amazonaws.com'))
      throw new Error(`The role of the schedules of ${lambda.name} cannot be assumed by the scheduler.`)
    role.verify('lambda:InvokeFunction', Arn)
    const input: unknown = JSON.parse(Input)
    return { name: lambda.name, input, run: () => containers.invoke(lambda, input) }
  })

  const api = await startHttpApi(deployed, (arn, event) => containers.invoke(find(arn).lambda, event), port)
  return {
    url: api.url,
    operator: {
      AWS_REGION: localCredentials.AWS_REGION,
      AWS_ACCESS_KEY_ID: OPERATOR_KEY,
      AWS_SECRET_ACCESS_KEY: OPERATOR_KEY,
      AWS_ENDPOINT_URL: aws.url,
    },
    schedules,
    consume,
    calls: aws.calls,
    names: () => functions.map(({ lambda }) => lambda.name),
    logs: containers.logs,
    async stop() {
      await api.stop()
      for (const { place } of mappings) place().client.destroy()
      await containers.stop()
      await aws.stop()
    },
  }
}

async function createStores(deployed: ResourceFinder, { dynamodb, sqs, secretsmanager }: AwsServices): Promise<void> {
  const tables = dynamoClient(localConfig(dynamodb))
  const queues = new SQSClient(localConfig(sqs))
  const secrets = new SecretsManagerClient(localConfig(secretsmanager))
  try {
    for (const { properties } of deployed('AWS::DynamoDB::Table', Table)) {
      const { TableName, AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, BillingMode } = properties
      // The cast is safe: CloudFormation and DynamoDB have the same names for these properties, and DynamoDB checks the values.
      const keys = { AttributeDefinitions, KeySchema, GlobalSecondaryIndexes, BillingMode } as object
      await createTable(tables, { TableName, ...keys })
    }
    const dead = (resource: DeployedResource<z.output<typeof Queue>>) => !resource.properties.RedrivePolicy
    const all = deployed('AWS::SQS::Queue', Queue)
    for (const queue of [...all.filter(dead), ...all.filter((each) => !dead(each))]) {
      const { VisibilityTimeout, RedrivePolicy } = queue.properties
      const Attributes = {
        ...(VisibilityTimeout !== undefined && { VisibilityTimeout: String(VisibilityTimeout) }),
        ...(RedrivePolicy && { RedrivePolicy: JSON.stringify(RedrivePolicy) }),
      }
      await queues.send(new CreateQueueCommand({ QueueName: queue.arn.split(':').at(-1), Attributes }))
    }
    for (const { properties } of deployed('AWS::SecretsManager::Secret', Secret)) {
      const { SecretStringTemplate, GenerateStringKey, PasswordLength } = properties.GenerateSecretString
      const generated = randomBytes(PasswordLength).toString('hex').slice(0, PasswordLength)
      const SecretString = JSON.stringify({ ...JSON.parse(SecretStringTemplate), [GenerateStringKey]: generated })
      await secrets.send(new CreateSecretCommand({ Name: properties.Name, SecretString })).catch((error: unknown) => {
        if (!(error instanceof ResourceExistsException)) throw error
      })
    }
  } finally {
    for (const client of [tables, queues, secrets]) client.destroy()
  }
}

function rolesOf(deployed: ResourceFinder): ReadonlyMap<string, Role> {
  const policies = deployed('AWS::IAM::Policy', Policy)
  return new Map(
    deployed('AWS::IAM::Role', RoleProperties).flatMap(({ id, arn, properties }) => {
      // The map leaves out a role with managed policies, because the template does not list the permissions of such
      // policies. `startTemplate` throws for a function with such a role.
      if (properties.ManagedPolicyArns) return []
      const own = policies.filter(({ properties: { Roles } }) => Roles.includes(id))
      const statements = own.flatMap(({ properties: { PolicyDocument } }) => PolicyDocument.Statement)
      if (JSON.stringify(statements).length > MAX_POLICY_CHARACTERS) {
        throw new Error(`The policies of the role ${id} are longer than IAM takes.`)
      }
      const trusted = properties.AssumeRolePolicyDocument.Statement
      const trusts = (service: string) => trusted.some(({ Principal }) => Principal.Service === service)
      const verify = (action: string, resource: string) => {
        if (isAllowed(statements, action, resource)) return
        throw new Error(`The provided execution role does not have permissions to call ${action} on ${resource}: ${id}`)
      }
      return [[arn, { name: id, statements, trusts, verify }]]
    }),
  )
}

function verifyLimits({ id, properties }: DeployedResource<z.output<typeof Lambda>>): void {
  const { Environment, Runtime } = properties
  const bytes = Buffer.byteLength(JSON.stringify(Environment.Variables))
  if (bytes > MAX_VARIABLES_BYTES) throw new Error(`The variables of ${id} have ${bytes} bytes; Lambda takes 4 KB.`)
  const [major] = process.versions.node.split('.')
  if (Runtime !== `nodejs${major}.x`) throw new Error(`${id} runs on ${Runtime}, and this is Node ${major}.`)
}

function buildEnvironment(
  { id, properties }: DeployedResource<z.output<typeof Lambda>>,
  others: Readonly<Record<string, string>>,
  sqsUrl: string,
): Record<string, string> {
  const { Variables } = properties.Environment
  return {
    ...Object.fromEntries(Object.entries(Variables).map(([name, value]) => [name, value.replace(SQS_URL, sqsUrl)])),
    ...Object.fromEntries(Object.entries(others).filter(([name]) => name in Variables)),
    _HANDLER: properties.Handler,
    AWS_EXECUTION_ENV: `AWS_Lambda_${properties.Runtime}`,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(properties.MemorySize),
    AWS_LAMBDA_FUNCTION_NAME: id,
    AWS_LAMBDA_FUNCTION_VERSION: '1',
    AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
    AWS_LAMBDA_LOG_FORMAT: 'JSON',
    AWS_DEFAULT_REGION: localCredentials.AWS_REGION,
    AWS_REGION: localCredentials.AWS_REGION,
    TZ: ':UTC',
  }
}

function credentialsOf(name: string) {
  const accessKey = randomBytes(8).toString('hex').toUpperCase()
  return {
    AWS_ACCESS_KEY_ID: `ASIA${accessKey}`,
    AWS_SECRET_ACCESS_KEY: randomBytes(20).toString('hex'),
    AWS_SESSION_TOKEN: `${name} ${randomBytes(20).toString('hex')}`,
  }
}

function principalOf(functionName: string, role: Role, sessionToken: string): Principal {
  const arn = `arn:aws:sts::${ACCOUNT_ID}:assumed-role/${role.name}/${functionName}`
  return { arn, sessionToken, statements: role.statements }
}
