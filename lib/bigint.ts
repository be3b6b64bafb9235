/** The smaller of two numbers; of two and no more, for it is called millions of times where lines of requests are long. */
export function min(left: bigint, right: bigint): bigint {
  return left < right ? left : right
}

/** The larger of two numbers. */
export function max(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}

/** The sum of these numbers. */
export function sum(numbers: readonly bigint[]): bigint {
  return numbers.reduce((total, one) => total + one, 0n)
}
