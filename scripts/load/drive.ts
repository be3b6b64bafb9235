import { Agent, type IncomingMessage, type RequestOptions, request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { sendHttpRequest } from '../../sandbox/exchange.ts'

/** URL to call, and the request headers. */
export type Target = { readonly url: string; readonly headers: Readonly<Record<string, string>> }

/** Result of requests to all targets for some seconds. */
export type DriveResult = {
  readonly seconds: number
  /** Duration in milliseconds of each correct response. */
  readonly milliseconds: readonly number[]
  /** Bytes of all response bodies as received. */
  readonly bytes: number
  /** Messages of failed requests, and of responses with a status other than 200. */
  readonly errors: readonly string[]
}

/**
 * Calls each target over its own connection, one request after the other, for this many seconds. Waits for the responses to the last
 * requests.
 */
export async function driveLoad(targets: readonly Target[], seconds: number): Promise<DriveResult> {
  const agent = new Agent({ keepAlive: true })
  const milliseconds: number[] = []
  const errors: string[] = []
  let bytes = 0
  const start = performance.now()
  const end = start + seconds * 1000
  const askOn = async ({ url, headers }: Target) => {
    while (performance.now() < end) {
      const begun = performance.now()
      try {
        const { statusCode, length } = await receive(url, { agent, headers })
        bytes += length
        if (statusCode === 200) milliseconds.push(performance.now() - begun)
        else errors.push(`status ${statusCode}`)
      } catch (error) {
        errors.push(error instanceof Error ? error.message : String(error))
      }
    }
  }
  await Promise.all(targets.map(askOn))
  const took = (performance.now() - start) / 1000
  agent.destroy()
  return { seconds: took, milliseconds, bytes, errors }
}

/** Reads the JSON of a response. Throws if its status is not 200. */
export async function readAnswer({ url, headers: requestHeaders }: Target): Promise<unknown> {
  const { status, headers, bytes, text } = await sendHttpRequest(url, { method: 'GET', headers: requestHeaders })
  if (status !== 200) throw new Error(`${url} answers ${status} ${text}`)
  return JSON.parse(headers['content-encoding'] === 'gzip' ? gunzipSync(bytes).toString() : text)
}

/** Receives a response over a persistent connection. Counts the bytes of the body and discards them. */
async function receive(url: string, options: RequestOptions) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, options).once('response', resolve).once('error', reject).end()
  })
  let length = 0
  await new Promise<void>((resolve, reject) => {
    response
      .on('data', (chunk: Buffer) => {
        length += chunk.length
      })
      .once('end', resolve)
      .once('error', reject)
  })
  return { statusCode: response.statusCode, length }
}
