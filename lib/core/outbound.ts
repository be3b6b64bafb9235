import type { IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip } from 'node:zlib'

/** Subset of the `fetch` function that outbound requests use. It sends one request, follows no redirect and resolves with any status. */
export type Fetch = (
  url: string,
  init: {
    readonly method?: 'POST'
    readonly headers: Record<string, string>
    readonly body?: string
    readonly redirect: 'manual'
    readonly signal: AbortSignal
  },
) => Promise<FetchedResponse>

/** Subset of the `Response` object that outbound requests use. */
export type FetchedResponse = {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  /** Decompressed body. `cancel` discards the unread rest. */
  readonly body: (AsyncIterable<Uint8Array> & { cancel(): Promise<void> }) | null
}

/** Milliseconds to try each address except the last. TCP repeats a lost SYN after one second, so the limit is longer. */
export const SOCKET = { autoSelectFamilyAttemptTimeout: 1_500 }
/** Headers that `fetch` also sends. Some external services refuse requests without a user agent. */
const HEADERS = { 'user-agent': 'node', 'accept-encoding': 'br, gzip' }

/**
 * Sends a request like the built-in `fetch`, but without loading undici, which would add 32 ms to a cold start. Keeps
 * connections open for reuse, as Node's default agents do. Rejects if there is no connection, or if the signal aborts,
 * even while the body is read.
 */
export const fetchDirectly: Fetch = (url, init) =>
  new Promise((resolve, reject) => {
    const { method = 'GET', headers, body, signal } = init
    // An import of node:http would load undici. Plain HTTP is used only for servers on the same machine.
    const request = url.startsWith('http:') ? process.getBuiltinModule('node:http').request : requestHttps
    const sent = request(url, { method, headers: { ...HEADERS, ...headers }, signal, ...SOCKET })
    sent
      // The server may have closed a reused connection meanwhile. The request is then sent again, as in `fetch`. Outbound requests only read.
      .once('error', (error) =>
        sent.reusedSocket && !signal.aborted ? resolve(fetchDirectly(url, init)) : reject(error),
      )
      // A connection that switches to another protocol closes without an error, so `close` rejects too.
      .once('close', () => reject(new Error('no response')))
      .once('response', (response) => {
        const body = Object.assign(decode(response), { cancel: async () => void response.destroy() })
        const get = (name: string) => response.headers[name]?.toString() ?? null
        resolve({ status: response.statusCode ?? 0, headers: { get }, body })
      })
      .end(body)
  })

/** Decompresses a response body. A truncated body is accepted, as in `fetch`. A body with an unknown encoding is returned unchanged. */
function decode(response: IncomingMessage): Readable {
  const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH } = constants
  const encoding = response.headers['content-encoding']?.toLowerCase()
  const decoder =
    encoding === 'gzip'
      ? createGunzip({ finishFlush: Z_SYNC_FLUSH })
      : encoding === 'br'
        ? createBrotliDecompress({ finishFlush: BROTLI_OPERATION_FLUSH })
        : undefined
  // The error is ignored here, because the reader of the decompressed body also gets it.
  return decoder ? pipeline(response, decoder, () => {}) : response
}
