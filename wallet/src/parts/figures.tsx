import type { Vault } from '@vaultline/client'
import type { ReactNode } from 'react'
import { useCurrency } from '../context.ts'
import {
  formatAmount,
  formatChange,
  formatClock,
  formatDateTime,
  formatDays,
  formatGroupedAmount,
  formatMoney,
  formatShortAmount,
  formatShortMoney,
  isBelowSmallest,
} from '../format.ts'

/** Shows a dash for an unknown value, with the reason as a tooltip. */
export function UnknownValue({ why }: { why: string }) {
  return (
    <span className="unknown" title={why}>
      –<span className="hidden"> ({why})</span>
    </span>
  )
}

type FigureProps = {
  readonly className: string
  /** Figure with all its digits and its unit; undefined if all are already shown. */
  readonly exact: string | undefined
  readonly children: ReactNode
}

/**
 * Shows a shortened figure. All its digits appear on hover, touch and focus, and screen readers read them. The keyboard can focus the
 * figure, except inside links, buttons and list rows, which open a view with the figure.
 */
function Figure({ className, exact, children }: FigureProps) {
  if (exact === undefined) return <span className={className}>{children}</span>
  return (
    <span className={`${className} cut`} ref={makeTabStop}>
      {children} <span className="exact">exactly {exact}</span>
    </span>
  )
}

function makeTabStop(figure: HTMLElement | null): void {
  if (figure && !figure.closest('a, button, summary, label, li, tr')) figure.tabIndex = 0
}

function exactlyOf(units: bigint, decimals: number, { shown, symbol }: { shown: string; symbol: string }) {
  const exact = formatGroupedAmount(units, decimals)
  return shown === exact ? undefined : `${exact} ${symbol}`
}

type AmountProps = {
  /** Amount in the token's smallest unit; null if unknown. */
  readonly units: string | bigint | null | undefined
  readonly decimals: number
  readonly symbol: string
  /** True to show 1.2M in place of 1,234,567. */
  readonly short?: boolean
  readonly isExact?: boolean
}

/** Shows an amount with its unit. It is cut to the digits of `formatAmount`, unless `isExact` asks for all digits. */
export function Amount({ units, decimals, symbol, short = false, isExact = false }: AmountProps) {
  if (units === null || units === undefined) return <UnknownValue why="The amount cannot be read at the moment." />
  const amount = BigInt(units)
  const format = isExact ? formatGroupedAmount : short ? formatShortAmount : formatAmount
  const shown = format(amount, decimals)
  return (
    <Figure className="figure" exact={exactlyOf(amount, decimals, { shown, symbol })}>
      {shown} <span className="unit">{symbol}</span>
    </Figure>
  )
}

type EarnedProps = {
  readonly units: string
  readonly decimals: number
  readonly symbol: string
  /** True if the token has a price. Earnings of zero are then shown in the currency, otherwise in the token. */
  readonly isPriced: boolean
  /** True if a label beside the amount already says "Earned". */
  readonly isLabelled?: boolean
}

/** Shows a position's earnings as a gain or a loss. A new position can be one unit negative, because vaults round down. */
export function EarnedAmount({ units, decimals, symbol, isPriced, isLabelled = false }: EarnedProps) {
  const currency = useCurrency()
  const amount = BigInt(units)
  if (isBelowSmallest(amount, decimals)) {
    const nothing = isPriced ? formatMoney(0, currency) : `0 ${symbol}`
    return (
      <Figure
        className="fine figure"
        exact={amount === 0n ? undefined : `${formatGroupedAmount(amount, decimals)} ${symbol}`}
      >
        {nothing}
        {!isLabelled && ' earned'}
      </Figure>
    )
  }
  const shown = formatAmount(amount, decimals)
  return (
    <Figure
      className={`figure change ${amount > 0n ? 'up' : 'down'}`}
      exact={exactlyOf(amount, decimals, { shown, symbol })}
    >
      {amount > 0n && '+'}
      {shown} {symbol}
      {!isLabelled && ' earned'}
    </Figure>
  )
}

/** Shows a sum of money in the chosen currency; a dash if it is unknown. */
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
  if (value === null || value === undefined) return <UnknownValue why={why ?? 'No price is known.'} />
  return <span className="figure">{(short ? formatShortMoney : formatMoney)(value, currency)}</span>
}

/** Shows the size of a change in percent, with an arrow and a colour for its direction. */
export function Change({ percent }: { percent: number | null | undefined }) {
  if (percent === null || percent === undefined) return <UnknownValue why="The change is not known." />
  // A change that rounds to 0 % is shown neither as up nor as down.
  const direction = percent >= 0.005 ? 'up' : percent <= -0.005 ? 'down' : 'level'
  return (
    <span className={`figure change ${direction}`}>
      {direction !== 'level' && (
        <>
          <span aria-hidden="true">{direction === 'up' ? '▲' : '▼'}</span>
          <span className="hidden">{direction}</span>{' '}
        </>
      )}
      {formatChange(percent)}
    </span>
  )
}

/** Shows a vault's annual yield, measured over about this many days; "New" if there is none yet. */
export function Yield({ annualYield, days = 7 }: Pick<Vault, 'annualYield'> & { readonly days?: number }) {
  if (!annualYield)
    return (
      <span className="chip" title={`Its share price has less than ${days} days of history.`}>
        New
      </span>
    )
  return (
    <span
      className="figure yield"
      title={`Growth of the share price over ${formatDays(annualYield.days)} until ${formatDateTime(annualYield.to)}, after the vault’s fees.`}
    >
      {annualYield.percent}% <span className="unit">APY</span>
    </span>
  )
}

/** Shows the annual rates that reward campaigns pay on top of a vault's yield, by token. Renders nothing without known campaigns. */
export function CampaignRates({ rewards }: Pick<Vault, 'rewards'>) {
  return (rewards ?? []).map(({ chainId, token, symbol, apr, endsAt }) => (
    <span
      key={`${chainId} ${token}`}
      className="chip"
      title={`A campaign pays it on top of the yield, until ${formatDateTime(endsAt)}.`}
    >
      + {apr !== null && `${apr.toFixed(2)}% `}
      {symbol}
    </span>
  ))
}

/** Names Merkl as the source of reward campaigns, as its terms require (https://developers.merkl.xyz/resources/attribution). */
export function PoweredByMerkl() {
  return (
    <a href="https://app.merkl.xyz" target="_blank" rel="noreferrer">
      Powered by Merkl
    </a>
  )
}

/** Shows the time of outdated data. */
export function DataTime({ time }: { time: string | number }) {
  return (
    <span className="as-of" title={`As of ${formatDateTime(time)}; newer figures are not available.`}>
      {' as of '}
      {formatClock(time)}
    </span>
  )
}
