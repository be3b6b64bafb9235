import type { Failure } from './operation.ts'
import { TEXTS } from './texts.ts'

/** What to tell the user of an error, in English: one or two sentences, and what they can do. */
export function messageForUser({ code, requestId, retryAfterMs }: Failure['error']): string {
  const text = TEXTS[code] ?? `Something went wrong.${requestId ? ` (${requestId})` : ''}`
  return text.replace('{minutes} minutes', describeWait(retryAfterMs))
}

function describeWait(ms: number | undefined): string {
  if (ms === undefined) return 'a while'
  const minutes = Math.ceil(ms / 60_000)
  return minutes <= 1 ? 'a minute' : `${minutes} minutes`
}
