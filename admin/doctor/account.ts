import type { Stage } from '../../infra/environments.ts'
import type { AwsAccount } from '../stage/aws-account.ts'
import { MIN_CONCURRENT_EXECUTIONS, RAISE_EXECUTIONS_COMMAND } from '../stage/quota.ts'
import { listOperatorPermissions } from '../stage/rights.ts'
import { type Finding, guideSection } from './finding.ts'

/** Functions that read an AWS account, as far as the command `doctor` needs them. */
export type AwsAccountReader = Pick<AwsAccount, 'identify' | 'countExecutions' | 'listDenied'>

/** Checks the account's limit of concurrent function executions. Sends one request. */
export async function checkQuota({ countExecutions }: AwsAccountReader, stage: Stage): Promise<Finding[]> {
  const name = 'quota'
  const executions = await countExecutions().catch(orUndefinedIfDenied)
  if (executions === undefined) {
    const remedy = `Let them lambda:GetAccountSettings: ${guideSection('watch', 'Rights')}`
    return [{ mark: 'WARN', name, result: 'your AWS credentials may not read it', remedy }]
  }
  const result = `${executions} functions at a time`
  if (executions >= MIN_CONCURRENT_EXECUTIONS) return [{ mark: 'ok', name, result }]
  const mark = stage === 'prod' ? 'FAIL' : 'WARN'
  return [{ mark, name, result: `${result}: users get 503 beyond`, remedy: RAISE_EXECUTIONS_COMMAND }]
}

/** Checks that the caller has the IAM permissions that an operator's commands need. Sends seven requests. */
export async function checkPermissions({ identify, listDenied }: AwsAccountReader, stage: Stage): Promise<Finding[]> {
  const name = 'grants'
  const denied = await listDenied(listOperatorPermissions(await identify(), stage))
  if (!denied) return [{ mark: 'skip', name, result: 'AWS does not let your role look at its rights' }]
  if (denied.length === 0) return [{ mark: 'ok', name, result: "suffice for an operator's commands" }]
  const result = `your AWS credentials may not ${denied.join(', ')}`
  return [{ mark: 'WARN', name, result, remedy: guideSection('watch', 'Rights') }]
}

function orUndefinedIfDenied(error: unknown): undefined {
  if (error instanceof Error && error.name.startsWith('AccessDenied')) return undefined
  throw error
}
