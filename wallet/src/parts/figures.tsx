import type { Vault } from '@vaultline/client'
import { useCurrency } from '../context.ts'
import {
  formatAmount,
  formatChange,
  formatClock,
  formatDays,
  formatExactly,
  formatMoney,
  formatShortAmount,
  formatShortMoney,
  formatTime,
  SMALLEST_AMOUNT,
} from '../format.ts'
import { toNumber } from '../portfolio.ts'

/** A dash for what is not known, with the reason to those who ask. */
export function Unknown({ why }: { why: string }) {
  return (
    <span className="unknown" title={why}>
      –<span className="hidden"> ({why})</span>
    </span>
  )
}

type AmountProps = {
  /** In the token's smallest unit; null where it is not known. */
  readonly units: string | bigint | null | undefined
  readonly decimals: number
  readonly symbol: string
  /** 1.2M in place of 1,234,567. */
  readonly short?: boolean
}

/** An amount with its unit; all its digits on a hover. */
export function Amount({ units, decimals, symbol, short = false }: AmountProps) {
  if (units === null || units === undefined) return <Unknown why="The amount cannot be read at the moment." />
  const exact = BigInt(units)
  return (
    <span className="figure" title={`${formatExactly(exact, decimals)} ${symbol}`}>
      {short ? formatShortAmount(exact, decimals) : formatAmount(exact, decimals)}{' '}
      <span className="unit">{symbol}</span>
    </span>
  )
}

type EarnedProps = {
  readonly units: string
  readonly decimals: number
  readonly symbol: string
  /** True if the token has a price: nothing earned is then 0 of the currency. */
  readonly isPriced: boolean
}

/** What a position has earned, up or down; vaults round in their own favour, so that a new one is a unit below nothing. */
export function Earned({ units, decimals, symbol, isPriced }: EarnedProps) {
  const currency = useCurrency()
  const exact = BigInt(units)
  const isNothing = Math.abs(toNumber(exact, decimals)) < SMALLEST_AMOUNT
  const direction = exact > 0n ? 'up' : 'down'
  const nothing = isPriced ? formatMoney(0, currency) : `0 ${symbol}`
  const earned = isNothing ? nothing : `${exact > 0n ? '+' : ''}${formatAmount(exact, decimals)} ${symbol}`
  return (
    <span
      className={isNothing ? 'fine' : `figure change ${direction}`}
      title={`${formatExactly(exact, decimals)} ${symbol}`}
    >
      {earned} earned
    </span>
  )
}

/** A sum in the chosen currency; a dash where it is not known. */
export function Money({
  value,
  why,
  short = false,
}: {
  value: number | null | undefined
  why?: string
  short?: boolean
}) {
  const currency = useCurrency()
  if (value === null || value === undefined) return <Unknown why={why ?? 'No price is known.'} />
  return <span className="figure">{(short ? formatShortMoney : formatMoney)(value, currency)}</span>
}

/** A change in percent, up or down by its sign, an arrow and a colour. */
export function Change({ percent }: { percent: number | null | undefined }) {
  if (percent === null || percent === undefined) return <Unknown why="The change is not known." />
  // What is written as 0 % goes neither way.
  const direction = percent >= 0.005 ? 'up' : percent <= -0.005 ? 'down' : 'level'
  return (
    <span className={`figure change ${direction}`}>
      <span aria-hidden="true">{direction === 'up' ? '▲' : direction === 'down' ? '▼' : ''}</span>{' '}
      {formatChange(percent)}
    </span>
  )
}

/** A vault's yield a year, and over which time it was measured; "New" where there is none yet. */
export function Yield({ annualYield }: Pick<Vault, 'annualYield'>) {
  if (!annualYield)
    return (
      <span className="chip" title="Its share price has less than a week of history.">
        New
      </span>
    )
  return (
    <span
      className="figure yield"
      title={`Growth of the share price over ${formatDays(annualYield.days)} until ${formatTime(annualYield.to)}, after the vault’s fees.`}
    >
      {annualYield.percent}% <span className="unit">APY</span>
    </span>
  )
}

/** Of which moment something is, where that is not now. */
export function AsOf({ time }: { time: string | number }) {
  return (
    <span className="as-of" title={`As of ${formatTime(time)}; newer figures are not available.`}>
      as of {formatClock(time)}
    </span>
  )
}
