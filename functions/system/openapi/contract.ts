import * as z from 'zod'
import type { EndpointContract } from '../../../lib/frame/contract.ts'

export const contract = {
  method: 'GET',
  path: '/openapi.json',
  title: 'Get API description',
  summary: 'Returns the OpenAPI 3.1 document of all routes.',
  tag: 'System',
  caller: 'anyone',
  uses: {},
  request: {},
  response: z.looseObject({ openapi: z.literal('3.1.0') }),
  errors: [],
  cacheControl: 'public, max-age=300',
  impact: 'Developers cannot load the API description.',
} as const satisfies EndpointContract
