import type { IncomingMessage } from 'node:http'

/** Reads a request's body. Returns undefined if the body has more than `most` bytes. */
export async function readBody(request: IncomingMessage, most: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    // A body that is too long is read to its end, so that the connection can serve the next request.
    if (length <= most) chunks.push(chunk)
  }
  return length <= most ? Buffer.concat(chunks) : undefined
}
