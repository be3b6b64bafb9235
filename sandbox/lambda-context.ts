import { AsyncLocalStorage } from 'node:async_hooks'
import type { Context } from 'aws-lambda'

const invocations = new AsyncLocalStorage<Map<PropertyKey, unknown>>()

/**
 * Has the logger keep what it knows of an invocation, as its function and its request, apart from what it knows of those that
 * go on beside it in this process: as where Lambda gives a container several at once, by the store of its runtime
 * (https://docs.aws.amazon.com/lambda/latest/dg/lambda-managed-instances-nodejs-runtime.html).
 */
export function keepInvocationsApart(): void {
  process.env['AWS_LAMBDA_MAX_CONCURRENCY'] = '64'
  const InvokeStore = {
    hasContext: () => invocations.getStore() !== undefined,
    get: (key: PropertyKey) => invocations.getStore()?.get(key),
    set: (key: PropertyKey, value: unknown) => invocations.getStore()?.set(key, value),
    getXRayTraceId: () => undefined,
  }
  Object.assign(globalThis, { awslambda: { InvokeStore } })
}

/** Invokes a function; what is logged meanwhile is its own. */
export function invokeFunction<Answer>(
  handler: (event: unknown, context: Context) => Promise<Answer>,
  event: unknown,
  context: Context,
): Promise<Answer> {
  return invocations.run(new Map(), () => handler(event, context))
}

/** What Lambda tells a function of one invocation, which is ended after so many milliseconds. */
export function lambdaContext(functionName: string, awsRequestId: string, timeoutMs: number): Context {
  const endsAt = Date.now() + timeoutMs
  return {
    awsRequestId,
    callbackWaitsForEmptyEventLoop: false,
    functionName,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:local:000000000000:function:${functionName.replace('/', '-')}`,
    logGroupName: functionName,
    logStreamName: 'local',
    memoryLimitInMB: '1769',
    getRemainingTimeInMillis: () => endsAt - Date.now(),
    done: () => {},
    fail: () => {},
    succeed: () => {},
  }
}
