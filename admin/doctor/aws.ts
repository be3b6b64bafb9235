import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import * as z from 'zod'
import { TABLE_KEYS, type TableKey } from '../../infra/tables.ts'
import type { Table } from '../../lib/aws/table.ts'
import { describeReason, type Finding, guideSection } from './finding.ts'

/** Function that throws if an environment's table cannot be read. It sends one request, the smallest possible. */
export type TableProbe = (table: TableKey) => Promise<void>

/** Returns a function that reads one item of a table, and throws if the read fails. */
export function createTableProbe(open: (table: TableKey) => Table): TableProbe {
  return async (table) => {
    await open(table).get(z.unknown(), { pk: 'doctor', sk: 'doctor' }, { isConsistent: false })
  }
}

/** DynamoDB's errors for unknown credentials, expired credentials, and a wrong secret. */
const REFUSED_CREDENTIALS = ['UnrecognizedClientException', 'ExpiredTokenException', 'InvalidSignatureException']

/**
 * Checks that the AWS client has a region and credentials that AWS accepts. Without them no other check works. Sends one request to a
 * table.
 */
export async function checkAccess({ config }: Pick<DynamoDBClient, 'config'>, probe: TableProbe): Promise<Finding[]> {
  const lacks = async (what: string, resolve: () => Promise<unknown>) =>
    await resolve().then(
      () => [],
      (error: unknown) => [`no ${what} (${describeReason(error)})`],
    )
  const lacking = await Promise.all([lacks('region', config.region), lacks('credentials', config.credentials)])
  const result = lacking.flat().join(', ') || (await describeRefusal(probe))
  if (!result) return []
  const remedy = `Set AWS_REGION to the stage's, and AWS_PROFILE or the keys of AWS: ${guideSection('watch', 'Rights')}`
  return [{ mark: 'FAIL', name: 'AWS', result, remedy }]
}

/**
 * Returns the reason why AWS refuses the credentials; undefined if AWS accepts the credentials, even if the request fails for another
 * reason.
 */
async function describeRefusal(probe: TableProbe): Promise<string | undefined> {
  const error = await probe('clients').catch((failure: unknown) => failure)
  const isRefused = error instanceof Error && REFUSED_CREDENTIALS.includes(error.name)
  return isRefused ? `it refuses your credentials (${describeReason(error)})` : undefined
}

/** Checks that each table exists and can be read. Sends one request to each. */
export async function checkTables(probe: TableProbe): Promise<Finding[]> {
  const findings = await Promise.all(
    TABLE_KEYS.map((table) =>
      probe(table).then(
        () => [],
        (error: unknown) => [judgeFailure(table, error)],
      ),
    ),
  )
  const failed = findings.flat()
  if (failed.length > 0) return failed
  return [{ mark: 'ok', name: 'tables', result: `${TABLE_KEYS.length} can be read` }]
}

function judgeFailure(table: TableKey, error: unknown): Finding {
  const [mark, name] = ['FAIL' as const, `table ${table}`]
  switch (error instanceof Error ? error.name : '') {
    case 'ResourceNotFoundException': {
      const remedy = 'A new stage: docs/deploy.md; one that had it: docs/runbooks/restore.md'
      return { mark, name, result: 'there is none', remedy }
    }
    case 'AccessDeniedException': {
      const remedy = `Let them dynamodb:GetItem on vaultline-<stage>-${table}`
      return { mark, name, result: 'your AWS credentials may not read it', remedy }
    }
    default:
      return { mark, name, result: `cannot be read: ${describeReason(error)}` }
  }
}
