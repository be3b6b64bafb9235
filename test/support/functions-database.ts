import { vi } from 'vitest'
import type { Dynamo } from '../../lib/aws/requests.ts'

// Functions of a test that starts the service work on its database in memory. All other tests reach DynamoDB over HTTP.
declare global {
  var functionsDatabase: Dynamo | undefined
}
globalThis.functionsDatabase = undefined
connectFunctions(() => globalThis.functionsDatabase)

/** Connects functions that are loaded from now on to this database; to the one of their environment where there is none. */
export function connectFunctions(find: () => Dynamo | undefined): void {
  vi.doMock('../../lib/aws/dynamo.ts', async (importOriginal) => {
    const original = await importOriginal<typeof import('../../lib/aws/dynamo.ts')>()
    const { createTable } = await import('../../lib/aws/table.ts')
    const dynamo = () => find() ?? original.dynamo()
    return { ...original, dynamo, openTable: (name: string) => createTable(dynamo(), name) }
  })
}
