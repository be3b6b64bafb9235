/** Returns the smaller of two numbers. It takes two numbers instead of a list, because a loop may call it millions of times. */
export function min(left: bigint, right: bigint): bigint {
  return left < right ? left : right
}

/** Returns the larger of two numbers. */
export function max(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}

/** Returns the sum of these numbers. */
export function sum(numbers: readonly bigint[]): bigint {
  return numbers.reduce((total, one) => total + one, 0n)
}
