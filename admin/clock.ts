import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import * as z from 'zod'

/** Milliseconds by which this computer's clock may differ from `Date` headers, which have whole seconds and arrive with a delay. */
const TOLERATED_MS = 5_000

const Answer = z.object({ headers: z.object({ date: z.string().transform(Date.parse).pipe(z.number()) }) })

/**
 * Returns a clock in epoch milliseconds whose times are comparable with those of Lambda functions, for example for leases. The clock
 * returns this computer's time. If that differs by more than five seconds from the `Date` headers of DynamoDB's responses, the clock
 * returns DynamoDB's time.
 */
export function createServerClock(client: DynamoDBClient, now: () => number): () => number {
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
