import { randomUUID } from 'node:crypto'
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda'

/** Creates the context of a Lambda invocation. `remainingMs` is the time until its timeout, in milliseconds. */
export function someContext({ remainingMs = 15_000 }: { remainingMs?: number } = {}): Context {
  const endsAt = performance.now() + remainingMs
  return {
    awsRequestId: randomUUID(),
    callbackWaitsForEmptyEventLoop: false,
    functionName: 'some-function',
    functionVersion: '$LATEST',
    invokedFunctionArn: 'arn:aws:lambda:eu-west-1:000000000000:function:some-function',
    logGroupName: 'some-group',
    logStreamName: 'some-stream',
    memoryLimitInMB: '1769',
    getRemainingTimeInMillis: () => endsAt - performance.now(),
    done: () => {},
    fail: () => {},
    succeed: () => {},
  }
}

/** Creates the event that API Gateway's HTTP API sends to Lambda for a request (payload version 2.0). */
export function someEvent(
  method: string,
  path: string,
  rest: Partial<APIGatewayProxyEventV2> = {},
): APIGatewayProxyEventV2 {
  const routeKey = `${method} ${path}`
  return {
    version: '2.0',
    routeKey,
    rawPath: path,
    rawQueryString: '',
    headers: {},
    isBase64Encoded: false,
    requestContext: {
      accountId: '000000000000',
      apiId: 'some-api',
      domainName: 'api.example',
      domainPrefix: 'api',
      http: { method, path, protocol: 'HTTP/1.1', sourceIp: '192.0.2.1', userAgent: 'some wallet' },
      requestId: randomUUID(),
      routeKey,
      stage: '$default',
      time: '20/Nov/2026:00:00:00 +0000',
      timeEpoch: 1_795_132_800_000,
    },
    ...rest,
  }
}
