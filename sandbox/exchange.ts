import { EventEmitter } from 'node:events'
import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'

/** A complete HTTP response. */
export type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly text: string }

/** What is asked of a server. */
export type Asked = {
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Uint8Array
}

/** One HTTP request to a server on this machine, in a third of the CPU time of `fetch`; throws on connection errors. */
export function exchange(url: string, { method = 'POST', headers = {}, body = '' }: Asked): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = Buffer.byteLength(body)
    const asked = request(url, { method, headers: { ...headers, ...(length > 0 && { 'content-length': length }) } })
    asked.once('error', reject).once('response', (answer) => {
      const { statusCode: status = 0, headers } = answer
      const chunks: Buffer[] = []
      answer
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .once('error', reject)
        .once('end', () => resolve({ status, headers, text: Buffer.concat(chunks).toString() }))
    })
    asked.end(body)
  })
}

/** Hands a server of this process a POST as if it had arrived, with as much of it, and of its response, as dynalite looks at. */
export function handTo(server: EventEmitter, { headers = {}, body = '' }: Asked): Promise<Answer> {
  return new Promise((resolve) => {
    const request = Object.assign(new EventEmitter(), { method: 'POST', url: '/', headers })
    const told: Record<string, string> = {}
    const response = {
      statusCode: 200,
      setHeader(name: string, value: string | number) {
        told[name.toLowerCase()] = String(value)
      },
      end: (text: string) => resolve({ status: response.statusCode, headers: told, text }),
    }
    server.emit('request', request, response)
    request.emit('data', Buffer.from(body))
    request.emit('end')
  })
}
