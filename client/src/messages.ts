import type { ErrorDetail, Failure } from './operation.ts'
import { TEXTS } from './texts.ts'

/** What an amount is counted in: how users know it, and how many decimals it has. */
export type AmountToken = { readonly symbol: string; readonly decimals: number }

/** What the fields of a request count: the token that is sent or paid, and the vault's shares. */
export type AmountTokens = { readonly amount?: AmountToken | undefined; readonly shares?: AmountToken | undefined }

/**
 * What to tell the user of an error, in English: one or two sentences, and what they can do. With the `tokens` of the request
 * it says the amount that works too, where the error tells one.
 */
export function messageForUser(error: Failure['error'], tokens: AmountTokens = {}): string {
  const { code, requestId, retryAfterMs, details } = error
  const text = TEXTS[code] ?? `Something went wrong.${requestId ? ` (${requestId})` : ''}`
  const offers = details.map((detail) => describeOffer(detail, tokens))
  return [text.replace('{minutes} minutes', describeWait(retryAfterMs)), ...offers.filter(Boolean)].join(' ')
}

function describeWait(ms: number | undefined): string {
  if (ms === undefined) return 'a while'
  const minutes = Math.ceil(ms / 60_000)
  return minutes <= 1 ? 'a minute' : `${minutes} minutes`
}

function describeOffer({ field, atLeast, atMost }: ErrorDetail, { amount, shares }: AmountTokens): string | undefined {
  const token = field === 'amount' ? amount : field === 'shares' ? shares : undefined
  if (!token) return undefined
  if (atLeast !== undefined) return `Send at least ${formatTold(BigInt(atLeast), token, 'up')}.`
  return atMost === undefined ? undefined : `At most ${formatTold(BigInt(atMost), token, 'down')}.`
}

/** So many digits of an amount are written, where two decimals are fewer. */
const DIGITS = 3

/** An amount in whole tokens, rounded the way in which it still works. */
function formatTold(units: bigint, { symbol, decimals }: AmountToken, way: 'up' | 'down'): string {
  const places = Math.min(decimals, Math.max(2, decimals - `${units}`.length + DIGITS))
  const step = 10n ** BigInt(decimals - places)
  const rounded = (way === 'up' ? units + step - 1n : units) / step
  const one = 10n ** BigInt(places)
  const fraction = `${rounded % one}`.padStart(places, '0').replace(/0+$/, '')
  return `${(rounded / one).toLocaleString('en-US')}${places > 0 && fraction ? `.${fraction}` : ''} ${symbol}`
}
