import type { IncomingMessage } from 'node:http'

/** The bytes of a request as they came; undefined where there are more than so many. */
export async function readBody(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    // Read to its end: stopping earlier would break the connection for the next request.
    if (length <= most) chunks.push(chunk)
  }
  return length <= most ? Buffer.concat(chunks) : undefined
}
