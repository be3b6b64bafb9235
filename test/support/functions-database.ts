import { vi } from 'vitest'
import type { OperatorDynamo } from '../../lib/aws/requests.ts'

// The service's functions use the in-memory database of a test that sets `functionsDatabase`. In all other tests they connect
// to DynamoDB over HTTP.
declare global {
  var functionsDatabase: OperatorDynamo | undefined
}
globalThis.functionsDatabase = undefined
connectFunctions(() => globalThis.functionsDatabase)

/**
 * Makes Lambda functions that load later use the database from `find`. If `find` returns undefined, the functions use the
 * DynamoDB of their environment.
 */
export function connectFunctions(find: () => OperatorDynamo | undefined): void {
  vi.doMock('../../lib/aws/dynamo.ts', async (importOriginal) => {
    const original = await importOriginal<typeof import('../../lib/aws/dynamo.ts')>()
    const { createTable } = await import('../../lib/aws/table.ts')
    const dynamo = () => find() ?? original.dynamo()
    return { ...original, dynamo, openTable: (name: string) => createTable(dynamo(), name) }
  })
  vi.doMock('../../lib/aws/transactions.ts', async (importOriginal) => {
    const original = await importOriginal<typeof import('../../lib/aws/transactions.ts')>()
    const { createTransactingTable, openTransactingTable: open } = original
    const openTransactingTable = (name: string) => {
      const dynamo = find()
      return dynamo ? createTransactingTable(dynamo, name) : open(name)
    }
    return { ...original, openTransactingTable }
  })
  vi.doMock('../../lib/aws/operator-table.ts', async (importOriginal) => {
    const original = await importOriginal<typeof import('../../lib/aws/operator-table.ts')>()
    const { createOperatorTable, openOperatorTable: open } = original
    const openOperatorTable = (name: string) => {
      const dynamo = find()
      return dynamo ? createOperatorTable(dynamo, name) : open(name)
    }
    return { ...original, openOperatorTable }
  })
}
