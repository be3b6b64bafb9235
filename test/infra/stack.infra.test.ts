import { globSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path/posix'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { consumers, endpoints, jobs } from '../../functions/contracts.ts'
import { STAGES } from '../../infra/environments.ts'
import { stackNames } from '../../infra/functions.ts'
import { QUEUE_KEYS, QUEUES } from '../../infra/queues.ts'
import { readStages, type StageEnvironment } from '../../infra/stages.ts'
import { TABLES, type TableDefinition } from '../../infra/tables.ts'
import { AttemptLimits } from '../../lib/accounts/rate-limits.ts'
import { RelyingParty } from '../../lib/accounts/relying-party.ts'
import { EVM_CHAINS } from '../../lib/chain/registry.ts'
import {
  type Contract,
  type EndpointContract,
  type JobContract,
  listUses,
  type QueueContract,
} from '../../lib/frame/contract.ts'
import { RESOURCES, type Resource } from '../../lib/frame/resources.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { matchesPattern } from '../support/cloudwatch.ts'
import { STAGES_FILE, type SynthesizedStage, synthesizeApp } from './synthesize.ts'

const ENDPOINTS: [string, EndpointContract][] = Object.entries(endpoints)
const JOBS: [string, JobContract][] = Object.entries(jobs)
const CONSUMERS: [string, QueueContract][] = Object.entries(consumers)
const CONTRACTS: [string, Contract][] = [...ENDPOINTS, ...JOBS, ...CONSUMERS]
/** Folders in `functions/`. The functions of each folder have a separate stack. */
const AREAS = new Set(CONTRACTS.map(([name]) => dirname(name)))
/** Endpoints that return transactions to sign and therefore need two nodes that agree. */
const WITNESSED = ['deposit', 'withdraw', 'claim', 'cancel', 'claim-rewards'].map((name) => `vaults/${name}`)
/** Endpoints that count the requests of an API key, and therefore log requests that could not be counted. */
const COUNTED = ENDPOINTS.filter(([, { caller }]) => caller !== 'anyone').map(([name]) => name)
const RUNS = JOBS.flatMap(([name, contract]) => contract.runs.map((run) => ({ name, contract, run })))

/** Number of a stage's alarms that observe a metric, by the stage's setting `observe`. */
const ALARMS = {
  none: 0,
  // The six alarms observe failing requests (in two time windows), failing transactions, failing logins, late chains,
  // and webhooks.
  slo: 6,
  // The sum adds the alarms of `slo`, one alarm per endpoint, and one per consumer. Three alarms observe late jobs.
  // Three more observe slow requests, refused requests and throttles. Two observe metrics of several stacks, and three
  // observe chains. One observes failed job runs. Two observe shards (batches of vaults), and two observe webhooks.
  all: 6 + ENDPOINTS.length + CONSUMERS.length + 3 + 3 + 2 + 3 + 1 + 2 + 2,
}
/** Number of resources of each type that CloudFront (the edge) adds to a stage. */
const EDGE = {
  'AWS::CloudFront::Distribution': 1,
  'AWS::CloudFront::CachePolicy': 1,
  'AWS::CloudFront::OriginRequestPolicy': 1,
  'AWS::WAFv2::WebACL': 1,
  // All addresses of clients' servers are IPv4. So CloudFront's firewall needs only one IP set for them.
  'AWS::WAFv2::IPSet': 1,
}
/** Number of alarms of CloudFront (the edge): on failed, on refused and on blocked requests. */
const EDGE_ALARMS = 3
const OpenApi = z.object({
  'x-amazon-apigateway-cors': z.unknown(),
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({
        parameters: z
          .array(z.object({ name: z.string(), in: z.literal('path'), required: z.literal(true) }))
          .optional(),
        'x-amazon-apigateway-integration': z.object({ $ref: z.string() }),
      }),
    ),
  ),
  components: z.object({ 'x-amazon-apigateway-integrations': z.record(z.string(), z.unknown()) }),
})
type Target = { readonly Arn: string; readonly RoleArn: string }

const arn = (service: string, resource: string) => `arn:aws:${service}:region:account:${resource}`

/**
 * Returns the permissions that a function needs for the tables, queues and secrets in its contract. Omits the permissions for logs and
 * traces.
 */
function permissionsOf(stage: string, contract: Contract): [action: string, resource: string][] {
  const { clients = [], deposits = [], users = [], webhooks = [], cache = [], ...uses } = listUses(contract)
  const tables = Object.entries({ clients, deposits, users, webhooks, cache }).flatMap(([table, accesses]) =>
    accesses.map((access): [string, string] => {
      const [action, index] = access.split(' ')
      const tableArn = arn('dynamodb', `table/vaultline-${stage}-${table}`)
      return [`dynamodb:${action}`, `${tableArn}${index ? `/index/${index}` : ''}`]
    }),
  )
  return [
    ...tables,
    ...QUEUE_KEYS.filter((key) => uses[key]).map((key): [string, string] => [
      'sqs:SendMessage',
      arn('sqs', `vaultline-${stage}-${QUEUES[key].name}`),
    ]),
    ...SECRETS.filter(([secret]) => uses[secret]).map(([, name]): [string, string] => [
      'secretsmanager:GetSecretValue',
      arn('secretsmanager', `secret:vaultline/${stage}/${name}-??????`),
    ]),
    ...('runs' in contract ? [['sqs:SendMessage', 'jobs/DeadLetters'] as [string, string]] : []),
  ]
}

const SECRETS = [
  ['config', 'config'],
  ['identity', 'identity'],
  ['signing', 'signing'],
  ['webhookKey', 'webhook-key'],
] as const

