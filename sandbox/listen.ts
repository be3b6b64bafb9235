import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

type ListenOptions = {
  /** Any free one unless given. */
  readonly port?: number
  readonly host?: string
  readonly maxHeaderSize?: number
  /** Whether a request names this server, by its Host header. */
  readonly isOwnHost?: (request: IncomingMessage) => boolean
}

/**
 * Serves HTTP on this machine and returns the URL without a path; `stop` cuts the connections that are open. Throws where the
 * port is taken. Requests under another name get 421, as `guardHost` has it.
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
 * The same listener, but a request under a name that is not this machine's gets 421. A page elsewhere can let its own name lead
 * here (DNS rebinding), and its browser would let it read the response.
 */
export function guardHost(answer: RequestListener, isOwnHost = namesThisMachine): RequestListener {
  return (request, response) => (isOwnHost(request) ? answer(request, response) : response.writeHead(421).end())
}

function namesThisMachine({ headers: { host } }: IncomingMessage): boolean {
  return /^(localhost|127(\.\d{1,3}){3})(:\d+)?$/.test(host ?? '')
}
