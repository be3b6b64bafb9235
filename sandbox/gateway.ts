import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { APIGatewayProxyStructuredResultV2, Context, SQSBatchResponse } from 'aws-lambda'
import { consumers, endpoints, jobs } from '../functions/contracts.ts'
import { CORS_SETTINGS } from '../infra/environments.ts'
import { AppError, type ErrorCode } from '../lib/core/errors.ts'
import { type EndpointContract, methodsOf } from '../lib/frame/contract.ts'
import { errorReply } from '../lib/frame/replies.ts'
import { createConsumers, localMappings } from './consumers.ts'
import { bytesOf, findRoute, MAX_BODY_BYTES, routesOf, toEvent, urlOf } from './http-api.ts'
import { invokeFunction, lambdaContext, separateInvocationLogs } from './lambda-context.ts'
import { listen } from './listen.ts'
import { readBody } from './read-body.ts'

type Cors = { readonly allowOrigins: readonly string[] }

/** Options of the local HTTP API. */
export type GatewayOptions = {
  /** Port of the API; 0 for any free port. */
  readonly port: number
  readonly cors: Cors
  /** True if the gateway also runs the scheduled jobs and polls the queues. */
  readonly schedule: boolean
  /** Function that returns a Lambda handler by its name; by default all handlers are loaded at the start. */
  readonly handlerOf?: HandlerOf
  /** Intervals in seconds of jobs that run more often than in AWS. */
  readonly everySeconds?: Readonly<Partial<Record<keyof typeof jobs, number>>>
}

/** Function that serves requests outside the API; it returns true if it handled the request. */
type ServeOther = (request: IncomingMessage, response: ServerResponse) => boolean

/** Running HTTP API. `stop` also ends the scheduled jobs and the polling of queues. */
export type Gateway = {
  readonly url: string
  /** Processes all available messages of the queues. Returns the number of processed messages. */
  consume(): Promise<number>
  stop(): Promise<void>
}

type Handler = (event: unknown, context: Context) => Promise<APIGatewayProxyStructuredResultV2>
type HandlerOf = (name: string) => Handler | Promise<Handler>

const FUNCTION_TIMEOUT_MS = 15_000

const ROUTES = routesOf(
  Object.entries<EndpointContract>(endpoints).flatMap(([name, { method, path, aliases = [] }]) =>
    [path, ...aliases].flatMap((template) =>
      methodsOf({ method }).map((one): [string, string] => [
        template === '$default' ? template : `${one} ${template}`,
        name,
      ]),
    ),
  ),
)

/**
 * Serves all endpoints of functions/contracts.ts on localhost. Handlers get API Gateway HTTP API events (payload version 2). With
 * `schedule`, also runs scheduled jobs and polls queues. Handlers read this process's environment variables. `beside` may handle requests
 * outside the API.
 */
export async function startGateway(options: GatewayOptions, beside: ServeOther = () => false): Promise<Gateway> {
  const { port, cors, schedule, everySeconds = {}, handlerOf = await loadHandlers() } = options
  separateInvocationLogs()
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    for (const [name, value] of Object.entries(corsHeadersFor(request.headers.origin, cors))) {
      response.setHeader(name, value)
    }
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    if (beside(request, response)) return
    void serve(request, handlerOf)
      .catch(() => gatewayError('internal', randomUUID()))
      .then((reply) => send(response, reply))
  }
  const { url, stop: close } = await listen(answer, { port })
  const { consume, poll } = createConsumers(localMappings(), async (name, event, { timeoutSeconds }) => {
    const handler = await handlerOf(name)
    const context = lambdaContext(name, randomUUID(), timeoutSeconds * 1000)
    const answer: unknown = await invokeFunction(handler, event, context)
    // The cast is safe: every queue consumer returns an SQSBatchResponse.
    return answer as SQSBatchResponse
  })
  const stops = schedule ? [scheduleJobs(handlerOf, everySeconds), poll()] : []
  return {
    url,
    consume,
    async stop() {
      for (const stop of stops) stop()
      await close()
    },
  }
}

