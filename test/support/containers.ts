import { randomUUID } from 'node:crypto'
import { vi } from 'vitest'
import { loadHandler, startGateway } from '../../sandbox/gateway.ts'
import { invokeFunction, lambdaContext } from '../../sandbox/lambda-context.ts'
import { createVerifyingCaller, GATEWAY, type Service } from './service.ts'

/** Simulated Lambda containers, one per function, on the same backends. */
export type Containers = {
  readonly service: Service
  readonly run: (name: string, event: unknown) => Promise<unknown>
  readonly stop: () => Promise<void>
}

const TIMEOUT_MS = 15_000

/**
 * Starts a Lambda container for each function at its first event. Containers share none of the service's own modules, as in
 * AWS.
 */
export async function startContainers(service: Service): Promise<Containers> {
  const handlers = new Map<string, ReturnType<typeof loadHandler>>()
  const handlerOf = (name: string) => {
    const loadedHandler = handlers.get(name)
    if (loadedHandler) return loadedHandler
    vi.resetModules()
    const handler = loadHandler(name)
    handlers.set(name, handler)
    return handler
  }
  const { url: baseUrl, consume, stop } = await startGateway({ ...GATEWAY, handlerOf })
  return {
    service: { ...service, baseUrl, consume, call: createVerifyingCaller({ ...service, baseUrl }) },
    run: async (name, event) =>
      invokeFunction(await handlerOf(name), event, lambdaContext(name, randomUUID(), TIMEOUT_MS)),
    stop,
  }
}
