import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import * as z from 'zod'

/** Date headers have whole seconds, and responses take a while. */
const TOLERATED_MS = 5_000

const Answer = z.object({ headers: z.object({ date: z.string().transform(Date.parse).pipe(z.number()) }) })

/**
 * Returns a clock for comparison with the functions' clocks, for example for leases, in epoch milliseconds. It is this computer's clock. If
 * the `Date` of the client's responses differs by more than five seconds, it follows that.
 */
export function clockOf(client: DynamoDBClient, now: () => number): () => number {
  let ahead = 0
  client.middlewareStack.add(
    (next) => async (args) => {
      const answered = await next(args)
      const { data: answer } = Answer.safeParse(answered.response)
      const difference = answer ? answer.headers.date - now() : ahead
      if (Math.abs(difference - ahead) > TOLERATED_MS) ahead = difference
      return answered
    },
    { step: 'deserialize', priority: 'high' },
  )
  return () => now() + ahead
}