/**
 * Loads all Lambda handlers, and returns a function that finds a handler by its name. Handlers read environment variables only at their
 * first call.
 */
export async function loadHandlers(): Promise<HandlerOf> {
  const load = async (name: string): Promise<[string, Handler]> => [name, await loadHandler(name)]
  const handlers = new Map(await Promise.all(Object.keys({ ...endpoints, ...jobs, ...consumers }).map(load)))
  return (name) => {
    const handler = handlers.get(name)
    if (!handler) throw new Error(`There is no function ${name}`)
    return handler
  }
}

/** Loads the Lambda handler with this name. The handler reads environment variables only at its first call. */
export async function loadHandler(name: string): Promise<Handler> {
  // The import below needs a path with two variables, from which a bundler and a test runner infer the possible files.
  const [area, own] = name.split('/')
  const { handler } = await import(`../functions/${area}/${own}/handler.ts`)
  return handler
}

async function serve(request: IncomingMessage, handlerOf: HandlerOf): Promise<APIGatewayProxyStructuredResultV2> {
  const body = await readBody(request, MAX_BODY_BYTES)
  const requestId = randomUUID()
  return body ? await invoke(request, body, requestId, handlerOf) : gatewayError('payload_too_large', requestId)
}

async function invoke(
  request: IncomingMessage,
  body: Buffer,
  requestId: string,
  handlerOf: HandlerOf,
): Promise<APIGatewayProxyStructuredResultV2> {
  const url = urlOf(request)
  const match = findRoute(ROUTES, request.method ?? 'GET', url.pathname)
  if (!match) throw new Error('There is no $default route.')
  const { name } = match.route
  const handler = await handlerOf(name)
  return await invokeFunction(
    handler,
    toEvent(request, url, body, { requestId, ...match }),
    lambdaContext(name, requestId, FUNCTION_TIMEOUT_MS),
  )
}

/**
 * Runs each job immediately and then at its interval. A failed job runs again only at its next interval. Jobs start in the order of
 * functions/contracts.ts, because a job may need data from the first run of an earlier job.
 */
function scheduleJobs(handlerOf: HandlerOf, everySeconds: Readonly<Record<string, number>>): () => void {
  const stopping = new AbortController()
  const { signal } = stopping
  const startAll = async () => {
    for (const [name, { runs, everyMinutes }] of Object.entries(jobs)) {
      const handler = await handlerOf(name)
      const pauseMs = (everySeconds[name] ?? everyMinutes * 60) * 1000
      // A failure is ignored here, because the handler has logged it.
      const runOnce = (run: unknown) =>
        invokeFunction(handler, run, lambdaContext(name, randomUUID(), FUNCTION_TIMEOUT_MS)).catch(() => undefined)
      const repeat = async (run: unknown) => {
        while (!signal.aborted) {
          await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
          if (!signal.aborted) await runOnce(run)
        }
      }
      await Promise.all(runs.map(runOnce))
      for (const run of runs) void repeat(run)
    }
  }
  void startAll()
  return () => stopping.abort()
}

function send(
  response: ServerResponse,
  { statusCode = 200, headers, ...reply }: APIGatewayProxyStructuredResultV2,
): void {
  response.writeHead(statusCode, headers as Record<string, string>).end(bytesOf(reply))
}

function corsHeadersFor(origin: string | undefined, { allowOrigins }: Cors): Record<string, string> {
  if (!origin || !allowOrigins.includes(origin)) return {}
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': 'GET,POST,DELETE,OPTIONS',
    'access-control-allow-headers': CORS_SETTINGS.allowHeaders.join(','),
    'access-control-expose-headers': CORS_SETTINGS.exposeHeaders.join(','),
    'access-control-max-age': CORS_SETTINGS.maxAgeSeconds.toString(),
    vary: 'origin',
  }
}

function gatewayError(code: ErrorCode, requestId: string): APIGatewayProxyStructuredResultV2 {
  const reply = errorReply(new AppError(code), requestId)
  return { ...reply, headers: { ...reply.headers, 'x-request-id': requestId } }
}
