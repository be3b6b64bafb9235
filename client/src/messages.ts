import type { Failure } from './operation.ts'
import { TEXTS } from './texts.ts'

/** What to tell the user of an error, in English: one or two sentences, and what they can do. */
export function messageForUser({ code, requestId, retryAfterMs }: Failure['error']): string {
  const text = TEXTS[code] ?? `Something went wrong.${requestId ? ` (${requestId})` : ''}`
  return text.replace('{minutes}', `${Math.max(1, Math.ceil((retryAfterMs ?? 0) / 60_000))}`)
}
