import * as z from 'zod'

/** Reason of a failed delivery. */
export const SendFailure = z.enum([
  'not_allowed',
  'unresolved',
  'connection',
  'tls',
  'timeout',
  'redirect',
  'status',
  'bad_answer',
])
export type SendFailure = z.output<typeof SendFailure>

/** Outcome of a delivery. `retryAfterMs` is the pause, in milliseconds, that the server requests. */
export type SendResult =
  | { readonly delivered: true; readonly status: number }
  | {
      readonly delivered: false
      readonly reason: SendFailure
      readonly status?: number
      readonly retryAfterMs?: number
    }