function valuesOf(stage: string): Record<string, unknown> {
  const queueUrl = (name: string) => `https://sqs.region.amazonaws.com/account/vaultline-${stage}-${name}`
  return {
    CLIENTS_TABLE: `vaultline-${stage}-clients`,
    DEPOSITS_TABLE: `vaultline-${stage}-deposits`,
    USERS_TABLE: `vaultline-${stage}-users`,
    WEBHOOKS_TABLE: `vaultline-${stage}-webhooks`,
    CACHE_TABLE: `vaultline-${stage}-cache`,
    DELIVERY_QUEUE_URL: queueUrl('deliveries'),
    SHARD_QUEUE_URL: queueUrl('shards'),
    WEBHOOK_KEY_SECRET: `vaultline/${stage}/webhook-key`,
    WEBHOOK_REACH: 'public',
    CONFIG_SECRET: `vaultline/${stage}/config`,
    IDENTITY_SECRET: `vaultline/${stage}/identity`,
    SIGNING_SECRET: `vaultline/${stage}/signing`,
    RELYING_PARTY: expect.stringMatching(/^{"id":"/),
    RATE_LIMITS: expect.stringMatching(/^{"perNetwork":/),
    SERVICE_VERSION: packageJson.version,
  }
}

/** Schedule expression of EventBridge by the interval in minutes. */
const RATES: Record<number, string> = { 1: 'rate(1 minute)', 5: 'rate(5 minutes)', 60: 'rate(1 hour)' }

/** Fields of API Gateway's access log, each with its variable of API Gateway. Only the route and the method come from the caller. */
const LOGGED = [
  ['time', 'requestTime'],
  ['requestId', 'requestId'],
  ['route', 'routeKey'],
  ['status', 'status'],
  ['milliseconds', 'responseLatency'],
  ['functionMilliseconds', 'integrationLatency'],
  ['bytes', 'responseLength'],
  ['gatewayError', 'error.responseType'],
  ['functionError', 'integrationErrorMessage'],
]

const { stages, pluginReports } = await synthesizeApp()
const environments = await readStages(STAGES_FILE)

describe.each(STAGES)('%s', (stage) => {
  const environment = environments.get(stage) as StageEnvironment
  const isProduction = stage === 'prod'
  const retained = isProduction ? 'Retain' : 'Delete'
  const { stacks, resources, outputs, ofType } = stages[`vaultline-${stage}`] as SynthesizedStage
  const { edge } = environment
  const topics = edge ? 2 : 1
  const { observe } = environment
  const isWatched = observe === 'all'
  /** Functions whose new versions get traffic gradually. */
  const gradual = environment.gradual ? [...ENDPOINTS, ...CONSUMERS].map(([name]) => name) : []
  const alarms = ALARMS[observe] + gradual.length + (edge && isWatched ? EDGE_ALARMS : 0)
  // The setting `slo` has four metric filters for transactions and logins: all and failed ones of both. Two more
  // filters read the lag of chains from two logs.
  const filters =
    (observe === 'none' ? 0 : 4 + 2) +
    gradual.length +
    // Filters per function read errors, uncounted requests, and disagreeing nodes. Nine filters read metrics of chains:
    // four metrics in two logs, and one metric in a third log. Three filters read the lag of jobs, one API Gateway's
    // refusals, and four read webhooks.
    (isWatched ? ENDPOINTS.length + CONSUMERS.length + COUNTED.length + (WITNESSED.length + 1) + 9 + 3 + 1 + 4 : 0)
  const deployers = environment.deployedFrom ? ['deployer/Deploy', 'deployer/Diff'] : []
  const aliasOf = (name: string) => arn('lambda', `function:vaultline-${stage}-${name.replace('/', '-')}:live`)
  const documentOf = () => OpenApi.parse(ofType('AWS::ApiGatewayV2::Api')['api/Api']?.['Body'])

  test('has exactly the resources that the contracts need', () => {
    const byType = Map.groupBy(Object.values(resources), ({ Type }) => Type)
    expect(Object.fromEntries([...byType].map(([type, resources]) => [type, resources.length]))).toEqual({
      'AWS::ApiGatewayV2::Api': 1,
      'AWS::ApiGatewayV2::Stage': 1,
      'AWS::Lambda::Function': CONTRACTS.length,
      'AWS::Lambda::Version': CONTRACTS.length,
      'AWS::Lambda::Alias': CONTRACTS.length,
      ...(gradual.length > 0 && {
        'AWS::CodeDeploy::Application': AREAS.size - 1,
        'AWS::CodeDeploy::DeploymentGroup': gradual.length,
      }),
      'AWS::Lambda::EventInvokeConfig': JOBS.length,
      'AWS::Lambda::EventSourceMapping': CONSUMERS.length,
      'AWS::Lambda::Permission': ENDPOINTS.length,
      'AWS::IAM::Role': CONTRACTS.length + JOBS.length + (gradual.length > 0 ? AREAS.size - 1 : 0) + deployers.length,
      'AWS::IAM::Policy': CONTRACTS.length + JOBS.length + deployers.length,
      'AWS::Scheduler::Schedule': RUNS.length,
      'AWS::Logs::LogGroup': CONTRACTS.length + 1,
      ...(filters > 0 && { 'AWS::Logs::MetricFilter': filters }),
      ...(isWatched && { 'AWS::CloudWatch::InsightRule': 3, 'AWS::CloudWatch::Dashboard': 1 }),
      ...(environment.monthlyBudgetUsd && { 'AWS::Budgets::Budget': 1 }),
      ...(edge && EDGE),
      ...(alarms > 0 && { 'AWS::CloudWatch::Alarm': alarms, 'AWS::CloudWatch::CompositeAlarm': 1 }),
      'AWS::SQS::Queue': 1 + 2 * QUEUE_KEYS.length,
      'AWS::SQS::QueuePolicy': 1 + 2 * QUEUE_KEYS.length,
      'AWS::SNS::Topic': topics,
      'AWS::SNS::TopicPolicy': topics,
      ...(environment.alarmEmail && { 'AWS::SNS::Subscription': topics }),
      'AWS::DynamoDB::Table': Object.keys(TABLES).length,
      'AWS::SecretsManager::Secret': 4,
    })
  })

  test('has a stack for each area, deployed after the shared stack and before the API', () => {
    const shared = `vaultline-${stage}-shared`
    const areas = new Set(ENDPOINTS.map(([name]) => `vaultline-${stage}-${dirname(name)}`))
    const order = Object.fromEntries(stacks.map(({ name, dependsOn }) => [name, new Set(dependsOn)]))
    expect(order).toMatchObject({
      shared: new Set(),
      ...Object.fromEntries([...AREAS].map((area) => [area, new Set([shared])])),
      api: areas,
    })
    expect(stacks).toHaveLength(AREAS.size + 2 + Math.sign(deployers.length) + (edge ? 1 : 0))
    // Stack names are fixed, because an operator's commands find the stacks by name.
    expect(stackNames(stage)).toEqual(expect.arrayContaining(stacks.map(({ name }) => `vaultline-${stage}-${name}`)))
  })

  test.each(CONTRACTS)('%s shifts traffic to a new version gradually if configured, and back if it fails', (name) => {
    const [area, id] = [dirname(name), idOf(name)]
    const group = ofType('AWS::CodeDeploy::DeploymentGroup')[`${id}Deploys`]
    if (!gradual.includes(name)) {
      expect([resources[liveOf(name)]?.UpdatePolicy, group]).toEqual([undefined, undefined])
      return
    }
    expect(resources[liveOf(name)]?.UpdatePolicy).toEqual({
      CodeDeployLambdaAliasUpdate: {
        ApplicationName: `${area}/DeploysApplication`,
        DeploymentGroupName: `${id}Deploys`,
      },
    })
    expect(group).toMatchObject({
      ApplicationName: `${area}/DeploysApplication`,
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent10Minutes',
      AutoRollbackConfiguration: { Enabled: true, Events: ['DEPLOYMENT_FAILURE', 'DEPLOYMENT_STOP_ON_ALARM'] },
      AlarmConfiguration: { Enabled: true, Alarms: [{ Name: `${id}NewVersion` }] },
    })
    const functionName = `vaultline-${stage}-${name.replace('/', '-')}`
    const ofVersion = [
      { Name: 'ExecutedVersion', Value: expect.stringMatching(/CurrentVersion.*\.Version$/) },
      { Name: 'FunctionName', Value: functionName },
      { Name: 'Resource', Value: `${functionName}:live` },
    ]
    const { Metrics } = ofType('AWS::CloudWatch::Alarm')[`${id}NewVersion`] as { Metrics: { MetricStat?: object }[] }
    expect(Metrics.flatMap(({ MetricStat }) => MetricStat ?? [])).toMatchObject([
      { Metric: { MetricName: 'Invocations', Dimensions: ofVersion } },
      { Metric: { MetricName: 'Errors', Dimensions: ofVersion } },
      { Metric: { Dimensions: [{ Name: 'version', Value: expect.stringMatching(/\.Version$/) }] } },
    ])
  })

  test('is deployed only by workflows in environments of its name, with only CDK’s roles', () => {
    const regions = ['region', ...(edge ? ['us-east-1'] : [])]
    const bootstrap = (...names: string[]) => {
      const roles = regions.flatMap((region) =>
        names.map((name) => `arn:aws:iam::account:role/cdk-hnb659fds-${name}-role-account-${region}`),
      )
      return roles.length > 1 ? roles : roles[0]
    }
    const roles = deployers.map((id) => [
      ofType('AWS::IAM::Role')[id],
      ofType('AWS::IAM::Policy')[`${id}DefaultPolicy`],
    ])
    const expected = [
      [stage, bootstrap('deploy', 'file-publishing', 'lookup')],
      [`${stage}-diff`, bootstrap('lookup')],
    ].map(([name, Resource]) => [
      {
        MaxSessionDuration: 7200,
        AssumeRolePolicyDocument: {
          Version: '2012-10-17',
          Statement: [
            {
              Effect: 'Allow',
              Action: 'sts:AssumeRoleWithWebIdentity',
              Principal: {
                Federated: 'arn:aws:iam::account:oidc-provider/token.actions.githubusercontent.com',
              },
              Condition: {
                StringEquals: {
                  'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
                  'token.actions.githubusercontent.com:sub': `repo:vaultline@1/service@2:environment:${name}`,
                },
              },
            },
          ],
        },
      },
      {
        PolicyDocument: {
          Version: '2012-10-17',
          Statement: [{ Effect: 'Allow', Action: 'sts:AssumeRole', Resource }],
        },
      },
    ])
    expect(roles).toMatchObject(environment.deployedFrom ? expected : [])
    expect(roles).toHaveLength(environment.deployedFrom ? 2 : 0)
  })

  test('can hold 60 endpoints and 50 chains, with no stack near CloudFormation’s 500 resources', () => {
    for (const { name, template } of stacks) {
      const ids = Object.keys(template.Resources)
      const ofBase = ids.filter((id) => /^RefreshChain(chainId)?8453/.test(id))
      expect(ofBase.length, 'the schedule of its run').toBe(name === 'jobs' ? 1 : 0)
      // The test extrapolates the stack's size to 60 endpoints and 50 chains. The number of resources grows in
      // proportion to the endpoints. Each further chain adds as many resources as the chain Base.
      const grown = (ids.length * 60) / ENDPOINTS.length + (50 - EVM_CHAINS.length) * ofBase.length
      expect(grown, name).toBeLessThanOrEqual(400)
    }
  })

  test('routes each contract, and nothing else, to its own function', () => {
    const { paths, components } = documentOf()
    const routes = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).map(([method, operation]) => {
        const { $ref } = operation['x-amazon-apigateway-integration']
        const integration = components['x-amazon-apigateway-integrations'][$ref.split('/').at(-1) ?? '']
        const named = (operation.parameters ?? []).map(({ name }) => name)
        expect(named, path).toEqual([...path.matchAll(/{(\w+)/g)].map(([, name]) => name))
        return [`${method.toUpperCase()} ${path}`, integration]
      }),
    )
    expect(Object.fromEntries(routes)).toEqual(
      Object.fromEntries(
        expectedRoutes().map(([route, name]) => [
          route,
          {
            type: 'AWS_PROXY',
            httpMethod: 'POST',
            uri: `arn:aws:apigateway:region:lambda:path/2015-03-31/functions/${aliasOf(name)}/invocations`,
            payloadFormatVersion: '2.0',
          },
        ]),
      ),
    )
  })

  test('calls API Gateway one by one at the first deploy, far below ten times a second', () => {
    const resources = stacks.flatMap(({ name, template }) =>
      Object.entries(template.Resources).flatMap(([id, { Type, Properties }]) =>
        Type.startsWith('AWS::ApiGatewayV2::') ? [{ name, id, Type, Properties }] : [],
      ),
    )
    expect(resources.map(({ name, Type }) => [name, Type])).toEqual([
      ['api', 'AWS::ApiGatewayV2::Api'],
      ['api', 'AWS::ApiGatewayV2::Stage'],
    ])
    expect(resources[1]?.Properties['ApiId'], 'the second waits for the first').toEqual({ Ref: resources[0]?.id })
  })

  test('reads no exports of another stack', () => {
    const references = stacks.flatMap(({ name, template }) =>
      [...JSON.stringify(template).matchAll(/Fn::(GetStackOutput|ImportValue)/g)].map(() => name),
    )
    expect(references).toEqual([])
  })

  test('lets the gateway invoke the functions of endpoints', () => {
    const permissions = Object.values(ofType('AWS::Lambda::Permission'))
    expect(Object.fromEntries(permissions.map(({ FunctionName, ...rest }) => [FunctionName, rest]))).toEqual(
      Object.fromEntries(
        ENDPOINTS.map(([name]) => [
          aliasOf(name),
          {
            Action: 'lambda:InvokeFunction',
            Principal: 'apigateway.amazonaws.com',
            SourceArn: 'arn:aws:execute-api:region:account:api/Api/*/*/*',
          },
        ]),
      ),
    )
  })

  test.each(CONTRACTS)('%s runs on ARM and Node 24, with its own role and log', (name, contract) => {
    const id = idOf(name)
    const isJob = 'runs' in contract
    const timeout = 'timeoutSeconds' in contract ? contract.timeoutSeconds : 10
    expect(contract.summary.length, 'what Lambda takes as a description').toBeLessThanOrEqual(256)
    expect(ofType('AWS::Lambda::Function')[`${id}Function`]).toEqual({
      Architectures: ['arm64'],
      Code: expect.anything(),
      ...(isJob && { DeadLetterConfig: { TargetArn: 'jobs/DeadLetters' } }),
      Description: contract.summary,
      FunctionName: `vaultline-${stage}-${name.replace('/', '-')}`,
      ...((Object.keys(listUses(contract)).length > 0 || (edge && 'caller' in contract)) && {
        Environment: expect.anything(),
      }),
      Handler: 'index.handler',
      LoggingConfig: { LogFormat: 'JSON', LogGroup: `${id}Logs` },
      MemorySize: 'caller' in contract ? 1769 : 512,
      ...('queue' in contract && contract.uses[contract.queue] && { RecursiveLoop: 'Allow' }),
      Role: `${id}Role`,
      Runtime: 'nodejs24.x',
      Timeout: isJob ? Math.min(contract.everyMinutes * 60 - 10, 900) : timeout,
    })
    expect(resources[`${id}Logs`]).toEqual({
      Type: 'AWS::Logs::LogGroup',
      Properties: { RetentionInDays: environment.logRetentionDays },
      DeletionPolicy: retained,
      UpdateReplacePolicy: retained,
    })
  })

  test.each(CONTRACTS)('%s has the variables that its contract requests', (name, contract) => {
    const variables = Object.keys(listUses(contract)).map((resource) => RESOURCES[resource as Resource])
    const expected = variables.map((variable) => [variable, valuesOf(stage)[variable]])
    if (edge && 'caller' in contract) {
      expected.push(['EDGE', JSON.stringify({ keys: edge.keys, isOnlyWay: edge.isOnlyWay })])
    }
    const environment = ofType('AWS::Lambda::Function')[`${idOf(name)}Function`]?.['Environment']
    expect(environment).toEqual(expected.length > 0 ? { Variables: Object.fromEntries(expected) } : undefined)
  })

  test.each(CONTRACTS)('%s has only the permissions that its contract uses', (name, contract) => {
    const id = idOf(name)
    expect(ofType('AWS::IAM::Role')[`${id}Role`]).toEqual({
      AssumeRolePolicyDocument: {
        Statement: [{ Action: 'sts:AssumeRole', Effect: 'Allow', Principal: { Service: 'lambda.amazonaws.com' } }],
        Version: '2012-10-17',
      },
    })
    expect(ofType('AWS::IAM::Policy')[`${id}RoleDefaultPolicy`]).toEqual({
      PolicyDocument: {
        Statement: [
          { Action: ['logs:CreateLogStream', 'logs:PutLogEvents'], Effect: 'Allow', Resource: `${id}Logs` },
          ...permissionsOf(stage, contract).map(([Action, Resource]) => ({ Action, Effect: 'Allow', Resource })),
          ...('queue' in contract ? [takesFrom(stage, contract)] : []),
        ],
        Version: '2012-10-17',
      },
      PolicyName: expect.any(String),
      Roles: [`${id}Role`],
    })
  })

  test.each(Object.entries<TableDefinition>(TABLES))(
    'the table %s matches its definition and is protected',
    (key, definition) => {
      const { partitionKey, sortKey, indexes, timeToLive } = definition
      const keys = [partitionKey, sortKey, ...indexes.flatMap((index) => [index.partitionKey, index.sortKey])]
      const types = Object.entries(Object.fromEntries(keys.map(({ name, type }) => [name, type])))
      expect(resources[`shared/${key}table`]).toEqual({
        Type: 'AWS::DynamoDB::Table',
        Properties: {
          TableName: `vaultline-${stage}-${key}`,
          AttributeDefinitions: types.map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
          KeySchema: keySchema(definition),
          ...(indexes.length > 0 && {
            GlobalSecondaryIndexes: indexes.map((index) => ({
              IndexName: index.name,
              KeySchema: keySchema(index),
              Projection: { ProjectionType: 'ALL' },
            })),
          }),
          BillingMode: 'PAY_PER_REQUEST',
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          SSESpecification: { SSEEnabled: true },
          DeletionProtectionEnabled: isProduction,
          ...(timeToLive && { TimeToLiveSpecification: { AttributeName: timeToLive, Enabled: true } }),
        },
        DeletionPolicy: retained,
        UpdateReplacePolicy: retained,
      })
    },
  )

  test('the secret starts without RPC URLs, and no later deploy overwrites it', () => {
    expect(resources['shared/Config']).toEqual({
      Type: 'AWS::SecretsManager::Secret',
      Properties: {
        Name: `vaultline/${stage}/config`,
        Description: expect.any(String),
        // Never change the next line: CloudFormation would replace the values that operators stored.
        GenerateSecretString: { SecretStringTemplate: '{"rpcUrls":{}}', GenerateStringKey: 'unused' },
      },
      DeletionPolicy: retained,
      UpdateReplacePolicy: retained,
    })
  })

  test('the secret of signing keys starts empty, and no later deploy overwrites it', () => {
    expect(resources['shared/Signing']).toEqual({
      Type: 'AWS::SecretsManager::Secret',
      Properties: {
        Name: `vaultline/${stage}/signing`,
        Description: expect.any(String),
        // Never change the next line: CloudFormation would replace the signing keys.
        GenerateSecretString: { SecretStringTemplate: '{"keys":[]}', GenerateStringKey: 'unused' },
      },
      DeletionPolicy: retained,
      UpdateReplacePolicy: retained,
    })
  })

  test('the key for one-time codes is created once, and no later deploy overwrites it', () => {
    expect(resources['shared/Identity']).toEqual({
      Type: 'AWS::SecretsManager::Secret',
      Properties: {
        Name: `vaultline/${stage}/identity`,
        Description: expect.any(String),
        // Never change these settings: CloudFormation would create another key, and every user's one-time codes would fail.
        GenerateSecretString: {
          SecretStringTemplate: '{}',
          GenerateStringKey: 'key',
          PasswordLength: 64,
          ExcludePunctuation: true,
        },
      },
      DeletionPolicy: retained,
      UpdateReplacePolicy: retained,
    })
  })

  test('the relying party is the environment’s, with origins that its web pages can have', () => {
    const { relyingParty, rateLimits, corsOrigins } = environment
    const variables = ofType('AWS::Lambda::Function')['accounts/RegisterInitFunction']?.['Environment'] as {
      Variables: Record<string, string>
    }
    const { RELYING_PARTY = '', RATE_LIMITS = '' } = variables.Variables
    expect(RelyingParty.parse(JSON.parse(RELYING_PARTY))).toEqual({ ...relyingParty, webOrigins: corsOrigins })
    expect(AttemptLimits.parse(JSON.parse(RATE_LIMITS))).toEqual(rateLimits)
    for (const origin of corsOrigins) {
      const { hostname } = new URL(origin)
      expect(hostname === relyingParty.id || hostname.endsWith(`.${relyingParty.id}`)).toBe(true)
    }
  })

  test('browsers may call from the environment’s pages, without cookies', () => {
    const methods = new Set(ENDPOINTS.map(([, { method }]) => method).filter((method) => method !== 'ANY'))
    expect(documentOf()['x-amazon-apigateway-cors']).toEqual({
      allowOrigins: environment.corsOrigins,
      allowMethods: [...methods],
      allowHeaders: ['content-type', 'x-join-key', 'authorization', 'platform', 'content-digest', 'if-none-match'],
      exposeHeaders: [
        ...['x-request-id', 'retry-after', 'age', 'x-stale', 'etag'],
        ...['content-digest', 'signature', 'signature-input'],
        ...['ratelimit', 'ratelimit-policy'],
      ],
      allowCredentials: false,
      maxAge: 7200,
    })
    expect(environment.corsOrigins.filter((origin) => new URL(origin).origin !== origin)).toEqual([])
  })

  test('requests are throttled, and logged without the caller’s data', () => {
    expect(ofType('AWS::ApiGatewayV2::Stage')['api/Stage']).toEqual({
      AccessLogSettings: {
        DestinationArn: 'api/AccessLogs',
        Format: JSON.stringify(Object.fromEntries(LOGGED.map(([key, variable]) => [key, `$context.${variable}`]))),
      },
      ApiId: 'api/Api',
      StageName: '$default',
      AutoDeploy: true,
      DefaultRouteSettings: {
        ThrottlingRateLimit: environment.throttling.requestsPerSecond,
        ThrottlingBurstLimit: environment.throttling.burst,
      },
    })
    expect(resources['api/AccessLogs']).toMatchObject({
      Properties: { RetentionInDays: environment.logRetentionDays },
      DeletionPolicy: retained,
    })
  })

  test('schedules each run of a job once', () => {
    expect(ofType('AWS::Scheduler::Schedule')).toEqual(
      Object.fromEntries(
        RUNS.map(({ name, run, contract: { everyMinutes, summary } }) => [
          scheduleOf(name, run),
          {
            Description: summary,
            FlexibleTimeWindow: { Mode: 'OFF' },
            ScheduleExpression: RATES[everyMinutes],
            ScheduleExpressionTimezone: 'Etc/UTC',
            State: 'ENABLED',
            Target: {
              Arn: liveOf(name),
              DeadLetterConfig: { Arn: 'jobs/DeadLetters' },
              Input: JSON.stringify(run),
              RetryPolicy: { MaximumEventAgeInSeconds: everyMinutes * 60, MaximumRetryAttempts: 1 },
              RoleArn: `${idOf(name)}SchedulerRole`,
            },
          },
        ]),
      ),
    )
  })

  test.each(JOBS)('the schedules of %s may only invoke it and keep failed inputs', (name) => {
    const target = liveOf(name)
    const targets = Object.values(ofType('AWS::Scheduler::Schedule')).map(({ Target }) => Target as Target)
    const roles = new Set(targets.flatMap(({ Arn, RoleArn }) => (Arn === target ? [RoleArn] : [])))
    expect(roles.size, 'roles of one job').toBe(1)
    const [role = ''] = roles
    expect(ofType('AWS::IAM::Role')[role]).toEqual({
      AssumeRolePolicyDocument: {
        Statement: [
          {
            Action: 'sts:AssumeRole',
            Condition: {
              StringEquals: {
                'aws:SourceAccount': 'account',
                'aws:SourceArn': 'arn:aws:scheduler:region:account:schedule-group/default',
              },
            },
            Effect: 'Allow',
            Principal: { Service: 'scheduler.amazonaws.com' },
          },
        ],
        Version: '2012-10-17',
      },
    })
    const policies = Object.values(ofType('AWS::IAM::Policy')).filter(({ Roles }) => `${Roles}` === role)
    expect(policies.map(({ PolicyDocument }) => PolicyDocument)).toEqual([
      {
        Statement: [
          { Action: 'lambda:InvokeFunction', Effect: 'Allow', Resource: target },
          { Action: 'sqs:SendMessage', Effect: 'Allow', Resource: 'jobs/DeadLetters' },
        ],
        Version: '2012-10-17',
      },
    ])
  })

  test.each(QUEUE_KEYS)('the queue %s is protected and keeps failed messages for two weeks', (key) => {
    const { name, visibilitySeconds, maxReceives, retentionDays } = QUEUES[key]
    const deadLetters = `shared/${key}deadletters`
    expect(resources[`shared/${key}`]).toEqual({
      Type: 'AWS::SQS::Queue',
      Properties: {
        QueueName: `vaultline-${stage}-${name}`,
        MessageRetentionPeriod: retentionDays * 86_400,
        RedrivePolicy: { deadLetterTargetArn: deadLetters, maxReceiveCount: maxReceives },
        SqsManagedSseEnabled: true,
        VisibilityTimeout: visibilitySeconds,
      },
      DeletionPolicy: retained,
      UpdateReplacePolicy: retained,
    })
    expect(resources[deadLetters]).toMatchObject({
      Properties: {
        QueueName: `vaultline-${stage}-${name}-dead`,
        MessageRetentionPeriod: 14 * 86_400,
        SqsManagedSseEnabled: true,
      },
      DeletionPolicy: retained,
    })
    for (const queue of [`shared/${key}`, deadLetters]) {
      const policies = Object.values(ofType('AWS::SQS::QueuePolicy')).filter(({ Queues }) => `${Queues}` === queue)
      expect(policies).toMatchObject([
        {
          PolicyDocument: {
            Statement: [{ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } }, Resource: queue }],
          },
        },
      ])
    }
  })

  test.each(CONSUMERS)(
    '%s takes as many messages at a time as its contract says, and reports failed messages individually',
    (_, contract) => {
      const mappings = Object.values(ofType('AWS::Lambda::EventSourceMapping'))
      const queueArn = arn('sqs', `vaultline-${stage}-${QUEUES[contract.queue].name}`)
      expect(mappings.filter(({ EventSourceArn }) => EventSourceArn === queueArn)).toEqual([
        {
          BatchSize: contract.batchSize ?? 10,
          EventSourceArn: queueArn,
          // The template computes the function's name from its ARN, so this test cannot compare the name. The tests in
          // test/infra/template.infra.test.ts compute it.
          FunctionName: expect.stringMatching(/:live$/),
          FunctionResponseTypes: ['ReportBatchItemFailures'],
          ScalingConfig: { MaximumConcurrency: contract.maxConcurrency },
        },
      ])
      // AWS advises a visibility timeout of six times the function's timeout. Lambda retries a throttled message for that long.
      expect(QUEUES[contract.queue].visibilitySeconds).toBeGreaterThanOrEqual(6 * contract.timeoutSeconds)
    },
  )

  test('the webhook functions leave half of a new account’s concurrent executions to the API', () => {
    // The consumer of shardQueue is left out: it runs only if a chain has more than 1,000 vaults (docs/scale.md).
    const ofWebhooks = CONSUMERS.filter(([, { queue }]) => queue !== 'shardQueue')
    const together = ofWebhooks.reduce((sum, [, { maxConcurrency }]) => sum + maxConcurrency, 0)
    expect(together).toBeLessThanOrEqual(10 / 2)
  })

  test('keeps the inputs of finally failed runs', () => {
    expect(ofType('AWS::SQS::Queue')).toMatchObject({ 'jobs/DeadLetters': { MessageRetentionPeriod: 14 * 86_400 } })
    const [policy] = Object.values(ofType('AWS::SQS::QueuePolicy')).filter(
      ({ Queues }) => `${Queues}` === 'jobs/DeadLetters',
    )
    expect(policy, 'the queue takes 20 statements').toHaveProperty('PolicyDocument.Statement.length', 1)
  })

  test('has a budget with AWS notifications if the stage sets an amount', () => {
    const budgets = Object.values(ofType('AWS::Budgets::Budget'))
    expect(budgets.map(({ Budget }) => Budget)).toEqual(
      isProduction ? [expect.objectContaining({ BudgetLimit: { Amount: 500, Unit: 'USD' }, TimeUnit: 'MONTHLY' })] : [],
    )
    const mails = budgets.flatMap(({ NotificationsWithSubscribers }) => NotificationsWithSubscribers)
    expect(mails).toEqual(
      budgets.flatMap(() =>
        [
          ['ACTUAL', 80],
          ['FORECASTED', 100],
        ].map(([NotificationType, Threshold]) => ({
          Notification: expect.objectContaining({ NotificationType, Threshold, ThresholdType: 'PERCENTAGE' }),
          Subscribers: [{ Address: environment.alarmEmail, SubscriptionType: 'EMAIL' }],
        })),
      ),
    )
  })

  test.runIf(isWatched)('has a small dashboard', () => {
    const [dashboard] = Object.values(ofType('AWS::CloudWatch::Dashboard'))
    expect(dashboard).toHaveProperty('DashboardName', `vaultline-${stage}`)
    const body = String(dashboard?.['DashboardBody'])
    const { widgets } = JSON.parse(body) as { widgets: { properties: { metrics?: unknown[] } }[] }
    const metrics = widgets.map(({ properties }) => properties.metrics?.length ?? 0)
    const regions = [...body.matchAll(/"region":"(us-east-1)"/g)].length
    expect(regions, "what the edge's row asks of its region").toBe(edge ? 4 : 0)
    // CloudWatch shows at most 500 metrics in one graph. Ten metrics are far below this limit.
    expect(Math.max(...metrics)).toBeLessThanOrEqual(10)
  })

  test('outputs the addresses of its API and edge and its deployers', () => {
    expect(outputs).toMatchObject({ [`vaultline-${stage}-api.ApiUrl`]: 'api/Api.ApiEndpoint' })
    expect(new Set(Object.values(outputs))).toEqual(
      new Set([
        'api/Api.ApiEndpoint',
        ...deployers,
        ...(edge ? [`https://${edge.domain.name}`, 'edge/Distribution.DomainName'] : []),
      ]),
    )
  })

  test('lets only alarms publish to its topics, over TLS', () => {
    const expected = [['shared/AlarmsTopic', `vaultline-${stage}-alarms`]]
    if (edge) expected.push(['edge/AlarmsTopic', `vaultline-${stage}-edge-alarms`])
    const named = Object.entries(ofType('AWS::SNS::Topic')).map(([id, { TopicName }]) => [id, TopicName])
    expect(named.toSorted()).toEqual(expected.toSorted())
    const policies = Object.values(ofType('AWS::SNS::TopicPolicy')).map(({ PolicyDocument }) => PolicyDocument)
    const allows = (topic: unknown) =>
      expect.objectContaining({
        Statement: [
          expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
          expect.objectContaining({
            Action: 'sns:Publish',
            Condition: { StringEquals: { 'aws:SourceAccount': 'account' } },
            Effect: 'Allow',
            Principal: { Service: 'cloudwatch.amazonaws.com' },
            Resource: topic,
          }),
        ],
      })
    expect(policies).toHaveLength(expected.length)
    expect(policies).toEqual(expect.arrayContaining(expected.map(([topic]) => allows(topic))))
  })

  test('has tags, and termination protection in production', () => {
    for (const { tags, terminationProtection } of stacks) {
      expect(tags).toEqual({ service: 'vaultline', stage })
      expect(terminationProtection).toBe(isProduction)
    }
  })
})

