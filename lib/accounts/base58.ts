const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** Decodes base58 in Bitcoin's alphabet, which Solana uses too. Returns null if the text is not base58 or not `length` bytes long. */
export function decodeBase58(text: string, length: number): Uint8Array | null {
  if (!/^[1-9A-HJ-NP-Za-km-z]{1,100}$/.test(text)) return null
  const number = [...text].reduce((sum, digit) => sum * 58n + BigInt(DIGITS.indexOf(digit)), 0n)
  const hex = number === 0n ? '' : number.toString(16)
  const rest = Buffer.from(hex.length % 2 ? `0${hex}` : hex, 'hex')
  // Each leading character 1 of a base58 text stands for a zero byte.
  const zeros = text.length - text.replace(/^1+/, '').length
  return zeros + rest.length === length ? new Uint8Array([...new Uint8Array(zeros), ...rest]) : null
}
