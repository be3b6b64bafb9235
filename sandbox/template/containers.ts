import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'

/** A function as Lambda has it. */
export type LambdaFunction = {
  readonly name: string
  readonly arn: string
  /** Where its asset is. */
  readonly directory: string
  /** A file of the asset, without its ending, and what it exports: `index.handler`. */
  readonly handler: string
  readonly environment: Readonly<Record<string, string>>
  readonly timeoutSeconds: number
  readonly memoryMiB: number
  readonly logGroup: string
}

/** What a container is made of: the file of its function, the name of the handler in it, and what every invocation is told. */
export type ContainerData = {
  readonly file: string
  readonly handler: string
  readonly context: Readonly<Record<string, string | boolean>>
}

/** What a container is asked to work on: an event as JSON. */
export type Invocation = {
  readonly event: string
  readonly requestId: string
  readonly timeoutMs: number
  readonly trace: string
}

/** What came of it: an answer as JSON, or how the function failed. */
export type Outcome = { readonly payload: string } | { readonly error: string }

/** The containers of all functions, each with one invocation at a time. */
export type Containers = {
  /** Starts a container where none of the function is free. Throws what the function does, and when it takes too long. */
  invoke(of: LambdaFunction, event: unknown, trace?: string): Promise<unknown>
  /** The last of what a function has written to its log. */
  logs(name: string): string
  stop(): Promise<void>
}

// Its text is made once: to have each thread take its types away would take longer than to load a function.
const RUNTIME = new URL(
  `data:text/javascript,${encodeURIComponent(stripTypeScriptTypes(readFileSync(new URL('runtime.ts', import.meta.url), 'utf8')))}`,
)
/** What Lambda takes as an answer. */
const MOST_ANSWER_BYTES = 6 * 1024 * 1024
/** A container is a thread with some 30 MB. */
const MOST_IDLE = 12
const KEPT_LOG_LINES = 1_000

/** What runs functions; of containers that are idle it keeps the last few. */
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
        lines.splice(0, lines.length - KEPT_LOG_LINES)
      })
    }
    await messageOf(worker)
    return worker
  }
  const take = ({ name }: LambdaFunction) => {
    const found = idle.findLast((one) => one.name === name)
    idle = idle.filter((one) => one !== found)
    return found?.worker
  }
  const keep = (name: string, worker: Worker) => {
    idle.push({ name, worker })
    if (idle.length > MOST_IDLE) void idle.shift()?.worker.terminate()
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
      if (Buffer.byteLength(outcome.payload) > MOST_ANSWER_BYTES) throw new Error('Function.ResponseSizeTooLarge')
      return JSON.parse(outcome.payload)
    },
    logs: (name) => logged.get(name)?.join('') ?? '',
    async stop() {
      await Promise.all([...all].map((worker) => worker.terminate()))
    },
  }
}

/** What a container answers; it is ended where it takes longer than its function may. */
async function answerOf(worker: Worker, timeoutMs: number): Promise<Outcome> {
  try {
    return await messageOf(worker, AbortSignal.timeout(timeoutMs))
  } catch (error) {
    await worker.terminate()
    throw error
  }
}

/** What a thread says next; throws when it ends instead. */
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