test('every contract in functions/ is deployed', () => {
  const folders = globSync('functions/**/contract.ts').map((file) => file.replaceAll(/^functions.|.contract\.ts$/g, ''))
  expect(folders.toSorted()).toEqual(CONTRACTS.map(([name]) => name).toSorted())
})

test('all stages are synthesized without AWS credentials', () => {
  expect(Object.keys(stages).toSorted()).toEqual(STAGES.map((stage) => `vaultline-${stage}`).toSorted())
})

describe('Each runbook', () => {
  const HEADINGS = ['What it means', 'Users notice', 'Check', 'Do', 'Afterwards', 'Tested']
  const pageOf = (name: string) => `docs/runbooks/${name}.md`
  const WAKING = ['failing-logins', 'failing-requests', 'failing-transactions', 'lagging-jobs', 'late-webhooks'].map(
    pageOf,
  )
  const WITHOUT_ALARM = ['budget', 'identity-key', 'restore', 'undone-messages'].map(pageOf)
  const runbooks = globSync('docs/runbooks/*.md', { exclude: ['**/README.md'] }).map((file) =>
    file.replaceAll('\\', '/'),
  )

  test.each(STAGES)('is named by an alarm, and each alarm of %s names one and the effect on users', (stage) => {
    const { ofType } = stages[`vaultline-${stage}`] as SynthesizedStage
    const { observe } = environments.get(stage) as StageEnvironment
    const alarms = ['Alarm', 'CompositeAlarm'].flatMap((type) => Object.values(ofType(`AWS::CloudWatch::${type}`)))
    const acting = alarms.filter(({ AlarmActions }) => AlarmActions !== undefined)
    const described = acting.map(({ AlarmDescription, AlarmActions, OKActions }) => {
      const [, ticket, runbook = ''] = /^(\[ticket\] )?[A-Z0-9].*\. Runbook: (\S+)$/.exec(`${AlarmDescription}`) ?? []
      expect(`${AlarmDescription}`.length, 'what CloudWatch takes').toBeLessThanOrEqual(1024)
      const topics = [
        arn('sns', `vaultline-${stage}-alarms`),
        arn('sns', `vaultline-${stage}-edge-alarms`).replace('region', 'us-east-1'),
      ]
      expect(topics.map((topic) => [topic])).toContainEqual(AlarmActions)
      expect(OKActions, 'those that wake say when they are over').toEqual(ticket ? undefined : AlarmActions)
      return { isTicket: ticket !== undefined, runbook }
    })
    const waking = described.filter(({ isTicket }) => !isTicket).map(({ runbook }) => runbook)
    expect(waking.toSorted()).toEqual(observe === 'none' ? [] : WAKING)
    const named = new Set(described.map(({ runbook }) => runbook))
    if (observe === 'all') expect([...named, ...WITHOUT_ALARM].toSorted()).toEqual(runbooks.toSorted())
    else expect([...named].toSorted()).toEqual([...new Set(waking)].toSorted())
  })

  test('has the same headings: meaning, effect on users, checks, steps and test', () => {
    const pages = runbooks.map((file) => [file, readFileSync(file, 'utf8')] as const)
    const headings = pages.map(([file, text]) => [
      file,
      [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading),
    ])
    expect(headings).toEqual(runbooks.map((file) => [file, HEADINGS]))
    const watch = readFileSync('docs/operate/watch.md', 'utf8')
    for (const [file] of pages) expect(watch).toContain(`(${file.replace('docs/', '../')})`)
  })

  test('has alarms whose filters match the lines of their logs as written', () => {
    const { AccessLogSettings } = stages['vaultline-dev']?.ofType('AWS::ApiGatewayV2::Stage')['api/Stage'] ?? {}
    const { Format } = z.object({ Format: z.string() }).parse(AccessLogSettings)
    // API Gateway writes all values as text, and `-` for a missing value.
    const accessLines = ['200', '404', '429', '503'].flatMap((status) =>
      ENDPOINTS.map(([, { method, path }]) => {
        const values: Readonly<Record<string, string>> = { status, routeKey: `${method} ${path}` }
        return JSON.parse(Format.replaceAll(/\$context\.([\w.]+)/g, (_, name: string) => values[name] ?? '-'))
      }),
    )
    const source = globSync('{lib,functions}/**/*.ts').map((file) => readFileSync(file, 'utf8'))
    const said = source.flatMap((text) => [...text.matchAll(/logger\.(info|warn|error)\(\s*'([^']+)'/g)])
    const functionLines = said.map(([, level = '', message]) => ({
      ...{ level: level.toUpperCase(), message, milliseconds: 4_000 },
      ...{ chainId: 8453, report: { chainId: 8453 } },
    }))
    const filters = [...runbooks, 'docs/operate/watch.md'].flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/^(?:aws|logs) .*'({ .* })'.*$/gm)].map(([command, pattern = '']) => ({
        ...{ file, pattern, lines: command.includes('/access') ? accessLines : functionLines },
      })),
    )
    expect(filters.length).toBeGreaterThan(15)
    expect(filters.filter(({ pattern, lines }) => !lines.some((line) => matchesPattern(pattern, line)))).toEqual([])
  })
})

