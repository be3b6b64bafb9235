import { AsyncLocalStorage } from 'node:async_hooks'
import type { Context } from 'aws-lambda'

const invocations = new AsyncLocalStorage<Map<PropertyKey, unknown>>()

/**
 * Gives concurrent invocations in this process separate logging contexts. Installs the global InvokeStore that Lambda's runtime has
 * (https://docs.aws.amazon.com/lambda/latest/dg/lambda-managed-instances-nodejs-runtime.html).
 */
export function separateInvocationLogs(): void {
  process.env['AWS_LAMBDA_MAX_CONCURRENCY'] = '64'
  const InvokeStore = {
    hasContext: () => invocations.getStore() !== undefined,
    get: (key: PropertyKey) => invocations.getStore()?.get(key),
    set: (key: PropertyKey, value: unknown) => invocations.getStore()?.set(key, value),
    getXRayTraceId: () => undefined,
  }
  Object.assign(globalThis, { awslambda: { InvokeStore } })
}

/** Invokes a Lambda handler in a logging context of its own. */
export function invokeFunction<Answer>(
  handler: (event: unknown, context: Context) => Promise<Answer>,
  event: unknown,
  context: Context,
): Promise<Answer> {
  return invocations.run(new Map(), () => handler(event, context))
}

/** Returns the context object that Lambda passes to a handler. `timeoutMs` is the function's timeout in milliseconds. */
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
