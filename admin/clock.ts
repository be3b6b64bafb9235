import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import * as z from 'zod'

/** Answers tell whole seconds, and take a while. */
const TOLERATED_MS = 5_000

const Answer = z.object({ headers: z.object({ date: z.string().transform(Date.parse).pipe(z.number()) }) })

/**
 * A clock for what is compared with functions' clocks, as leases are, in epoch milliseconds: this computer's, set by the `Date` of
 * the client's answers where it differs from that by more than five seconds.
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
