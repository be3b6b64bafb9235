/** Returns untrusted text, of a contract or an unsigned error, as one short line of printable ASCII. */
export function toPrintable(text: unknown): string {
  return typeof text === 'string' ? text.replace(/[^ -~]/g, '').slice(0, 200) : ''
}
