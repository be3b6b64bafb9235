import { parentPort, workerData } from 'node:worker_threads'
import type { ContainerData, Invocation, Outcome } from './containers.ts'

// This worker thread imitates a Lambda container. The thread posts 'loaded', and later the outcome of each invocation. The file imports no
// module of this project at run time, because the thread runs the file's text from a data: URL.
const { file, handler, context }: ContainerData = workerData
const { [handler]: work } = await import(file)
if (typeof work !== 'function') throw new Error(`Runtime.HandlerNotFound: ${handler} is undefined or not exported`)

parentPort?.on('message', async ({ event, requestId, timeoutMs, trace }: Invocation) => {
  // The AWS SDK reads the trace id from this variable.
  process.env['_X_AMZN_TRACE_ID'] = trace
  const endsAt = Date.now() + timeoutMs
  const lambdaContext = { ...context, awsRequestId: requestId, getRemainingTimeInMillis: () => endsAt - Date.now() }
  parentPort?.postMessage(await outcomeOf(async () => work(JSON.parse(event), lambdaContext)))
})
parentPort?.postMessage('loaded')

async function outcomeOf(run: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { payload: JSON.stringify((await run()) ?? null) }
  } catch (error) {
    return { error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) }
  }
}
