import { localConfig } from '../../infra/local/dynamo.ts'
import { documentClient } from '../../lib/aws/dynamo.ts'
import { recordsTable } from '../../lib/deposits/table.ts'
import type { Service } from './service.ts'

/** The table of records, written to behind the service's back. */
export function recordsOf({ backends }: Service) {
  const { endpoint, tableNames } = backends.dynamo
  return recordsTable(documentClient(localConfig(endpoint)), tableNames.deposits)
}
