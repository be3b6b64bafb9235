import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AcrossApi, type BridgedChain, createAcrossApi } from './providers/across-api.ts'
import type { Provider } from './providers/provider.ts'
import { relayerControl } from './providers/relayer-control.ts'
import { secretsManager } from './providers/secrets-manager.ts'
import type { Relayer } from './relayer.ts'

/** The services outside that cannot be had on this machine, as one local server. */
export type Providers = {
  readonly url: string
  /** The bridge's API, under /api; its `rewrite` makes it lie. */
  readonly acrossApi: AcrossApi
  stop(): Promise<void>
}

// Node's own limit is below what fits into a query of the bridge's API.
const MAX_HEADER_BYTES = 64 * 1024

/**
 * Starts the local providers on a free port: AWS Secrets Manager with these secrets, the bridge's API between these
 * chains, and the relayer's control under /relayer.
 */
export async function startProviders(options: {
  readonly secrets: Readonly<Record<string, unknown>>
  readonly chains: readonly BridgedChain[]
  readonly relayer: Relayer
}): Promise<Providers> {
  const { secrets, chains, relayer } = options
  const acrossApi = createAcrossApi({ chains, relayer })
  const providers = [secretsManager(secrets), acrossApi.answer, relayerControl(relayer)]
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, (request, response) => {
    serve(request, response, providers).catch(() => response.writeHead(500).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    acrossApi,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  providers: readonly Provider[],
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const { method = 'GET', headers } = request
  const url = new URL(request.url ?? '/', 'http://localhost')
  const body = Buffer.concat(chunks).toString()
  for (const provider of providers) {
    const reply = await provider({ method, url, headers, body })
    if (reply === undefined) continue
    if (reply === 'hang up') {
      request.socket.destroy()
      return
    }
    const { status, contentType = 'application/json' } = reply
    const text = typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body)
    response.writeHead(status, { 'content-type': contentType }).end(text)
    return
  }
  response.writeHead(404).end()
}
