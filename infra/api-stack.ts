import { dirname } from 'node:path/posix'
import { CfnApi, CfnStage } from 'aws-cdk-lib/aws-apigatewayv2'
import { CfnPermission } from 'aws-cdk-lib/aws-lambda'
import { LogGroup } from 'aws-cdk-lib/aws-logs'
import { ArnFormat, CfnOutput, Stack, type StackProps } from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { type EndpointContract, methodsOf } from '../lib/frame/contract.ts'
import { addDashboard } from './dashboard.ts'
import { CORS_SETTINGS, type Stage } from './environments.ts'
import { CONSUMERS, ENDPOINTS, type FunctionName, functionName, JOBS } from './functions.ts'
import { QUEUE_KEYS } from './queues.ts'
import type { SharedStack } from './shared-stack.ts'
import type { StageEnvironment } from './stages.ts'
import { TABLE_KEYS, tableName } from './tables.ts'

type Settings = StackProps & {
  readonly stage: Stage
  readonly environment: StageEnvironment
  readonly shared: SharedStack
}

// All methods but OPTIONS, for the route that refuses unknown paths. API Gateway answers a CORS preflight itself only if no route matches
// OPTIONS. The routes $default and ANY would match OPTIONS (docs/decisions/0002-http-api.md).
const UNKNOWN_METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']
const UNKNOWN_PATHS = ['/', '/{proxy+}']

// Format of a line in the access log. A line has the route but not the path, which can contain a wallet's address. It has no query, no
// headers, and no address of the caller.
const ACCESS_LOG = JSON.stringify({
  time: '$context.requestTime',
  requestId: '$context.requestId',
  route: '$context.routeKey',
  status: '$context.status',
  milliseconds: '$context.responseLatency',
  functionMilliseconds: '$context.integrationLatency',
  bytes: '$context.responseLength',
  gatewayError: '$context.error.responseType',
  functionError: '$context.integrationErrorMessage',
})

/**
 * Public HTTP API of a stage: throttled, logged, and open only to the web pages of its environment. One OpenAPI document creates all
 * routes, because API Gateway's management API allows ten calls a second and refuses concurrent changes. The functions behind the routes
 * are in other stacks; this stack addresses each by its fixed name.
 */
export class ApiStack extends Stack {
  /** URL of the API for callers, without a slash at the end. */
  readonly publicUrl: string
  readonly #stage: Stage

  constructor(scope: Construct, { stage, environment, shared, ...props }: Settings) {
    super(scope, 'api', props)
    this.#stage = stage
    const { corsOrigins, throttling, edge, observe } = environment
    const accessLogs = new LogGroup(this, 'AccessLogs', {
      ...shared.logs,
      // A log group with this prefix needs no entry in the account's CloudWatch resource policy, whose size is limited.
      logGroupName: `/aws/vendedlogs/${shared.name}/access`,
    })
    const api = new CfnApi(this, 'Api', { body: this.#document(shared.name, corsOrigins) })
    new CfnStage(this, 'Stage', {
      apiId: api.ref,
      stageName: '$default',
      autoDeploy: true,
      defaultRouteSettings: {
        throttlingRateLimit: throttling.requestsPerSecond,
        throttlingBurstLimit: throttling.burst,
      },
      accessLogSettings: { destinationArn: accessLogs.logGroupArn, format: ACCESS_LOG },
    })
    for (const [name] of ENDPOINTS) {
      new CfnPermission(this, name, {
        action: 'lambda:InvokeFunction',
        principal: 'apigateway.amazonaws.com',
        functionName: this.#functionArn(name),
        sourceArn: this.formatArn({ service: 'execute-api', resource: api.ref, resourceName: '*/*/*' }),
      })
    }
    shared.alarms.addApiAlarms(this, api.ref, accessLogs)
    shared.alarms.addLoggedTickets(this)
    if (observe === 'all') {
      addDashboard(this, {
        ...{ name: shared.name, apiId: api.ref, accessLogs, hasEdge: edge !== undefined },
        tables: TABLE_KEYS.map((key) => tableName(stage, key)),
        queues: QUEUE_KEYS.map((key) => shared.queueNames(key)),
        areas: [...new Set([...ENDPOINTS, ...JOBS, ...CONSUMERS].map(([folder]) => dirname(folder)))],
      })
    }
    this.publicUrl = edge ? `https://${edge.domain.name}` : api.attrApiEndpoint
    new CfnOutput(this, 'ApiUrl', { value: api.attrApiEndpoint })
  }

  #document(title: string, corsOrigins: readonly string[]) {
    const methods = new Set(ENDPOINTS.map(([, { method }]) => method))
    const paths: Record<string, Record<string, object>> = {}
    for (const [name, contract] of ENDPOINTS) {
      for (const [path, method] of routesOf(contract)) {
        paths[path] = { ...paths[path], [method.toLowerCase()]: operation(name, path) }
      }
    }
    return {
      openapi: '3.0.1',
      info: { title, version: '1' },
      'x-amazon-apigateway-cors': {
        allowOrigins: corsOrigins,
        allowMethods: [...methods].filter((method) => method !== 'ANY'),
        allowHeaders: CORS_SETTINGS.allowHeaders,
        exposeHeaders: CORS_SETTINGS.exposeHeaders,
        // Callers authenticate with headers only; the API uses no cookie.
        allowCredentials: false,
        maxAge: CORS_SETTINGS.maxAgeSeconds,
      },
      paths,
      components: {
        'x-amazon-apigateway-integrations': Object.fromEntries(
          ENDPOINTS.map(([name]) => [integrationOf(name), this.#integration(name)]),
        ),
      },
    }
  }

  #integration(name: FunctionName) {
    const { partition, region } = this
    return {
      type: 'AWS_PROXY',
      httpMethod: 'POST',
      uri: `arn:${partition}:apigateway:${region}:lambda:path/2015-03-31/functions/${this.#functionArn(name)}/invocations`,
      payloadFormatVersion: '2.0',
    }
  }

  #functionArn(name: FunctionName): string {
    const resourceName = `${functionName(this.#stage, name)}:live`
    return this.formatArn({
      service: 'lambda',
      resource: 'function',
      resourceName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    })
  }
}

function routesOf({ method, path, aliases = [] }: EndpointContract): (readonly [path: string, method: string])[] {
  const [paths, methods] =
    path === '$default' ? [UNKNOWN_PATHS, UNKNOWN_METHODS] : [[path, ...aliases], methodsOf({ method })]
  return paths.flatMap((each) => methods.map((one) => [each, one] as const))
}

function operation(name: FunctionName, path: string) {
  const parameters = [...path.matchAll(/{(\w+)\+?}/g)].map(([, parameter]) => ({
    ...{ name: parameter, in: 'path', required: true },
    schema: { type: 'string' },
  }))
  return {
    ...(parameters.length > 0 && { parameters }),
    responses: { default: { description: 'See the reference.' } },
    'x-amazon-apigateway-integration': {
      $ref: `#/components/x-amazon-apigateway-integrations/${integrationOf(name)}`,
    },
  }
}

/**
 * Returns the name of a function's integration in the OpenAPI document. It has no slash, because OpenAPI allows none in the name of a
 * component.
 */
function integrationOf(name: FunctionName): string {
  return name.replace('/', '-')
}
