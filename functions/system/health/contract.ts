import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/health',
  title: 'Get health',
  summary: "Returns the service's status and version.",
  tag: 'System',
  caller: 'anyone',
  uses: { version: true },
  request: {},
  response: z.object({ status: z.literal('ok'), version: z.string().describe('Version of the service') }),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Uptime checks fail.',
} as const satisfies EndpointContract
