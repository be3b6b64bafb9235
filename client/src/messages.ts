import { type AmountToken, formatAmount } from './amounts.ts'
import type { ErrorDetail, Failure } from './operation.ts'
import { TEXTS } from './texts.ts'

export type { AmountToken }

/** Tokens in which the text for an error states amounts: `amount` is the token that is sent or paid, `shares` the vault's share token. */
export type AmountTokens = { readonly amount?: AmountToken | undefined; readonly shares?: AmountToken | undefined }

/**
 * Returns an error's text for the user, in English: one or two sentences that say what to do next. With `tokens`, the text includes the
 * smallest or largest valid amount if the error has one. The text is empty for `aborted`, because the user has left.
 */
export function messageForUser(error: Failure['error'], tokens: AmountTokens = {}): string {
  const { code, requestId, retryAfterMs, details } = error
  if (code === 'aborted') return ''
  const template = Object.hasOwn(TEXTS, code) ? TEXTS[code] : undefined
  const text = template ?? `Something went wrong.${requestId ? ` (${requestId})` : ''}`
  const isOutOfTime = 'reason' in error && error.reason === 'not_in_time'
  const offers = details.map((detail) => describeOffer(detail, tokens))
  return [text.replace('{minutes} minutes', describeWait(retryAfterMs)), ...offers, isOutOfTime && CLOCK]
    .filter(Boolean)
    .join(' ')
}

const CLOCK = 'Check the date and time of your device.'

function describeWait(ms: number | undefined): string {
  if (ms === undefined) return 'a while'
  const seconds = Math.max(1, Math.ceil(ms / 1000))
  if (seconds <= 60) return seconds === 1 ? 'a second' : `${seconds} seconds`
  return `${Math.ceil(seconds / 60)} minutes`
}

function describeOffer({ field, atLeast, atMost }: ErrorDetail, { amount, shares }: AmountTokens): string | undefined {
  const token = field === 'amount' ? amount : field === 'shares' ? shares : undefined
  if (!token) return undefined
  if (atLeast !== undefined) return `Send at least ${formatAmount(BigInt(atLeast), token, 'up', DIGITS)}.`
  return atMost === undefined ? undefined : `At most ${formatAmount(BigInt(atMost), token, 'down', DIGITS)}.`
}

const DIGITS = 3