test("AWS's rules find only violations that are acknowledged with a reason", () => {
  const [report, ...others] = pluginReports
  expect(others).toEqual([])
  expect(report).toMatchObject({ pluginName: 'AwsSolutions', violations: [] })
  const acknowledged = new Set(report?.suppressedViolations.map(({ ruleName }) => ruleName))
  expect([...acknowledged].toSorted()).toEqual([
    'AwsSolutions-CFR1',
    'AwsSolutions-CFR3',
    expect.stringMatching(/^AwsSolutions-IAM4\[.*\/AWSCodeDeployRoleForLambdaLimited\]$/),
    'AwsSolutions-SMG4',
  ])
})

/**
 * Returns each route with its function's folder. The route for unknown paths must not match OPTIONS: API Gateway answers the preflights of
 * browsers.
 */
function expectedRoutes(): [string, string][] {
  return ENDPOINTS.flatMap(([name, { method, path, aliases = [] }]) => {
    if (path !== '$default') {
      const taken = method === 'GET' ? ['GET', 'HEAD'] : [method]
      return [path, ...aliases].flatMap((each) => taken.map((one): [string, string] => [`${one} ${each}`, name]))
    }
    const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
    return methods.flatMap((method): [string, string][] => [
      [`${method} /`, name],
      [`${method} /{proxy+}`, name],
    ])
  })
}

