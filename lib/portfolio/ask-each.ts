import { AppError } from '../core/errors.ts'
import { type Result, toResult } from '../core/result.ts'
import { runConcurrently } from '../core/side-by-side.ts'

/** Milliseconds for all requests together. The API request has 10 s, and its reads and writes of tables need the rest. */
const LIMIT_MS = 7_000

/**
 * Sends requests, eight at a time. Alchemy's paid plan allows that many NFT requests (10,000 compute units per second).
 * After 7 s the running requests fail with `upstream_timeout`, and the remaining ones are not sent.
 */
export async function fetchWithinDeadline<Question, T>(
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
