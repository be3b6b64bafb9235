import { once } from 'node:events'
import { parentPort } from 'node:worker_threads'
import { type GatewayOptions, loadHandlers, startGateway } from '../gateway.ts'
import { type ReferenceSettings, serveReference } from './reference.ts'

/** What the thread is told when the chains and tables are there. */
export type ServiceSettings = {
  readonly environment: Readonly<Record<string, string>>
  readonly gateway: GatewayOptions
  readonly reference: ReferenceSettings
}

// A thread of its own: the functions have an environment to themselves, and their logs a stream to themselves. It says
// when they are loaded, is then told their settings, and says when it serves them.
if (parentPort) {
  await loadHandlers()
  parentPort.postMessage('loaded')
  const [settings] = await once(parentPort, 'message')
  const { environment, gateway, reference }: ServiceSettings = settings
  Object.assign(process.env, environment)
  await startGateway(gateway, serveReference(reference))
  parentPort.postMessage('serving')
}