function keySchema({ partitionKey, sortKey }: Pick<TableDefinition, 'partitionKey' | 'sortKey'>) {
  return [
    { AttributeName: partitionKey.name, KeyType: 'HASH' },
    { AttributeName: sortKey.name, KeyType: 'RANGE' },
  ]
}

/** Returns the IAM permissions with which a function consumes its queue. */
function takesFrom(stage: string, { queue }: QueueContract) {
  const Action = ['ReceiveMessage', 'ChangeMessageVisibility', 'GetQueueUrl', 'DeleteMessage', 'GetQueueAttributes']
  return {
    Action: Action.map((action) => `sqs:${action}`),
    Effect: 'Allow',
    Resource: arn('sqs', `vaultline-${stage}-${QUEUES[queue].name}`),
  }
}

/** Returns the prefix that an area's stack gives to a function's resources. */
function idOf(name: string): string {
  const words = basename(name).split('-')
  return `${dirname(name)}/${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}`
}

/** Returns the name, in the template, of the alias by which callers invoke a function. */
function liveOf(name: string): string {
  return `${idOf(name)}FunctionAliaslive`
}

function scheduleOf(name: string, run: unknown): string {
  return `${idOf(name)}${JSON.stringify(run).replaceAll(/\W/g, '')}`
}
