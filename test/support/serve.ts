import type { RequestListener } from 'node:http'
import { onTestFinished } from 'vitest'
import { listen } from '../../sandbox/listen.ts'

/** Starts an HTTP server on a local address until the test ends. Returns its origin. The server accepts any Host header. */
export async function startTestServer(listener: RequestListener, host = '127.0.0.1'): Promise<string> {
  const { url, stop } = await listen(listener, { host, isOwnHost: () => true })
  onTestFinished(stop)
  return url
}
