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
 * Starts an HTTP server and returns its origin, such as http://127.0.0.1:4000. `stop` also closes open connections. Requests with the Host
 * header of another machine get 421. Throws if the port is in use.
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
 * Wraps a request listener, so that requests get 421 if their Host header does not name this machine. Otherwise a malicious website could
 * point its domain to this machine and read responses (DNS rebinding).
 */
export function guardHost(answer: RequestListener, isOwnHost = namesThisMachine): RequestListener {
  return (request, response) => (isOwnHost(request) ? answer(request, response) : response.writeHead(421).end())
}

function namesThisMachine({ headers: { host } }: IncomingMessage): boolean {
  return /^(localhost|127(\.\d{1,3}){3})(:\d+)?$/.test(host ?? '')
}
