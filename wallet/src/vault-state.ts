import type { Vault } from '@vaultline/client'
import { formatDuration } from './format.ts'

/** Unusual state of a vault: its tone, a short label, and a sentence that explains it. */
export type VaultStateLabel = { readonly tone: 'warn' | 'bad'; readonly text: string; readonly why: string }

/** Returns a label for a vault's unusual state; undefined for a normal one. */
export function describeVaultState({
  stateAsOf,
  vaultState,
  totalAssets,
  hasChanged,
}: Vault): VaultStateLabel | undefined {
  if (!stateAsOf) return { tone: 'bad', text: 'Unreachable', why: 'Its chain could not be read yet.' }
  if (stateAsOf.stale) return { tone: 'warn', text: 'Last known', why: 'Its chain cannot be read at the moment.' }
  if (vaultState?.paused)
    return { tone: 'bad', text: 'Paused', why: 'It takes no deposits and pays no withdrawals now.' }
  if (hasChanged)
    return { tone: 'bad', text: 'Being checked', why: 'It has changed: deposits are on hold until it is checked.' }
  if (totalAssets === null || (vaultState?.missing.length ?? 0) > 0) {
    return { tone: 'warn', text: 'Partly known', why: 'Not all of its state could be read.' }
  }
  return undefined
}

/** Texts for the ways to deposit into a vault or to withdraw from it. */
export const WAYS = {
  instant: 'Instant',
  request: 'After settlement',
  cooldown: 'After a cooldown',
  none: 'Not possible now',
} as const satisfies Record<Vault['terms']['exit'], string>

type Terms = Vault['terms']

/** Describes a way to deposit or to withdraw, such as "After settlement", with its usual time if known. */
export function describeWay(way: Terms['exit'], { settlement, cooldownSeconds }: Terms): string {
  if (way === 'request' && settlement) return `${WAYS[way]}, usually ${formatDuration(settlement.medianSeconds * 1000)}`
  if (way === 'cooldown' && cooldownSeconds !== null) return `Cooldown of ${formatDuration(cooldownSeconds * 1000)}`
  return WAYS[way]
}

/** Text for a vault whose chain cannot be read now. */
export const UNREAD_CHAIN_TEXT = 'The chain cannot be read at the moment.'

/** Returns the reason why the vault's term `name` is unknown; undefined for a known term. A term with the value null is known too. */
export function explainUnknownTerm(
  { terms, stateAsOf }: Pick<Vault, 'terms' | 'stateAsOf'>,
  name: string,
): string | undefined {
  if (!terms.missing.includes(name)) return undefined
  return stateAsOf?.stale === false ? 'The vault does not report it.' : UNREAD_CHAIN_TEXT
}

/** Sort orders of vaults: highest figure first, names from A to Z. */
export type VaultSortOrder = 'yield' | 'total' | 'name'

type Sortable = { readonly name: string; readonly annualYield: { readonly percent: string } | null }

/** Sorts vaults; unknown figures come last, in either direction. `totalOf` returns a vault's total in one currency. */
export function sortVaults<V extends Sortable>(
  vaults: readonly V[],
  order: VaultSortOrder,
  { isReversed, totalOf }: { readonly isReversed: boolean; readonly totalOf: (vault: V) => number | null },
): readonly V[] {
  const direction = isReversed ? -1 : 1
  const byName = (left: V, right: V) => left.name.localeCompare(right.name)
  if (order === 'name') return vaults.toSorted((left, right) => direction * byName(left, right))
  const figureOf = (vault: V) =>
    order === 'total' ? totalOf(vault) : vault.annualYield && Number(vault.annualYield.percent)
  return vaults.toSorted((left, right) => {
    const [one, other] = [figureOf(left), figureOf(right)]
    if (one === null || other === null) return Number(one === null) - Number(other === null) || byName(left, right)
    return direction * (other - one) || byName(left, right)
  })
}

/** Returns true if an account may have an open request in a vault with this protocol. */
export function canHaveRequests({ protocol }: Pick<Vault, 'protocol'>): boolean {
  // Only the protocol counts: the vault's present terms may be instant while earlier requests still wait.
  return protocol !== 'erc4626'
}

/** Text after the percentage of each fee, as in "0.5% to deposit": the operation or the sum from which the fee is taken. */
const FEES = {
  entry: 'to deposit',
  exit: 'to withdraw',
  haircut: 'to withdraw instantly',
  performance: 'of profit',
  management: 'a year',
} as const satisfies Record<keyof Terms['fees'], string>

/** Formats the fees of a vault as percentages; undefined if it reports none. */
export function formatFees(fees: Terms['fees']): string | undefined {
  // The cast is safe because the object has no other keys.
  const names = Object.keys(FEES) as (keyof Terms['fees'])[]
  const knownNames = names.filter((name) => fees[name] !== null)
  const isComplete = knownNames.length === names.length
  const said = knownNames.filter((name) => !isComplete || fees[name] !== '0.00')
  const text = said.map((name) => `${Number(fees[name])}% ${FEES[name]}`).join(', ')
  if (isComplete) return text || 'None'
  return text ? `${text}; others are not reported` : undefined
}

/** Text for a vault from which nothing can be withdrawn now. */
export const NO_EXIT_TEXT = 'Money in this vault cannot be withdrawn at the moment.'
