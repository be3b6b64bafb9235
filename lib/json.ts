/** The JSON value that a text is, or bytes are in UTF-8; undefined where it is none: JSON's own error would quote the text. */
export function parseJson(json: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof json === 'string' ? json : new TextDecoder('utf-8', { fatal: true }).decode(json))
  } catch {
    return undefined
  }
}
