import * as z from 'zod'
import { type Contract, listUses } from '../../lib/frame/contract.ts'
import type { Access } from '../../lib/frame/resources.ts'
import type { Wire } from './wire.ts'

const Asked = z.object({
  TableName: z.string().optional(),
  IndexName: z.string().optional(),
  RequestItems: z.record(z.string(), z.unknown()).default({}),
})

/** What was done over this wire with tables that a contract does not say its function does: IAM would refuse it. */
export function refusedByIam(contract: Contract, { actions }: Wire): string[] {
  const uses: Readonly<Record<string, unknown>> = listUses(contract)
  const done = actions.flatMap(({ action, body }) => {
    const { TableName, IndexName, RequestItems } = Asked.parse(JSON.parse(body))
    const tables = TableName === undefined ? Object.keys(RequestItems) : [TableName]
    return tables.map((name) => ({ name, access: IndexName ? `${action} ${IndexName}` : action }))
  })
  const isAllowed = ({ name, access }: (typeof done)[number]) => {
    const allowed = uses[name.split('-').at(-1) ?? '']
    return Array.isArray(allowed) && (allowed as readonly Access[]).includes(access as Access)
  }
  return done.filter((one) => !isAllowed(one)).map(({ name, access }) => `${access} of ${name}`)
}
