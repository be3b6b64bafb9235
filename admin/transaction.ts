import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { TransactionCanceledException } from '@aws-sdk/client-dynamodb'
import {
  type DynamoDBDocumentClient,
  TransactWriteCommand,
  type TransactWriteCommandInput,
} from '@aws-sdk/lib-dynamodb'

/** Milliseconds before a transaction that another one was in the way of is tried again; then it is a failure. */
const PAUSES_MS = [50, 100, 200, 400, 800, 1_600]

/**
 * Makes all of these writes or none; the index of the first one of which the condition did not hold, where there is one.
 * Nothing is made twice: each try has the same token, by which DynamoDB knows what it has made or is about to make, and the SDK
 * asks again while that is under way (TransactionInProgressException). Throws any other failure.
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
      if (!(error instanceof TransactionCanceledException)) throw error
      const codes = (error.CancellationReasons ?? []).map(({ Code }) => Code)
      const refused = codes.indexOf('ConditionalCheckFailed')
      if (refused >= 0) return refused
      if (pause === undefined || !codes.includes('TransactionConflict')) throw error
      await sleep(pause)
    }
  }
  return undefined
}
