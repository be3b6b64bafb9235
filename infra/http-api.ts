import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway'
import {
  CorsHttpMethod,
  HttpApi,
  HttpMethod,
  HttpRoute,
  HttpRouteKey,
  HttpStage,
  LogGroupLogDestination,
} from 'aws-cdk-lib/aws-apigatewayv2'
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations'
import type { LogGroup } from 'aws-cdk-lib/aws-logs'
import { Duration, Validations } from 'aws-cdk-lib/core'
import { Construct } from 'constructs'
import { type EndpointContract, methodsOf } from '../lib/frame/contract.ts'
import { CORS } from './environments.ts'
import type { ServiceFunction } from './service-function.ts'
import type { StageEnvironment } from './stages.ts'

type Settings = Pick<StageEnvironment, 'corsOrigins' | 'throttling'> & {
  readonly name: string
  /** The methods that web pages may use. */
  readonly methods: readonly EndpointContract['method'][]
  readonly accessLogs: LogGroup
}

// Every method but OPTIONS. A route that takes OPTIONS, as $default and ANY do, takes the browsers' preflights away
// from the gateway, which answers them only where no route does (docs/decisions/0002-http-api.md).
const UNKNOWN_METHODS = [
  HttpMethod.GET,
  HttpMethod.HEAD,
  HttpMethod.POST,
  HttpMethod.PUT,
  HttpMethod.PATCH,
  HttpMethod.DELETE,
]
const UNKNOWN_PATHS = ['/', '/{proxy+}']

// The route and never the path, which can hold a wallet's address; no query, no header, no address of the caller.
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

/** The public HTTP API of a stage: throttled, logged, and open to the web pages of its environment alone. */
export class ServiceApi extends Construct {
  readonly stage: HttpStage
  /** The API's base URL, without a slash at its end. */
  readonly url: string
  readonly #api: HttpApi

  constructor(scope: Construct, { name, corsOrigins, throttling, methods, accessLogs }: Settings) {
    super(scope, 'Api')
    this.#api = new HttpApi(this, 'HttpApi', {
      apiName: name,
      createDefaultStage: false,
      corsPreflight: {
        allowOrigins: [...corsOrigins],
        allowMethods: [...new Set(methods)]
          .filter((method) => method !== 'ANY')
          .map((method) => CorsHttpMethod[method]),
        allowHeaders: [...CORS.allowHeaders],
        exposeHeaders: [...CORS.exposeHeaders],
        // Callers name themselves in headers; no cookie is ever needed.
        allowCredentials: false,
        maxAge: Duration.seconds(CORS.maxAgeSeconds),
      },
    })
    this.stage = new HttpStage(this, 'Stage', {
      httpApi: this.#api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: throttling.requestsPerSecond, burstLimit: throttling.burst },
      accessLogSettings: {
        destination: new LogGroupLogDestination(accessLogs),
        format: AccessLogFormat.custom(ACCESS_LOG),
      },
    })
    this.url = this.#api.apiEndpoint
  }

  /** Routes what a contract asks for to its function, in the function's own stack. */
  route(deployed: ServiceFunction, { method, path, aliases = [] }: EndpointContract): void {
    // One permission for all routes of a function.
    const integration = new HttpLambdaIntegration('Integration', deployed.live, { scopePermissionToRoute: false })
    const isUnknown = path === '$default'
    const methods = isUnknown ? UNKNOWN_METHODS : methodsOf({ method }).map((one) => HttpMethod[one])
    for (const each of isUnknown ? UNKNOWN_PATHS : [path, ...aliases]) {
      for (const one of methods) {
        const routeKey = HttpRouteKey.with(each, one)
        const route = new HttpRoute(deployed, routeKey.key, { httpApi: this.#api, routeKey, integration })
        Validations.of(route).acknowledge({
          id: 'AwsSolutions::AwsSolutions-APIG4',
          reason:
            'The function knows its callers itself, by key and session: an authorizer would be another function in front.',
        })
      }
    }
  }
}
