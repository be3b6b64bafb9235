import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type DynamoDBClient,
  DynamoDBServiceException,
  ScanCommand,
  TransactionCanceledException,
  TransactionInProgressException,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import * as z from 'zod'
import {
  asPage,
  attributesOf,
  conditionInput,
  connect,
  isThrottling,
  pageInput,
  stored,
  updateInput,
} from './dynamo.ts'
import { placeholders } from './expressions.ts'
import type { OperatorDynamo, Page, PageKey, Write } from './requests.ts'
import { createTable, type RangeOptions } from './table.ts'

/** Milliseconds before a transaction is tried again: longer together than the 5 s in which DynamoDB ends one that was cut off. */
const TRANSACTION_PAUSES_MS = [50, 100, 200, 400, 800, 1_600, 3_200]

/** DynamoDB by way of this client, for operators. */
export function connectOperator(client: DynamoDBClient): OperatorDynamo {
  return {
    ...connect(client),

    async scan({ table, ...options }) {
      return asPage(await client.send(new ScanCommand({ TableName: table, ...pageInput(options, placeholders()) })))
    },

    async transactWriteItems({ table, writes, token }) {
      const input = { TransactItems: writes.map((write) => asTransactItem(table, write)), ClientRequestToken: token }
      try {
        await client.send(new TransactWriteItemsCommand(input))
        return { isMade: true }
      } catch (error) {
        const reasons = error instanceof TransactionCanceledException ? error.CancellationReasons : undefined
        const codes = (reasons ?? []).map(({ Code }) => Code)
        const refusedAt = codes.indexOf('ConditionalCheckFailed')
        if (refusedAt >= 0) return { refusedAt }
        if (isUncertain(error) || codes.some((code) => PASSING_REASONS.includes(code)))
          return { isUncertain: true, error }
        throw error
      }
    },
  }
}

/** A table as operators use it: they read it whole, and write several items at once. */
export function createOperatorTable(dynamo: OperatorDynamo, table: string) {
  return {
    ...createTable(dynamo, table),

    /** All items of the table, page by page, not consistently unless told. */
    async *scan<S extends z.ZodType>(schema: S, options: RangeOptions = {}): AsyncGenerator<z.output<S>[]> {
      let after: PageKey | undefined
      do {
        const page: Page = await dynamo.scan({ table, isConsistent: false, ...options, after })
        yield z.array(schema).parse(page.items)
        after = page.next
      } while (after)
    },

    /**
     * Makes all of these writes or none; returns the index of the first write whose condition did not hold. Nothing is made twice:
     * each try has the same token. Throws any other failure, after which all or none may have been made.
     */
    async transact(writes: readonly Write[]): Promise<number | undefined> {
      const token = randomUUID()
      for (const pause of [...TRANSACTION_PAUSES_MS, undefined]) {
        const outcome = await dynamo.transactWriteItems({ table, writes, token })
        if ('isMade' in outcome) return undefined
        if ('refusedAt' in outcome) return outcome.refusedAt
        if (pause === undefined) throw outcome.error
        await sleep(pause)
      }
      return undefined
    },
  }
}
/** A table, as operators use it. */
export type OperatorTable = ReturnType<typeof createOperatorTable>

function asTransactItem(TableName: string, write: Write) {
  if ('put' in write) return { Put: { TableName, Item: stored(write.put), ...conditionInput(write.when) } }
  if ('update' in write) return { Update: { TableName, ...updateInput(write) } }
  if ('delete' in write) return { Delete: { TableName, Key: stored(write.delete), ...conditionInput(write.when) } }
  const expressions = placeholders()
  const ConditionExpression = expressions.condition(write.when)
  return { ConditionCheck: { TableName, Key: stored(write.check), ConditionExpression, ...attributesOf(expressions) } }
}

/** Cancellation reasons that a retry may clear. Source: TransactionCanceledException in DynamoDB's API reference. */
const PASSING_REASONS: readonly (string | undefined)[] = [
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]

/** True if the transaction may have succeeded, or a retry may succeed. */
function isUncertain(error: unknown): boolean {
  if (error instanceof TransactionInProgressException || isThrottling(error)) return true
  if (error instanceof DynamoDBServiceException && error.$fault === 'client') return false
  return Sent.safeParse(error).success
}

/** The SDK counts its tries of what it sent, and of nothing else. */
const Sent = z.object({ $metadata: z.object({ attempts: z.number() }) })
