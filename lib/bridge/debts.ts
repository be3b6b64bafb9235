import { min, sum } from '../core/bigint.ts'

/** Refund that the bridge's pool owes an account from the time `deadline` on. */
export type OwedRefund = { readonly deadline: Date; readonly amount: bigint }

type Payment = { readonly at: Date; readonly amount: bigint }

/**
 * Maximum number of sums of owed refunds that `findRepayment` tries. Their number can double with each refund. Above
 * the maximum, the sums prove nothing.
 */
const MAX_SUMS = 2_000

/**
 * Returns the first payment after which the refund `debt` is certainly paid; undefined if there is none. Payment events
 * do not name the refund that they pay, so only sums can prove it. One proof: the payments so far equal all refunds
 * owed at that time. Another proof: they equal a sum of owed refunds with `debt`, but none without it. `payments` are
 * in time order. `dust` is the total of small deposits and payments that were left out, so sums may differ by it.
 */
export function findRepayment<P extends Payment>(
  debt: OwedRefund,
  others: readonly OwedRefund[],
  payments: readonly P[],
  dust: bigint,
): P | undefined {
  let paid = 0n
  for (const payment of payments) {
    const isDue = ({ deadline }: OwedRefund) => deadline < payment.at
    const rivals = others.filter(isDue).map(({ amount }) => amount)
    const owed = sum(rivals) + (isDue(debt) ? debt.amount : 0n)
    // Payments beyond the total owed at that time pay something else, so the excess does not count.
    paid = min(paid + payment.amount, owed)
    if (!isDue(debt)) continue
    if (paid === owed && dust < debt.amount) return payment
    const range = { least: paid - dust, most: paid + dust }
    const [without, withDebt] = [rivals, rivals].map((amounts, index) =>
      isReachable(amounts, index === 0 ? 0n : debt.amount, range),
    )
    if (withDebt === true && without === false) return payment
  }
  return undefined
}

/**
 * Returns true if `first` plus some of `amounts` can add up to a sum from `least` to `most`; undefined if there are
 * too many sums to try.
 */
function isReachable(
  amounts: readonly bigint[],
  first: bigint,
  { least, most }: { readonly least: bigint; readonly most: bigint },
): boolean | undefined {
  let sums = new Set([first])
  let rest = sum(amounts)
  for (const amount of amounts.toSorted((left, right) => Number(right - left))) {
    rest -= amount
    const candidates = [...sums].flatMap((one) => [one, one + amount])
    sums = new Set(candidates.filter((one) => one <= most && one + rest >= least))
    if (sums.size > MAX_SUMS) return undefined
  }
  return [...sums].some((one) => one >= least && one <= most)
}
