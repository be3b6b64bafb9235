import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

type ListenOptions = {
  /** Port to listen on; any free port by default. */
  readonly port?: number
  readonly host?: string
  readonly maxHeaderSize?: number
  readonly isOwnHost?: (request: IncomingMessage) => boolean
}

/**
 * Starts an HTTP server and returns its URL without a path; `stop` also closes open connections. Refuses requests with a foreign Host
 * header. Throws if the port is in use.
 */
export async function listen(
  answer: RequestListener,
  { port = 0, host = '127.0.0.1', maxHeaderSize, isOwnHost = namesThisMachine }: ListenOptions = {},
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const server = createServer({ ...(maxHeaderSize && { maxHeaderSize }) }, guardHost(answer, isOwnHost))
  await once(server.listen(port, host), 'listening')
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

/**
 * Responds with 421 to requests with a foreign host name. Otherwise a page could point its own name to this machine (DNS rebinding) and
 * read the response.
 */
export function guardHost(answer: RequestListener, isOwnHost = namesThisMachine): RequestListener {
  return (request, response) => (isOwnHost(request) ? answer(request, response) : response.writeHead(421).end())
}

function namesThisMachine({ headers: { host } }: IncomingMessage): boolean {
  return /^(localhost|127(\.\d{1,3}){3})(:\d+)?$/.test(host ?? '')
}
