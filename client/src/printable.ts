/** Returns untrusted text, such as a contract's or an unsigned error's, as one short line of printable ASCII. */
export function toPrintable(text: unknown): string {
  return typeof text === 'string' ? text.replace(/[^ -~]/g, '').slice(0, 200) : ''
}
