import { EventEmitter } from 'node:events'
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'

/** HTTP response with its complete body. */
export type HttpResponse = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string }

/** HTTP response with its raw headers (names and values alternate) and the bytes of its body. */
export type RawHttpResponse = HttpResponse & { readonly rawHeaders: readonly string[]; readonly bytes: Buffer }

/** Method, headers and body of an HTTP request. */
export type RequestParts = {
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Uint8Array
}

/**
 * Sends a request to a local server, with a third of the CPU time of `fetch`. Unlike `fetch`, it keeps `.` and `..` in the path. Throws on
 * connection errors.
 */
export function sendHttpRequest(
  url: string,
  { method = 'POST', headers = {}, body = '' }: RequestParts,
): Promise<RawHttpResponse> {
  return new Promise((resolve, reject) => {
    const length = Buffer.byteLength(body)
    const sent = { ...headers, ...(length > 0 && { 'content-length': length }) }
    const outgoing = request(url, { method, path: url.replace(/^http:\/\/[^/]+/, '') || '/', headers: sent })
    outgoing.once('error', reject).once('response', (answer) => {
      const { statusCode: status = 0, headers, rawHeaders } = answer
      const chunks: Buffer[] = []
      answer
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .once('error', reject)
        .once('end', () => {
          const bytes = Buffer.concat(chunks)
          resolve({ status, headers, rawHeaders, bytes, text: bytes.toString() })
        })
    })
    outgoing.end(body)
  })
}

/**
 * Passes a POST request to an HTTP server in this process without a connection. Implements only the parts of request and response that
 * dynalite uses.
 */
export function passRequestToServer(
  server: EventEmitter,
  { headers = {}, body = '' }: RequestParts,
): Promise<HttpResponse> {
  return new Promise((resolve) => {
    const request = Object.assign(new EventEmitter(), { method: 'POST', url: '/', headers })
    const responseHeaders: Record<string, string> = {}
    const response = {
      statusCode: 200,
      setHeader(name: string, value: string | number) {
        responseHeaders[name.toLowerCase()] = String(value)
      },
      end: (text: string) => resolve({ status: response.statusCode, headers: responseHeaders, text }),
    }
    server.emit('request', request, response)
    request.emit('data', Buffer.from(body))
    request.emit('end')
  })
}
