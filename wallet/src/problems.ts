import { CallFailure } from '@vaultline/client'
import { isRejection } from '@vaultline/client/flow'
import { type AmountTokens, messageForUser } from '@vaultline/client/messages'

/** Error code of MetaMask while it already shows another request. */
const BUSY = -32002

type Problem = {
  readonly text: string
  /** Id of the request, which the user can give to support. */
  readonly requestId?: string | undefined
}

/**
 * Describes an error in words for the user. Some API errors name a valid amount; the text shows this amount only with
 * its token in `tokens`. An error of unknown origin keeps the first line of its message.
 */
export function describeProblem(error: unknown, tokens?: AmountTokens): Problem {
  if (error instanceof CallFailure) {
    return { text: messageForUser(error.error, tokens), requestId: error.error.requestId }
  }
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) }
  if (name === 'NotAllowedError') return { text: 'The passkey was not used. Try again when you are ready.' }
  if (name === 'InvalidStateError') {
    return { text: 'This device already has a passkey of your account. Use another device or a security key.' }
  }
  if (name === 'OperationError') {
    return { text: 'This recovery kit does not fit. Check the e-mail address and the kit: only the newest one works.' }
  }
  if (hasCode(error, BUSY)) return { text: 'Your wallet has a request open already. Answer it there first.' }
  if (isRejection(error)) return { text: 'You declined in your wallet.' }
  return { text: message.split('\n')[0] ?? message }
}

/** Returns true if the same call can succeed a little later. */
export function isTemporary(error: unknown): boolean {
  if (!(error instanceof CallFailure)) return false
  const { status, code } = error.error
  return code === 'network' || status === 429 || status >= 500
}

const PAUSE_MS = 5000

/** Returns the milliseconds to wait before the same call, at least as long as the service requests. Undefined for a permanent error. */
export function computeRetryPause(error: unknown): number | undefined {
  if (!isTemporary(error)) return undefined
  return Math.max(PAUSE_MS, (error instanceof CallFailure && error.error.retryAfterMs) || 0)
}

/** Returns true if two calls failed for the same reason, so that a page shows the reason only once. */
export function isSameFailure(one: unknown, other: unknown): boolean {
  return one instanceof CallFailure && other instanceof CallFailure && one.error.code === other.error.code
}

/** Returns true if an error, or one of the errors that caused it, has this code. */
export function hasCode(error: unknown, code: number): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && error.code === code) || hasCode(error.cause, code)
}

/** Turns the service's reason for missing data into words for the user. */
export function describeReason(why: string): string {
  const text = why === 'Upstream unavailable' ? 'It cannot be read at the moment' : why
  return text.endsWith('.') ? text : `${text}.`
}

/** Returns true if the error means that the vault has no requests of this kind. */
export function isNotApplicable(error: Error): boolean {
  return error instanceof CallFailure && error.error.code.endsWith('_status_not_applicable')
}
