import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type DynamoDBClient,
  DynamoDBServiceException,
  TransactionCanceledException,
  TransactionInProgressException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import * as z from 'zod'
import { inBatches } from '../core/batches.ts'
import { runConcurrently } from '../core/side-by-side.ts'
import type { Condition } from './conditions.ts'
import {
  attributesOf,
  conditionInput,
  createDynamo,
  isThrottling,
  sharedClient,
  toAttributes,
  updateInput,
} from './dynamo.ts'
import { createExpressionBuilder } from './expressions.ts'
import type { Item, TransactingDynamo, Write } from './requests.ts'
import { createTable } from './table.ts'

/** Milliseconds before each retry of a transaction. In total they exceed the 5 s within which DynamoDB ends an interrupted transaction. */
const TRANSACTION_PAUSES_MS = [50, 100, 200, 400, 800, 1_600, 3_200]
/**
 * Maximum number of conditional writes in one transaction of `putEach`. If one condition is false, DynamoDB rejects the
 * whole transaction, so the other writes are retried.
 */
const PUTS = 25

/** Creates the DynamoDB actions of this client, with transactions. */
export function createTransactionClient(client: DynamoDBClient): TransactingDynamo {
  return {
    ...createDynamo(client),

    async transactWriteItems({ table, writes, token }) {
      const input = { TransactItems: writes.map((write) => asTransactItem(table, write)), ClientRequestToken: token }
      try {
        await client.send(new TransactWriteItemsCommand(input))
        return { isMade: true }
      } catch (error) {
        const reasons = error instanceof TransactionCanceledException ? error.CancellationReasons : undefined
        const codes = (reasons ?? []).map(({ Code }) => Code)
        const refusedAt = codes.flatMap((code, index) => (code === 'ConditionalCheckFailed' ? [index] : []))
        if (refusedAt.length > 0) return { refusedAt }
        if (isUncertain(error) || codes.some((code) => PASSING_REASONS.includes(code)))
          return { isUncertain: true, error }
        throw error
      }
    },
  }
}

/** Creates the functions that read and write an existing DynamoDB table, including writes in transactions. */
export function createTransactingTable(dynamo: TransactingDynamo, table: string) {
  async function makeAll(writes: readonly Write[]): Promise<readonly number[]> {
    const token = randomUUID()
    for (const pause of [...TRANSACTION_PAUSES_MS, undefined]) {
      const outcome = await dynamo.transactWriteItems({ table, writes, token })
      if ('isMade' in outcome) return []
      if ('refusedAt' in outcome) return outcome.refusedAt
      if (pause === undefined) throw outcome.error
      await sleep(pause)
    }
    return []
  }

  return {
    ...createTable(dynamo, table),

    /**
     * Writes each item whose condition is true. Returns the items whose condition is false. Each transaction has 25
     * items, and eight transactions run concurrently. DynamoDB charges two write units per KB. A failure may leave some
     * items written.
     */
    async putEach<Put extends { readonly put: Item; readonly when: Condition }>(puts: readonly Put[]): Promise<Put[]> {
      const refused: Put[] = []
      await runConcurrently(inBatches(puts, PUTS), async (batch) => {
        for (let left = batch; left.length > 0; ) {
          const refusedAt = new Set(await makeAll(left.map(({ put, when }) => ({ put, when }))))
          if (refusedAt.size === 0) return
          refused.push(...left.filter((_, index) => refusedAt.has(index)))
          left = left.filter((_, index) => !refusedAt.has(index))
        }
      })
      return refused
    },

    /**
     * Makes all of these writes or none, and never twice. Returns the indexes of the writes whose condition is false.
     * Throws after any other failure. It is then unknown if all or none of the writes were made.
     */
    transact: makeAll,
  }
}
export type TransactingTable = ReturnType<typeof createTransactingTable>

/** Opens a DynamoDB table by its name, with transactions, with the shared client of this process. */
export function openTransactingTable(name: string): TransactingTable {
  return createTransactingTable(createTransactionClient(sharedClient()), name)
}

function asTransactItem(TableName: string, write: Write) {
  if ('put' in write) return { Put: { TableName, Item: toAttributes(write.put), ...conditionInput(write.when) } }
  if ('update' in write) return { Update: { TableName, ...updateInput(write) } }
  if ('delete' in write)
    return { Delete: { TableName, Key: toAttributes(write.delete), ...conditionInput(write.when) } }
  const expressions = createExpressionBuilder()
  const ConditionExpression = expressions.condition(write.when)
  return {
    ConditionCheck: { TableName, Key: toAttributes(write.check), ConditionExpression, ...attributesOf(expressions) },
  }
}

/** Reasons for a cancelled transaction that may disappear with a retry (TransactionCanceledException in DynamoDB's API reference). */
const PASSING_REASONS: readonly (string | undefined)[] = [
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]

/** Returns true if the transaction that failed with this error may have been made, or if a retry may succeed. */
function isUncertain(error: unknown): boolean {
  if (error instanceof TransactionInProgressException || isThrottling(error)) return true
  if (error instanceof DynamoDBServiceException && error.$fault === 'client') return false
  return Sent.safeParse(error).success
}

/** Error of a request that the SDK has sent. The SDK sets a number of attempts only on such errors. */
const Sent = z.object({ $metadata: z.object({ attempts: z.number() }) })
