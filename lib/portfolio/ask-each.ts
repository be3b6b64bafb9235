import { AppError } from '../core/errors.ts'
import { type Result, toResult } from '../core/result.ts'
import { runConcurrently } from '../core/side-by-side.ts'
import type { PayFor } from '../meter/meter.ts'

/** Milliseconds for all requests together. The API request has 10 s, and its reads and writes of tables need the rest. */
const LIMIT_MS = 7_000

/** Request for the tokens or NFTs of a wallet on a chain. `asOf` is the time of the last response if there is one. */
type Question = { readonly asOf: Date | undefined }

/**
 * Pays for requests and sends them. If the caller's budget is too small for all, it pays for the oldest half, and so
 * on. A request that is not paid for has the error `too_many_requests`.
 */
export async function fetchPaid<Q extends Question, T>(
  questions: readonly Q[],
  { unitsOf, payFor }: { readonly unitsOf: (question: Q) => number; readonly payFor: PayFor },
  ask: (question: Q) => Promise<T>,
): Promise<(Q & { readonly result: Result<T> })[]> {
  const oldestFirst = questions.toSorted((one, other) => (one.asOf?.getTime() ?? 0) - (other.asOf?.getTime() ?? 0))
  let refused: Result<T> | undefined
  let count = questions.length
  for (; count > 0; count = Math.floor(count / 2)) {
    const units = oldestFirst.slice(0, count).reduce((sum, question) => sum + unitsOf(question), 0)
    const paid = await toResult(payFor(units).pay())
    if (!('error' in paid)) break
    refused = paid
  }
  const outcomes = await fetchWithinDeadline(oldestFirst.slice(0, count), ask)
  const unpaid = oldestFirst.slice(count)
  return [...outcomes, ...unpaid.flatMap((question) => (refused ? [{ ...question, result: refused }] : []))]
}

/**
 * Sends requests, eight at a time. Alchemy's paid plan allows that many NFT requests (10,000 compute units per second).
 * After 7 s the running requests fail with `upstream_timeout`, and the remaining ones are not sent.
 */
async function fetchWithinDeadline<Question, T>(
  questions: readonly Question[],
  ask: (question: Question) => Promise<T>,
): Promise<(Question & { readonly result: Result<T> })[]> {
  const tooLate: Result<T> = { error: new AppError('upstream_timeout') }
  const late = Promise.withResolvers<Result<T>>()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    late.resolve(tooLate)
  }, LIMIT_MS)
  try {
    return await runConcurrently(questions, async (question) => {
      const result = isLate ? tooLate : await Promise.race([toResult(ask(question)), late.promise])
      return { ...question, result }
    })
  } finally {
    clearTimeout(timer)
  }
}
