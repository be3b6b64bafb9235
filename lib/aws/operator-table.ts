import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import * as z from 'zod'
import { asPage, pageInput, sharedClient } from './dynamo.ts'
import { createExpressionBuilder } from './expressions.ts'
import type { OperatorDynamo, Page, PageKey } from './requests.ts'
import { parseItem, type RangeOptions } from './table.ts'
import { createTransactingTable, createTransactionClient } from './transactions.ts'

/** Creates the DynamoDB actions of this client, with transactions and scans. Only operators' tools may scan tables. */
export function connectOperator(client: DynamoDBClient): OperatorDynamo {
  return {
    ...createTransactionClient(client),

    async scan({ table, ...options }) {
      return asPage(
        await client.send(new ScanCommand({ TableName: table, ...pageInput(options, createExpressionBuilder()) })),
      )
    },
  }
}

/** Creates a table that can also be scanned. Only operators' tools and the repair of the vault lists scan tables. */
export function createOperatorTable(dynamo: OperatorDynamo, table: string) {
  return {
    ...createTransactingTable(dynamo, table),

    /** Yields all items of the table, page by page. Reads are eventually consistent by default. */
    async *scan<S extends z.ZodType>(schema: S, options: RangeOptions = {}): AsyncGenerator<z.output<S>[]> {
      let after: PageKey | undefined
      do {
        const page: Page = await dynamo.scan({ table, isConsistent: false, ...options, after })
        yield parseItem(z.array(schema), page.items)
        after = page.next
      } while (after)
    },
  }
}
export type OperatorTable = ReturnType<typeof createOperatorTable>

/** Opens a DynamoDB table by its name, with scans, with the shared client of this process. */
export function openOperatorTable(name: string): OperatorTable {
  return createOperatorTable(connectOperator(sharedClient()), name)
}
