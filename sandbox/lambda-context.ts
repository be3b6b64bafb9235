import type { Context } from 'aws-lambda'

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
