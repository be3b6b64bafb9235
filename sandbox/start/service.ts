import { once } from 'node:events'
import { request as askServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { parentPort } from 'node:worker_threads'
import { type GatewayOptions, loadHandlers, startGateway } from '../gateway.ts'
import { type DocsSettings, serveDocs } from './docs.ts'
import { tamperWithResponse } from './tamper.ts'

/** Settings of the worker thread that runs the functions. The main thread sends them first, once the chains and tables exist. */
export type ServiceSettings = {
  readonly environment: Readonly<Record<string, string>>
  readonly gateway: GatewayOptions
  readonly docs: DocsSettings
  readonly controlsUrl: string
}

/** Message that later changes the worker thread's behaviour: respond with 429 for some seconds, or tamper with responses. */
export type BehaviourMessage = { readonly throttleSeconds?: number; readonly tampers?: boolean }

// The functions run in a worker thread, so that they have their own environment variables and log. The thread posts 'loaded', waits for its
// settings, and posts 'serving' once it serves requests.
if (parentPort) {
  await loadHandlers()
  parentPort.postMessage('loaded')
  const [settings] = await once(parentPort, 'message')
  const { environment, gateway, docs, controlsUrl }: ServiceSettings = settings
  Object.assign(process.env, environment)

  let throttledUntil = 0
  let isTampering = false
  parentPort.on('message', ({ throttleSeconds, tampers = isTampering }: BehaviourMessage) => {
    if (throttleSeconds !== undefined) throttledUntil = Date.now() + throttleSeconds * 1000
    isTampering = tampers
  })
  const showDocs = serveDocs(docs)
  const { url } = await startGateway(gateway, (request, response) => {
    if (/^\/sandbox(\/|$)/.test(request.url ?? '')) {
      forward(request, response, controlsUrl)
      return true
    }
    if (showDocs(request, response)) return true
    if (Date.now() >= throttledUntil) return isTampering && tamperWithResponse(request, response, url)
    // API Gateway sends this response to requests beyond its rate limit.
    response.writeHead(429, { 'content-type': 'application/json' }).end('{"message":"Too Many Requests"}')
    return true
  })
  parentPort.postMessage('serving')
}

function forward(request: IncomingMessage, response: ServerResponse, url: string): void {
  const { method, headers } = request
  const forwarded = askServer(new URL(request.url ?? '/', url), { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(response)
  })
  forwarded.once('error', () => response.writeHead(502).end())
  request.pipe(forwarded)
}
