/**
 * Parses JSON text, or JSON bytes in UTF-8. Returns undefined if the JSON is invalid. It throws no error, because
 * JSON's own error quotes the text.
 */
export function parseJson(json: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof json === 'string' ? json : new TextDecoder('utf-8', { fatal: true }).decode(json))
  } catch {
    return undefined
  }
}
