import { globSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path/posix'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { consumers, endpoints, jobs } from '../../functions/contracts.ts'
import { STAGES } from '../../infra/environments.ts'
import { QUEUE_KEYS, QUEUES } from '../../infra/queues.ts'
import { readStages, type StageEnvironment } from '../../infra/stages.ts'
import { TABLES, type TableDefinition } from '../../infra/tables.ts'
import { RateLimits } from '../../lib/accounts/rate-limits.ts'
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
import { matches } from '../support/cloudwatch.ts'
import { STAGES_FILE, type Synthesized, synthesizeApp } from './synthesize.ts'

const ENDPOINTS: [string, EndpointContract][] = Object.entries(endpoints)
const JOBS: [string, JobContract][] = Object.entries(jobs)
const CONSUMERS: [string, QueueContract][] = Object.entries(consumers)
const CONTRACTS: [string, Contract][] = [...ENDPOINTS, ...JOBS, ...CONSUMERS]
/** The folders of functions, each a stack. */
const AREAS = new Set(CONTRACTS.map(([name]) => dirname(name)))
/** Those that hand out transactions, and need two nodes. */
const WITNESSED = ['deposit', 'withdraw', 'claim', 'cancel'].map((name) => `vaults/${name}`)
/** Those that count the requests of keys. */
const COUNTED = ENDPOINTS.filter(([, { caller }]) => caller !== 'anyone').map(([name]) => name)
const RUNS = JOBS.flatMap(([name, contract]) => contract.runs.map((run) => ({ name, contract, run })))

/** One for each function, one for each run's lag, and of each ten runs one on silence. */
const ALARMS = {
  functions: CONTRACTS.length,
  runs: RUNS.length,
  silence: JOBS.reduce((sum, [, { runs }]) => sum + Math.ceil(runs.length / 10), 0),
  // Of each chain: nodes that disagree on what is signed and on what is recorded, vaults that have changed.
  chains: 3 * EVM_CHAINS.length,
  untold: Math.ceil(EVM_CHAINS.length / 10),
  // Failing, slow and refused requests, Lambda's throttles, uncounted requests.
  api: 5,
  queues: 2 * CONSUMERS.length,
  // Webhooks that fail, or are switched off; inputs of runs that failed for good.
  others: 3,
}
/** What the edge of a stage has. */
const EDGE = {
  'AWS::CloudFront::Distribution': 1,
  'AWS::CloudFront::CachePolicy': 1,
  'AWS::CloudFront::OriginRequestPolicy': 1,
  'AWS::WAFv2::WebACL': 1,
  // Of its addresses of servers, those of either version.
  'AWS::WAFv2::IPSet': 1,
}
/** Failing, refusing and blocked. */
const EDGE_ALARMS = 3
type Target = { readonly Arn: string; readonly RoleArn: string }

/** Where the stack has the queues that functions send to. */
const QUEUE_PLACES = [
  ['deliveryQueue', 'shared/deliveryQueue'],
  ['shardQueue', 'shared/shardQueue'],
] as const

/** What a function may do with what its contract uses, besides writing its own log and traces. */
function permissionsOf(contract: Contract): [action: string, resource: string][] {
  const { clients = [], deposits = [], users = [], webhooks = [], cache = [], ...uses } = listUses(contract)
  const tables = Object.entries({ clients, deposits, users, webhooks, cache }).flatMap(([table, accesses]) =>
    accesses.map((access): [string, string] => {
      const [action, index] = access.split(' ')
      return [`dynamodb:${action}`, `shared/${table}table${index ? `/index/${index}` : ''}`]
    }),
  )
  return [
    ...tables,
    ...QUEUE_PLACES.filter(([resource]) => uses[resource]).map(([, place]): [string, string] => [
      'sqs:SendMessage',
      place,
    ]),
    ...(['Config', 'Identity', 'Signing', 'WebhookKey'] as const)
      .filter((secret) => uses[`${secret.charAt(0).toLowerCase()}${secret.slice(1)}` as Uncapitalize<typeof secret>])
      .map((secret): [string, string] => ['secretsmanager:GetSecretValue', `shared/${secret}`]),
    ...('runs' in contract ? [['sqs:SendMessage', 'jobs/DeadLetters'] as [string, string]] : []),
  ]
}

/** What each variable that a contract can ask for holds. */
const VALUES: Record<string, unknown> = {
  CLIENTS_TABLE: 'shared/clientstable',
  DEPOSITS_TABLE: 'shared/depositstable',
  USERS_TABLE: 'shared/userstable',
  WEBHOOKS_TABLE: 'shared/webhookstable',
  CACHE_TABLE: 'shared/cachetable',
  DELIVERY_QUEUE_URL: 'shared/deliveryQueue',
  SHARD_QUEUE_URL: 'shared/shardQueue',
  WEBHOOK_KEY_SECRET: 'shared/WebhookKey',
  WEBHOOK_REACH: 'public',
  CONFIG_SECRET: 'shared/Config',
  IDENTITY_SECRET: 'shared/Identity',
  SIGNING_SECRET: 'shared/Signing',
  RELYING_PARTY: expect.stringMatching(/^{"id":"/),
  RATE_LIMITS: expect.stringMatching(/^{"perNetwork":/),
  SERVICE_VERSION: packageJson.version,
}

/** How AWS writes that something happens every so many minutes. */
const RATES: Record<number, string> = { 1: 'rate(1 minute)', 5: 'rate(5 minutes)', 60: 'rate(1 hour)' }

/** What an access log may hold: nothing that a caller sent but the route and the method in it. */
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
  const { stacks, resources, outputs, ofType } = stages[`vaultline-${stage}`] as Synthesized
  const { edge } = environment
  const topics = edge ? 2 : 1
  const deployers = environment.deployedFrom ? ['deployer/Deploy', 'deployer/Diff'] : []

  test('consists of what contracts ask for and of nothing else', () => {
    const byType = Map.groupBy(Object.values(resources), ({ Type }) => Type)
    expect(Object.fromEntries([...byType].map(([type, found]) => [type, found.length]))).toEqual({
      'AWS::ApiGatewayV2::Api': 1,
      'AWS::ApiGatewayV2::Stage': 1,
      'AWS::ApiGatewayV2::Route': expectedRoutes().length,
      'AWS::ApiGatewayV2::Integration': ENDPOINTS.length,
      'AWS::Lambda::Function': CONTRACTS.length,
      'AWS::Lambda::Version': CONTRACTS.length,
      'AWS::Lambda::Alias': CONTRACTS.length,
      'AWS::CodeDeploy::Application': AREAS.size,
      'AWS::CodeDeploy::DeploymentGroup': CONTRACTS.length,
      'AWS::Lambda::EventInvokeConfig': JOBS.length,
      'AWS::Lambda::EventSourceMapping': CONSUMERS.length,
      'AWS::Lambda::Permission': ENDPOINTS.length,
      'AWS::IAM::Role': CONTRACTS.length + JOBS.length + AREAS.size + deployers.length,
      'AWS::IAM::Policy': CONTRACTS.length + JOBS.length + deployers.length,
      'AWS::Scheduler::Schedule': RUNS.length,
      'AWS::Logs::LogGroup': CONTRACTS.length + 1,
      'AWS::Logs::MetricFilter': 1 + ENDPOINTS.length + COUNTED.length + WITNESSED.length + 3 + 5 * CONSUMERS.length,
      'AWS::CloudWatch::InsightRule': 3,
      'AWS::CloudWatch::Dashboard': 1,
      ...(environment.monthlyBudgetUsd && { 'AWS::Budgets::Budget': 1 }),
      ...(edge && EDGE),
      'AWS::CloudWatch::Alarm': Object.values(ALARMS).reduce((sum, count) => sum + count, edge ? EDGE_ALARMS : 0),
      'AWS::SQS::Queue': 1 + 2 * QUEUE_KEYS.length,
      'AWS::SQS::QueuePolicy': 1 + 2 * QUEUE_KEYS.length,
      'AWS::SNS::Topic': topics,
      'AWS::SNS::TopicPolicy': topics,
      ...(environment.alarmEmail && { 'AWS::SNS::Subscription': topics }),
      'AWS::DynamoDB::Table': Object.keys(TABLES).length,
      'AWS::SecretsManager::Secret': 4,
    })
  })

  test('is a stack for each area, deployed after what all share', () => {
    expect(stacks.map(({ name, dependsOn }) => [name, dependsOn])).toEqual(
      expect.arrayContaining([['shared', []], ...[...AREAS].map((area) => [area, [`vaultline-${stage}-shared`]])]),
    )
    expect(stacks).toHaveLength(AREAS.size + 1 + Math.sign(deployers.length) + (edge ? 1 : 0))
  })

  test.each(CONTRACTS)('%s gets its traffic for a new version by parts, and back where its alarm goes off', (name) => {
    const [area, id] = [dirname(name), idOf(name)]
    expect(resources[liveOf(name)]?.UpdatePolicy).toEqual({
      CodeDeployLambdaAliasUpdate: {
        ApplicationName: `${area}/DeploysApplication`,
        DeploymentGroupName: `${id}Deploys`,
      },
    })
    expect(ofType('AWS::CodeDeploy::DeploymentGroup')[`${id}Deploys`]).toMatchObject({
      ApplicationName: `${area}/DeploysApplication`,
      DeploymentConfigName: environment.gradual
        ? 'CodeDeployDefault.LambdaCanary10Percent10Minutes'
        : 'CodeDeployDefault.LambdaAllAtOnce',
      AutoRollbackConfiguration: {
        Enabled: true,
        Events: ['DEPLOYMENT_FAILURE', ...(environment.gradual ? ['DEPLOYMENT_STOP_ON_ALARM'] : [])],
      },
      ...(environment.gradual && { AlarmConfiguration: { Enabled: true, Alarms: [{ Name: `${id}Alarm` }] } }),
    })
  })

  test('is deployed by a workflow in the environments of its own name alone, which may be what CDK works as and no more', () => {
    const regions = ['region', ...(edge ? ['us-east-1'] : [])]
    const bootstrap = (...names: string[]) => {
      const roles = regions.flatMap((region) =>
        names.map((name) => `arn:aws:iam::account:role/cdk-hnb659fds-${name}-role-account-${region}`),
      )
      return roles.length > 1 ? roles : roles[0]
    }
    const found = deployers.map((id) => [
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
    expect(found).toMatchObject(environment.deployedFrom ? expected : [])
    expect(found).toHaveLength(environment.deployedFrom ? 2 : 0)
  })

  test('holds 60 endpoints and 50 chains, with no stack near the 500 resources that CloudFormation takes', () => {
    for (const { name, template } of stacks) {
      const ids = Object.keys(template.Resources)
      const ofBase = ids.filter((id) => /^(RefreshChain(chainId)?|Disagreements)8453/.test(id))
      expect(
        ofBase.length,
        'the schedule of its run, the alarms on its lag, on changed vaults, on disagreements of both kinds',
      ).toBe(name === 'jobs' ? 4 : name === 'shared' ? 1 : 0)
      // Each stack in proportion to its endpoints, and as much for each further chain as for Base.
      const grown = (ids.length * 60) / ENDPOINTS.length + (50 - EVM_CHAINS.length) * ofBase.length
      expect(grown, name).toBeLessThanOrEqual(400)
    }
  })

  test('routes each contract, and nothing else, to its own function', () => {
    const integrations = ofType('AWS::ApiGatewayV2::Integration')
    const routes = Object.values(ofType('AWS::ApiGatewayV2::Route')).map(({ RouteKey, AuthorizationType, Target }) => {
      expect(AuthorizationType).toBe('NONE')
      return [RouteKey, integrations[String(Target).replace('integrations/', '')]]
    })
    expect(Object.fromEntries(routes)).toEqual(
      Object.fromEntries(
        expectedRoutes().map(([route, name]) => [
          route,
          {
            ApiId: 'shared/ApiHttpApi',
            IntegrationType: 'AWS_PROXY',
            IntegrationUri: liveOf(name),
            PayloadFormatVersion: '2.0',
          },
        ]),
      ),
    )
  })

  test('lets the gateway invoke the functions of endpoints', () => {
    const permissions = Object.values(ofType('AWS::Lambda::Permission'))
    expect(Object.fromEntries(permissions.map(({ FunctionName, ...rest }) => [FunctionName, rest]))).toEqual(
      Object.fromEntries(
        ENDPOINTS.map(([name]) => [
          liveOf(name),
          {
            Action: 'lambda:InvokeFunction',
            Principal: 'apigateway.amazonaws.com',
            SourceArn: 'arn:aws:execute-api:region:account:shared/ApiHttpApi/*/*/*',
          },
        ]),
      ),
    )
  })

  test.each(CONTRACTS)('%s runs on ARM and Node 24, with a role and a log of its own', (name, contract) => {
    const id = idOf(name)
    const isJob = 'runs' in contract
    const timeout = 'timeoutSeconds' in contract ? contract.timeoutSeconds : 10
    expect(contract.summary.length, 'what Lambda takes as a description').toBeLessThanOrEqual(256)
    expect(ofType('AWS::Lambda::Function')[`${id}Function`]).toEqual({
      Architectures: ['arm64'],
      Code: expect.anything(),
      ...(isJob && { DeadLetterConfig: { TargetArn: 'jobs/DeadLetters' } }),
      Description: contract.summary,
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

  test.each(CONTRACTS)('%s has the variables that its contract asks for', (name, contract) => {
    const variables = Object.keys(listUses(contract)).map((resource) => RESOURCES[resource as Resource])
    const asked = variables.map((variable) => [variable, VALUES[variable]])
    if (edge && 'caller' in contract) {
      asked.push(['EDGE', JSON.stringify({ keys: edge.keys, isOnlyWay: edge.isOnlyWay })])
    }
    const job = 'runs' in contract ? name : 'queue' in contract && contract.measuredAs
    if (job) asked.push(['POWERTOOLS_SERVICE_NAME', `vaultline-${stage}-${job}`])
    const environment = ofType('AWS::Lambda::Function')[`${idOf(name)}Function`]?.['Environment']
    expect(environment).toEqual(asked.length > 0 ? { Variables: Object.fromEntries(asked) } : undefined)
  })

  test.each(CONTRACTS)('%s may do what its contract uses, and nothing else', (name, contract) => {
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
          ...permissionsOf(contract).map(([Action, Resource]) => ({ Action, Effect: 'Allow', Resource })),
          ...('queue' in contract ? [takesFrom(contract)] : []),
        ],
        Version: '2012-10-17',
      },
      PolicyName: expect.any(String),
      Roles: [`${id}Role`],
    })
  })

  test.each(Object.entries<TableDefinition>(TABLES))('the table %s is as defined, and safe', (key, definition) => {
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
  })

  test('the secret starts with no RPC URL, and no later deploy writes over it', () => {
    expect(resources['shared/Config']).toEqual({
      Type: 'AWS::SecretsManager::Secret',
      Properties: {
        Name: `vaultline/${stage}/config`,
        Description: expect.any(String),
        // Never change these two lines: CloudFormation would replace what operators stored.
        GenerateSecretString: { SecretStringTemplate: '{"rpcUrls":{}}', GenerateStringKey: 'unused' },
      },
      DeletionPolicy: retained,
      UpdateReplacePolicy: retained,
    })
  })

  test('the secret of signing keys starts without one, and no later deploy writes over it', () => {
    expect(resources['shared/Signing']).toEqual({
      Type: 'AWS::SecretsManager::Secret',
      Properties: {
        Name: `vaultline/${stage}/signing`,
        Description: expect.any(String),
        // Never change these two lines: CloudFormation would replace the keys.
        GenerateSecretString: { SecretStringTemplate: '{"keys":[]}', GenerateStringKey: 'unused' },
      },
      DeletionPolicy: retained,
      UpdateReplacePolicy: retained,
    })
  })

  test('the key that one-time codes depend on is made once, and no later deploy writes over it', () => {
    expect(resources['shared/Identity']).toEqual({
      Type: 'AWS::SecretsManager::Secret',
      Properties: {
        Name: `vaultline/${stage}/identity`,
        Description: expect.any(String),
        // Never change these lines: CloudFormation would make another key, and refuse every user's one-time codes.
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

  test('the relying party is that of the environment, with origins that its web pages can have', () => {
    const { relyingParty, rateLimits, corsOrigins } = environment
    const variables = ofType('AWS::Lambda::Function')['accounts/RegisterInitFunction']?.['Environment'] as {
      Variables: Record<string, string>
    }
    const { RELYING_PARTY = '', RATE_LIMITS = '' } = variables.Variables
    expect(RelyingParty.parse(JSON.parse(RELYING_PARTY))).toEqual({ ...relyingParty, webOrigins: corsOrigins })
    expect(RateLimits.parse(JSON.parse(RATE_LIMITS))).toEqual(rateLimits)
    for (const origin of corsOrigins) {
      const { hostname } = new URL(origin)
      expect(hostname === relyingParty.id || hostname.endsWith(`.${relyingParty.id}`)).toBe(true)
    }
  })

  test('browsers may call from the pages of the environment, without cookies', () => {
    const methods = new Set(ENDPOINTS.map(([, { method }]) => method).filter((method) => method !== 'ANY'))
    expect(ofType('AWS::ApiGatewayV2::Api')['shared/ApiHttpApi']).toHaveProperty('CorsConfiguration', {
      AllowOrigins: environment.corsOrigins,
      AllowMethods: [...methods],
      AllowHeaders: ['content-type', 'x-join-key', 'authorization', 'platform', 'content-digest', 'if-none-match'],
      ExposeHeaders: [
        ...['x-request-id', 'retry-after', 'age', 'x-stale', 'etag'],
        ...['content-digest', 'signature', 'signature-input'],
        ...['ratelimit', 'ratelimit-policy'],
      ],
      AllowCredentials: false,
      MaxAge: 7200,
    })
    expect(environment.corsOrigins.filter((origin) => new URL(origin).origin !== origin)).toEqual([])
  })

  test('requests are throttled, and logged without anything that a caller sent', () => {
    expect(ofType('AWS::ApiGatewayV2::Stage')['shared/ApiStage']).toEqual({
      AccessLogSettings: {
        DestinationArn: 'shared/AccessLogs',
        Format: JSON.stringify(Object.fromEntries(LOGGED.map(([key, variable]) => [key, `$context.${variable}`]))),
      },
      ApiId: 'shared/ApiHttpApi',
      StageName: '$default',
      AutoDeploy: true,
      DefaultRouteSettings: {
        ThrottlingRateLimit: environment.throttling.requestsPerSecond,
        ThrottlingBurstLimit: environment.throttling.burst,
      },
    })
    expect(resources['shared/AccessLogs']).toMatchObject({
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

  test.each(JOBS)('the schedules of %s may invoke it and keep what failed, and nothing else', (name) => {
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

  test.each(QUEUE_KEYS)('the queue %s is safe, and keeps for two weeks what could not be done', (key) => {
    const { name, visibilitySeconds, maxReceives, keptDays } = QUEUES[key]
    const deadLetters = `shared/${key}deadletters`
    expect(resources[`shared/${key}`]).toEqual({
      Type: 'AWS::SQS::Queue',
      Properties: {
        QueueName: `vaultline-${stage}-${name}`,
        MessageRetentionPeriod: keptDays * 86_400,
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
    '%s takes as many messages at a time as its contract says, and answers for each',
    (_, contract) => {
      const mappings = Object.values(ofType('AWS::Lambda::EventSourceMapping'))
      expect(mappings.filter(({ EventSourceArn }) => EventSourceArn === `shared/${contract.queue}`)).toEqual([
        {
          BatchSize: contract.batchSize ?? 10,
          EventSourceArn: `shared/${contract.queue}`,
          // Of its ARN, which is no text here, CDK takes the name; test/infra/template.infra.test.ts runs it.
          FunctionName: expect.stringMatching(/:live$/),
          FunctionResponseTypes: ['ReportBatchItemFailures'],
          ScalingConfig: { MaximumConcurrency: contract.mostAtATime },
        },
      ])
      // As AWS advises: a throttled function is tried again for so long.
      expect(QUEUES[contract.queue].visibilitySeconds).toBeGreaterThanOrEqual(6 * contract.timeoutSeconds)
    },
  )

  test('the functions of webhooks leave half of what a new account may run at a time to the API', () => {
    // Shards are recorded only where a chain has more than 1,000 vaults: docs/scale.md.
    const ofWebhooks = CONSUMERS.filter(([, { queue }]) => queue !== 'shardQueue')
    const together = ofWebhooks.reduce((sum, [, { mostAtATime }]) => sum + mostAtATime, 0)
    expect(together).toBeLessThanOrEqual(10 / 2)
  })

  test('keeps the inputs of runs that failed for good', () => {
    expect(ofType('AWS::SQS::Queue')).toMatchObject({ 'jobs/DeadLetters': { MessageRetentionPeriod: 14 * 86_400 } })
    const [policy] = Object.values(ofType('AWS::SQS::QueuePolicy')).filter(
      ({ Queues }) => `${Queues}` === 'jobs/DeadLetters',
    )
    expect(policy, 'the queue takes 20 statements').toHaveProperty('PolicyDocument.Statement.length', 1)
  })

  test('has AWS tell of money that is spent, where the stage says how much', () => {
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

  test('has a dashboard, which refers to no other stack and stays small', () => {
    const [dashboard] = Object.values(ofType('AWS::CloudWatch::Dashboard'))
    expect(dashboard).toHaveProperty('DashboardName', `vaultline-${stage}`)
    const body = String(dashboard?.['DashboardBody'])
    const { widgets } = JSON.parse(body) as { widgets: { properties: { metrics?: unknown[] } }[] }
    const metrics = widgets.map(({ properties }) => properties.metrics?.length ?? 0)
    const regions = [...body.matchAll(/"region":"(us-east-1)"/g)].length
    expect(regions, "what the edge's row asks of its region").toBe(edge ? 4 : 0)
    // CloudWatch draws 500 in one graph; with 50 chains there are two of each in the one of nodes.
    expect(Math.max(...metrics)).toBeLessThanOrEqual(2 * EVM_CHAINS.length)
    expect([...body.matchAll(/([a-z]+)\/[A-Z]/g)].map(([, area]) => area).filter((area) => area !== 'shared')).toEqual(
      [],
    )
  })

  test('tells the API address, and the stacks of what they share its name alone', () => {
    const { [`vaultline-${stage}-shared.ApiUrl`]: apiUrl, ...published } = outputs
    expect(apiUrl, 'which the edge is told, whatever callers are').toBe('shared/ApiHttpApi.ApiEndpoint')
    expect(new Set(Object.values(published))).toEqual(
      new Set([
        ...Object.keys(TABLES).map((key) => `shared/${key}table`),
        ...['shared/Config', 'shared/Identity', 'shared/Signing', 'shared/WebhookKey'],
        ...['shared/ApiHttpApi', 'shared/AlarmsTopic'],
        ...QUEUE_PLACES.map(([, place]) => place),
        ...QUEUE_KEYS.flatMap((key) => [`shared/${key}.QueueName`, `shared/${key}deadletters.QueueName`]),
        ...deployers,
        ...(edge ? [`https://${edge.domain.name}`, 'edge/Distribution.DomainName'] : []),
      ]),
    )
  })

  test('lets alarms tell whom they reach, over TLS alone', () => {
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

  test('is tagged, and protected in production', () => {
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
  /** What AWS sends mails of by itself, and what no metric sees. */
  const pageOf = (name: string) => `docs/runbooks/${name}.md`
  const WITHOUT_ALARM = ['budget', 'identity-key', 'restore'].map(pageOf)
  const runbooks = globSync('docs/runbooks/*.md', { exclude: ['**/README.md'] }).map((file) =>
    file.replaceAll('\\', '/'),
  )

  test.each(STAGES)('is named by an alarm, and each alarm of %s names one and what users notice', (stage) => {
    const alarms = Object.values(stages[`vaultline-${stage}`]?.ofType('AWS::CloudWatch::Alarm') ?? {})
    const named = alarms.map(({ AlarmDescription }) => /^[A-Z0-9].*\. Runbook: (\S+)$/.exec(`${AlarmDescription}`)?.[1])
    const ofEdge = environments.get(stage)?.edge ? [] : ['failing-edge', 'blocked-requests'].map(pageOf)
    expect([...new Set([...named, ...WITHOUT_ALARM, ...ofEdge])].toSorted()).toEqual(runbooks.toSorted())
    for (const { AlarmDescription, AlarmActions } of alarms) {
      expect(`${AlarmDescription}`.length, 'what CloudWatch takes').toBeLessThanOrEqual(1024)
      expect(['shared/AlarmsTopic', 'edge/AlarmsTopic'].map((topic) => [topic])).toContainEqual(AlarmActions)
    }
  })

  test('says the same of each: what it means, what users notice, what to check and do, and how it was tested', () => {
    const pages = runbooks.map((file) => [file, readFileSync(file, 'utf8')] as const)
    const headings = pages.map(([file, text]) => [
      file,
      [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading),
    ])
    expect(headings).toEqual(runbooks.map((file) => [file, HEADINGS]))
    const watch = readFileSync('docs/operate/watch.md', 'utf8')
    for (const [file] of pages) expect(watch).toContain(`(${file.replace('docs/', '../')})`)
  })

  test('and its filters take what stands in the logs that they look into, as it is written there', () => {
    const { AccessLogSettings } = stages['vaultline-dev']?.ofType('AWS::ApiGatewayV2::Stage')['shared/ApiStage'] ?? {}
    const { Format } = z.object({ Format: z.string() }).parse(AccessLogSettings)
    // The gateway writes texts alone, and `-` for what has no value.
    const accessLines = ['200', '404', '429', '503'].map((status) =>
      JSON.parse(Format.replaceAll(/\$context\.([\w.]+)/g, (_, name: string) => (name === 'status' ? status : '-'))),
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
    expect(filters.filter(({ pattern, lines }) => !lines.some((line) => matches(pattern, line)))).toEqual([])
  })
})

test("AWS's rules have nothing against it but what is acknowledged with a reason", () => {
  const [report, ...others] = pluginReports
  expect(others).toEqual([])
  expect(report).toMatchObject({ pluginName: 'AwsSolutions', violations: [] })
  const acknowledged = new Set(report?.suppressedViolations.map(({ ruleName }) => ruleName))
  expect([...acknowledged].toSorted()).toEqual([
    'AwsSolutions-APIG4',
    'AwsSolutions-CFR1',
    'AwsSolutions-CFR3',
    expect.stringMatching(/^AwsSolutions-IAM4\[.*\/AWSCodeDeployRoleForLambdaLimited\]$/),
    'AwsSolutions-SMG4',
  ])
})

/** Each route with the folder of its function. What takes unknown routes must not take the browsers' OPTIONS. */
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

/** What Lambda does for a function with the queue that it takes from. */
function takesFrom({ queue }: QueueContract) {
  const Action = ['ReceiveMessage', 'ChangeMessageVisibility', 'GetQueueUrl', 'DeleteMessage', 'GetQueueAttributes']
  return { Action: Action.map((action) => `sqs:${action}`), Effect: 'Allow', Resource: `shared/${queue}` }
}

/** How the stack of an area names what belongs to a function. */
function idOf(name: string): string {
  const words = basename(name).split('-')
  return `${dirname(name)}/${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')}`
}

/** The alias by which a function is called. */
function liveOf(name: string): string {
  return `${idOf(name)}FunctionAliaslive`
}

function scheduleOf(name: string, run: unknown): string {
  return `${idOf(name)}${JSON.stringify(run).replaceAll(/\W/g, '')}`
}
