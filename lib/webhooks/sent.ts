import * as z from 'zod'

/** Why a delivery failed. */
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

/** What came of a delivery; `retryAfterMs` is what the server asked for. */
export type Sent =
  | { readonly delivered: true; readonly status: number }
  | {
      readonly delivered: false
      readonly reason: SendFailure
      readonly status?: number
      readonly retryAfterMs?: number
    }
