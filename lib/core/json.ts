/** Parses JSON text, or bytes in UTF-8. Returns undefined if it is invalid, because JSON's own error would quote the text. */
export function parseJson(json: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof json === 'string' ? json : new TextDecoder('utf-8', { fatal: true }).decode(json))
  } catch {
    return undefined
  }
}
