import { CallFailure } from '@vaultline/client'
import { isRejection } from '@vaultline/client/flow'
import { type AmountTokens, messageForUser } from '@vaultline/client/messages'

/** What went wrong, for the user. */
export type Problem = {
  readonly text: string
  /** Names the request to whoever helps. */
  readonly requestId?: string | undefined
}

/**
 * A failure in the user's words, with the amount that works in `tokens` where it tells one. What came from neither the service
 * nor the browser is said as it is.
 */
export function describeProblem(error: unknown, tokens?: AmountTokens): Problem {
  if (error instanceof CallFailure) {
    return { text: messageForUser(error.error, tokens), requestId: error.error.requestId }
  }
  const { name, message } = error instanceof Error ? error : { name: '', message: String(error) }
  if (name === 'NotAllowedError') return { text: 'The passkey was not used. Try again when you are ready.' }
  if (isBusy(error)) return { text: 'Your wallet has a request open already. Answer it there first.' }
  if (isRejection(error)) return { text: 'You declined in your wallet.' }
  return { text: message.split('\n')[0] ?? message }
}

/** Whether the same call can succeed a little later. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof CallFailure)) return false
  const { status, code } = error.error
  return code === 'network' || status === 429 || status >= 500
}

/** Whether the wallet shows another request already (MetaMask's -32002), itself or in what caused it. */
function isBusy(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return ('code' in error && error.code === -32002) || isBusy(error.cause)
}

/** Why a part of an answer is missing, as the service says it, in words for the user. */
export function describeReason(why: string): string {
  const text = why === 'Upstream unavailable' ? 'It cannot be read at the moment' : why
  return text.endsWith('.') ? text : `${text}.`
}

/** Whether a status was asked of a side on which the vault has no requests. */
export function isNotApplicable(error: Error): boolean {
  return error instanceof CallFailure && error.error.code.endsWith('_status_not_applicable')
}
