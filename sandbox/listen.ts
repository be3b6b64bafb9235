import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Has an HTTP server listen at this machine, on any free port unless told, and gives its URL without a path; `stop` cuts the
 * connections that are open. Throws where the port is taken.
 */
export async function listen(
  server: Server,
  port = 0,
  host = '127.0.0.1',
): Promise<{ readonly url: string; stop(): Promise<void> }> {
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
