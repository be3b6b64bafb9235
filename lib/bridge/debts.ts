import { min, sum } from '../core/bigint.ts'

/** Amount that the pool owes an account in a token from a time on. */
export type Debt = { readonly deadline: Date; readonly amount: bigint }

type Payment = { readonly at: Date; readonly amount: bigint }

/** Maximum number of sums of debts to compare. Above it, no payment is certain. */
const MAX_SUMS = 2_000

/**
 * Returns the payment that certainly pays a debt, undefined if none does. Events do not name the debt that a payment is for.
 * A debt is paid if it is in every subset of debts whose sum fits the payments so far, or if these cover all debts.
 * Payments come in time order. `dust` is the total of omitted small debts and payments: sums may differ by it.
 */
export function findRepayment<P extends Payment>(
  debt: Debt,
  others: readonly Debt[],
  payments: readonly P[],
  dust: bigint,
): P | undefined {
  let paid = 0n
  for (const payment of payments) {
    const isDue = ({ deadline }: Debt) => deadline < payment.at
    const rivals = others.filter(isDue).map(({ amount }) => amount)
    const owed = sum(rivals) + (isDue(debt) ? debt.amount : 0n)
    // A surplus over the debts due by then pays something else.
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

/** True if `first` plus a subset of the amounts has a sum in the range; undefined above MAX_SUMS sums. */
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
