/** A token's symbol and decimals. */
export type AmountToken = { readonly symbol: string; readonly decimals: number }

/** An amount in whole tokens with so many significant digits, where two decimals are fewer, and rounded in the given way. */
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

/** The smallest units of a typed amount. Undefined for zero, for no amount, and for more decimals than the token has. */
export function parseAmount(text: string, decimals: number): bigint | undefined {
  // A comma begins the decimals in one country and groups thousands in another.
  const [, whole = '', fraction = ''] = /^(\d*)(?:\.(\d*))?$/.exec(text.trim()) ?? []
  if (fraction.length > decimals) return undefined
  return BigInt(`${whole}${fraction.padEnd(decimals, '0')}`) || undefined
}
