/** Returns untrusted text, such as a contract's revert reason, as at most 200 characters of printable ASCII; empty if it is no text. */
export function toPrintable(text: unknown): string {
  return typeof text === 'string' ? text.replace(/[^ -~]/g, '').slice(0, 200) : ''
}
