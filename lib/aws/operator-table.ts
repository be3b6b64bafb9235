import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import * as z from 'zod'
import { asPage, pageInput } from './dynamo.ts'
import { placeholders } from './expressions.ts'
import type { OperatorDynamo, Page, PageKey } from './requests.ts'
import type { RangeOptions } from './table.ts'
import { connectTransacting, createTransactingTable } from './transactions.ts'

/** DynamoDB by way of this client, for operators. */
export function connectOperator(client: DynamoDBClient): OperatorDynamo {
  return {
    ...connectTransacting(client),

    async scan({ table, ...options }) {
      return asPage(await client.send(new ScanCommand({ TableName: table, ...pageInput(options, placeholders()) })))
    },
  }
}

/** A table as operators use it: they read it whole. */
export function createOperatorTable(dynamo: OperatorDynamo, table: string) {
  return {
    ...createTransactingTable(dynamo, table),

    /** All items of the table, page by page, not consistently unless told. */
    async *scan<S extends z.ZodType>(schema: S, options: RangeOptions = {}): AsyncGenerator<z.output<S>[]> {
      let after: PageKey | undefined
      do {
        const page: Page = await dynamo.scan({ table, isConsistent: false, ...options, after })
        yield z.array(schema).parse(page.items)
        after = page.next
      } while (after)
    },
  }
}
/** A table, as operators use it. */
export type OperatorTable = ReturnType<typeof createOperatorTable>
