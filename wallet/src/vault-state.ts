import type { Vault } from '@vaultline/client'

/** How a vault is, in a word, and why. */
export type VaultStateLabel = { readonly tone: 'good' | 'warn' | 'bad'; readonly text: string; readonly why: string }

/** What a vault's live state means to who looks at it. */
export function stateOf({ stateAsOf, vaultState, totalAssets, hasChanged }: Vault): VaultStateLabel {
  if (!stateAsOf) return { tone: 'bad', text: 'Unreachable', why: 'Its chain could not be read yet.' }
  if (stateAsOf.stale) return { tone: 'warn', text: 'Last known', why: 'Its chain cannot be read at the moment.' }
  if (vaultState?.paused)
    return { tone: 'bad', text: 'Paused', why: 'It takes no deposits and pays no withdrawals now.' }
  if (hasChanged)
    return { tone: 'bad', text: 'Being checked', why: 'It has changed: deposits are on hold until it is checked.' }
  if (totalAssets === null || (vaultState?.missing.length ?? 0) > 0) {
    return { tone: 'warn', text: 'Partly known', why: 'Not all of its state could be read.' }
  }
  return { tone: 'good', text: 'Open', why: 'It was read at the latest block.' }
}

/** How money gets into a vault or out of it, in words. */
export const WAYS = {
  instant: 'Instant',
  request: 'After settlement',
  cooldown: 'After a cooldown',
  none: 'Not possible',
} as const satisfies Record<Vault['terms']['exit'], string>

/** Whether an account may have something in a vault that waits. */
export function mayWait({ protocol }: Pick<Vault, 'protocol'>): boolean {
  // What a vault does now says nothing of earlier requests.
  return protocol !== 'erc4626'
}

type Fees = Vault['terms']['fees']

/** What each fee is taken of. */
const FEES = {
  management: 'a year',
  performance: 'of profits',
  entry: 'of deposits',
  exit: 'of withdrawals',
  haircut: 'of instant withdrawals',
} as const satisfies Record<keyof Fees, string>

/** Says the fees of a vault, and whether it reports all of them; undefined if it reports none. */
export function feesOf(fees: Fees): string | undefined {
  // An object has no other keys than its own.
  const names = Object.keys(FEES) as (keyof Fees)[]
  const known = names.filter((name) => fees[name] !== null)
  const isComplete = known.length === names.length
  const said = known.filter((name) => !isComplete || fees[name] !== '0.00')
  const text = said.map((name) => `${fees[name]} % ${FEES[name]}`).join(', ')
  if (isComplete) return text || 'None'
  return text ? `${text}; others are not reported` : undefined
}

/** Says that a vault pays no withdrawals now. */
export const NO_EXIT = 'Money in this vault cannot be withdrawn at the moment.'
