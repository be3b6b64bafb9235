/** A token's symbol and decimals. */
export type AmountToken = { readonly symbol: string; readonly decimals: number }

/**
 * Formats an amount in whole tokens with the symbol, such as `1,234.56 USDC`. It rounds up or down to `digits` significant digits, but
 * never more coarsely than to two decimals.
 */
export function formatAmount(
  units: bigint,
  { symbol, decimals }: AmountToken,
  way: 'up' | 'down',
  digits: number,
): string {
  const places = Math.min(decimals, Math.max(2, decimals - `${units}`.length + digits))
  const step = 10n ** BigInt(decimals - places)
  const rounded = (way === 'up' ? units + step - 1n : units) / step
  const one = 10n ** BigInt(places)
  const fraction = `${rounded % one}`.padStart(places, '0').replace(/0+$/, '')
  return `${(rounded / one).toLocaleString('en-US')}${places > 0 && fraction ? `.${fraction}` : ''} ${symbol}`
}

/**
 * Parses a typed amount into the token's smallest units. Returns undefined for zero, for text that is no amount, and for more decimals than
 * the token has.
 */
export function parseAmount(text: string, decimals: number): bigint | undefined {
  // A comma is refused: it separates decimals in some countries and thousands in others.
  const [, whole = '', fraction = ''] = /^(\d*)(?:\.(\d*))?$/.exec(text.trim()) ?? []
  if (fraction.length > decimals) return undefined
  return BigInt(`${whole}${fraction.padEnd(decimals, '0')}`) || undefined
}
