import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  DynamoDBServiceException,
  TransactionCanceledException,
  TransactionInProgressException,
} from '@aws-sdk/client-dynamodb'
import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb'
import * as z from 'zod'
import { isThrottling } from '../lib/aws/dynamo.ts'

/**
 * Milliseconds before a transaction is tried again that may be under way still, or that another one or a want of throughput was in
 * the way of; then it is a failure. They end after more than the five seconds in which DynamoDB finishes what was cut off.
 */
const PAUSES_MS = [50, 100, 200, 400, 800, 1_600, 3_200]

/** The reasons for which DynamoDB cancels what it may do a moment later: TransactionCanceledException in its API reference. */
const PASSING_REASONS: readonly (string | undefined)[] = [
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]

/**
 * Makes all of these writes or none; the index of the first one of which the condition did not hold, where there is one.
 * Nothing is made twice: each try has the same token, by which DynamoDB knows what it has made or is about to make. Throws any
 * other failure, after which all or none may have been made, and at once what kept it from being sent.
 */
export async function transactWrite(
  client: DynamoDBDocumentClient,
  TransactItems: NonNullable<TransactWriteCommandInput['TransactItems']>,
): Promise<number | undefined> {
  const ClientRequestToken = randomUUID()
  for (const pause of [...PAUSES_MS, undefined]) {
    try {
      await client.send(new TransactWriteCommand({ TransactItems, ClientRequestToken }))
      return undefined
    } catch (error) {
      const reasons = error instanceof TransactionCanceledException ? error.CancellationReasons : undefined
      const codes = (reasons ?? []).map(({ Code }) => Code)
      const refused = codes.indexOf('ConditionalCheckFailed')
      if (refused >= 0) return refused
      const mayWorkYet =
        isUncertain(error) || isThrottling(error) || codes.some((code) => PASSING_REASONS.includes(code))
      if (pause === undefined || !mayWorkYet) throw error
      await sleep(pause)
    }
  }
  return undefined
}

/** Whether a try that ended so may have been made, or be made yet. */
function isUncertain(error: unknown): boolean {
  if (error instanceof TransactionInProgressException) return true
  if (error instanceof DynamoDBServiceException && error.$fault === 'client') return false
  return Sent.safeParse(error).success
}

/** The SDK says of what it sent, and of nothing else, how often it did. */
const Sent = z.object({ $metadata: z.object({ attempts: z.number() }) })
