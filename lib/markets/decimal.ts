/** Exact decimal number: `digits` × 10^`exponent`. Prices are computed with it, because JSON numbers would have floating-point errors. */
export type Decimal = { readonly digits: bigint; readonly exponent: number }

/** Minimum number of digits of a quotient. A JSON number has fewer, so nothing is lost. */
const QUOTIENT_DIGITS = 40

/** Parses a finite number or a decimal text exactly. Throws a RangeError for any other text. */
export function decimal(value: number | string): Decimal {
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(value.toString())
  if (!match) throw new RangeError('not a finite decimal number')
  const [, sign, whole = '', fraction = '', exponent = '0'] = match
  return { digits: BigInt(`${sign}${whole}${fraction}`), exponent: Number(exponent) - fraction.length }
}

/** Converts an amount from a token's smallest unit to whole tokens, without rounding. */
export function toWholeTokens(amount: bigint, decimals: number): Decimal {
  return { digits: amount, exponent: -decimals }
}

/** Returns the exact product. */
export function times(left: Decimal, right: Decimal): Decimal {
  return { digits: left.digits * right.digits, exponent: left.exponent + right.exponent }
}

/** Returns the exact difference. */
export function minus(left: Decimal, right: Decimal): Decimal {
  const exponent = Math.min(left.exponent, right.exponent)
  const scaled = ({ digits, exponent: own }: Decimal) => digits * 10n ** BigInt(own - exponent)
  return { digits: scaled(left) - scaled(right), exponent }
}

/** Returns the quotient with at least 40 digits, truncated. Throws a RangeError if the divisor is zero. */
export function dividedBy(left: Decimal, right: Decimal): Decimal {
  if (right.digits === 0n) throw new RangeError('division by zero')
  const digits = QUOTIENT_DIGITS + right.digits.toString().length
  return {
    digits: (left.digits * 10n ** BigInt(digits)) / right.digits,
    exponent: left.exponent - right.exponent - digits,
  }
}

/** Returns the JavaScript number that is nearest to a decimal. */
export function toNumber({ digits, exponent }: Decimal): number {
  return Number(`${digits}e${exponent}`)
}
