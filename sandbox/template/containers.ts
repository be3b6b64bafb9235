import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'

/** Lambda function with its configuration. */
export type LambdaFunction = {
  readonly name: string
  readonly arn: string
  readonly directory: string
  /** File name without extension and exported function, such as `index.handler`. */
  readonly handler: string
  readonly environment: Readonly<Record<string, string>>
  readonly timeoutSeconds: number
  readonly memoryMiB: number
  readonly logGroup: string
}

/**
 * Data that a container (a worker thread) gets at its start. All its invocations share `context`, the constant part of Lambda's context
 * object.
 */
export type ContainerData = {
  readonly file: string
  readonly handler: string
  readonly context: Readonly<Record<string, string | boolean>>
}

/** Message that starts an invocation in a container. `event` is JSON text, and `trace` is the X-Ray trace id. */
export type Invocation = {
  readonly event: string
  readonly requestId: string
  readonly timeoutMs: number
  readonly trace: string
}

/** Result of an invocation: the returned value as JSON, or the function's error. */
export type Outcome = { readonly payload: string } | { readonly error: string }

/** Pool of containers: worker threads that imitate Lambda containers. Each container handles one invocation at a time. */
export type Containers = {
  /** Invokes a function in a free container, or in a new one. Throws the function's error, or an Error after the function's timeout. */
  invoke(of: LambdaFunction, event: unknown, trace?: string): Promise<unknown>
  logs(name: string): string
  stop(): Promise<void>
}

// The types of runtime.ts are stripped once for all threads, because stripping takes longer than loading a function.
const RUNTIME = new URL(
  `data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(readFileSync(new URL('runtime.ts', import.meta.url), 'utf8')))}`,
)
/** Maximum bytes of a function's response in Lambda. */
const MAX_ANSWER_BYTES = 6 * 1024 * 1024
/** Maximum number of idle containers; each is a thread with about 30 MB. */
const MAX_IDLE = 12
const MAX_LOG_LINES = 1_000

/** Creates a pool of containers that run Lambda functions. If too many containers are idle, the pool ends the one that was idle longest. */
export function createContainers(): Containers {
  const all = new Set<Worker>()
  const logged = new Map<string, string[]>()
  let idle: { readonly name: string; readonly worker: Worker }[] = []

  const start = async ({ name, arn, directory, handler, environment, memoryMiB, logGroup }: LambdaFunction) => {
    const [file = '', exported = ''] = handler.split('.')
    const worker = new Worker(RUNTIME, {
      env: { ...environment },
      execArgv: [],
      workerData: {
        file: pathToFileURL(join(directory, `${file}.mjs`)).href,
        handler: exported,
        context: {
          ...{ functionName: name, functionVersion: '$LATEST', invokedFunctionArn: arn },
          ...{ memoryLimitInMB: String(memoryMiB), logGroupName: logGroup, logStreamName: 'container' },
          callbackWaitsForEmptyEventLoop: true,
        },
      } satisfies ContainerData,
      resourceLimits: { maxOldGenerationSizeMb: memoryMiB },
      stdout: true,
      stderr: true,
    })
    all.add(worker)
    worker.once('exit', () => all.delete(worker))
    const lines = logged.get(name) ?? []
    logged.set(name, lines)
    for (const stream of [worker.stdout, worker.stderr]) {
      stream.on('data', (text) => {
        lines.push(String(text))
        lines.splice(0, lines.length - MAX_LOG_LINES)
      })
    }
    await messageOf(worker)
    return worker
  }
  const take = ({ name }: LambdaFunction) => {
    const container = idle.findLast((one) => one.name === name)
    idle = idle.filter((one) => one !== container)
    return container?.worker
  }
  const keep = (name: string, worker: Worker) => {
    idle.push({ name, worker })
    if (idle.length > MAX_IDLE) void idle.shift()?.worker.terminate()
  }

  return {
    async invoke(of, event, trace = '') {
      const worker = take(of) ?? (await start(of))
      const timeoutMs = of.timeoutSeconds * 1000
      worker.postMessage({
        event: JSON.stringify(event),
        requestId: randomUUID(),
        timeoutMs,
        trace,
      } satisfies Invocation)
      const outcome = await answerOf(worker, timeoutMs)
      keep(of.name, worker)
      if ('error' in outcome) throw new Error(outcome.error)
      if (Buffer.byteLength(outcome.payload) > MAX_ANSWER_BYTES) throw new Error('Function.ResponseSizeTooLarge')
      return JSON.parse(outcome.payload)
    },
    logs: (name) => logged.get(name)?.join('') ?? '',
    async stop() {
      await Promise.all([...all].map((worker) => worker.terminate()))
    },
  }
}

async function answerOf(worker: Worker, timeoutMs: number): Promise<Outcome> {
  try {
    return await messageOf(worker, AbortSignal.timeout(timeoutMs))
  } catch (error) {
    await worker.terminate()
    throw error
  }
}

/** Returns the worker's next message. Throws if the worker ends first, or if the signal aborts. */
async function messageOf(worker: Worker, signal?: AbortSignal): Promise<Outcome> {
  const answered = new AbortController()
  const until = { signal: AbortSignal.any([answered.signal, ...(signal ? [signal] : [])]) }
  const ended = once(worker, 'exit', until).then(() => {
    throw new Error('Runtime.ExitError')
  })
  try {
    const [message] = await Promise.race([once(worker, 'message', until), ended])
    return message
  } finally {
    answered.abort()
  }
}
