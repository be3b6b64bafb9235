import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import * as z from 'zod'
import { asPage, pageInput, sharedClient } from './dynamo.ts'
import { placeholders } from './expressions.ts'
import type { OperatorDynamo, Page, PageKey } from './requests.ts'
import { parseItem, type RangeOptions } from './table.ts'
import { createTransactingTable, createTransactionClient } from './transactions.ts'

/** Returns DynamoDB over this client, for operators. */
export function connectOperator(client: DynamoDBClient): OperatorDynamo {
  return {
    ...createTransactionClient(client),

    async scan({ table, ...options }) {
      return asPage(await client.send(new ScanCommand({ TableName: table, ...pageInput(options, placeholders()) })))
    },
  }
}

/** Creates a table that can be read whole, for operators and the job that lists vaults. */
export function createOperatorTable(dynamo: OperatorDynamo, table: string) {
  return {
    ...createTransactingTable(dynamo, table),

    /** Yields all items of the table, page by page. Reads are not consistent by default. */
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
/** A table for operators. */
export type OperatorTable = ReturnType<typeof createOperatorTable>

/** Opens the table with this name in the process's DynamoDB, to be read whole. */
export function openOperatorTable(name: string): OperatorTable {
  return createOperatorTable(connectOperator(sharedClient()), name)
}
