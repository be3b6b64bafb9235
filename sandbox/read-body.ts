import type { IncomingMessage } from 'node:http'

/** Returns the bytes of a request's body; undefined if they exceed the number `most`. */
export async function readBody(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    // A body that is too long is read to its end too, because the connection must serve the next request.
    if (length <= most) chunks.push(chunk)
  }
  return length <= most ? Buffer.concat(chunks) : undefined
}
