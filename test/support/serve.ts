import { createServer, type RequestListener } from 'node:http'
import { onTestFinished } from 'vitest'
import { listen } from '../../sandbox/listen.ts'

/** Starts a server at this address of this machine until the test is over, and gives its origin. */
export async function serve(listener: RequestListener, host = '127.0.0.1'): Promise<string> {
  const { url, stop } = await listen(createServer(listener), 0, host)
  onTestFinished(stop)
  return url
}
