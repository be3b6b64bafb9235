import { type Contract, listUses } from '../../lib/frame/contract.ts'
import type { TablePermission } from '../../lib/frame/resources.ts'
import type { RequestAttempt } from './memory-dynamo.ts'

/** Lists the table requests that a function's contract does not declare. On AWS, IAM would deny such requests. */
export function listUndeclaredRequests(contract: Contract, tries: readonly RequestAttempt[]): string[] {
  const uses: Readonly<Record<string, unknown>> = listUses(contract)
  const done = tries.map(({ action, table, index }) => ({ name: table, access: index ? `${action} ${index}` : action }))
  const isAllowed = ({ name, access }: (typeof done)[number]) => {
    const allowed = uses[name.split('-').at(-1) ?? '']
    return Array.isArray(allowed) && (allowed as readonly TablePermission[]).includes(access as TablePermission)
  }
  return done.filter((one) => !isAllowed(one)).map(({ name, access }) => `${access} of ${name}`)
}
