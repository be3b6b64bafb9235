import { expect, test } from 'vitest'
import * as z from 'zod'
import { type EndpointContract, listUses } from '../../../lib/frame/contract.ts'

const CONTRACT: EndpointContract = {
  method: 'POST',
  path: '/some',
  title: 'Do something',
  summary: 'Does something.',
  tag: 'System',
  caller: 'user',
  uses: { clients: ['PutItem'], users: ['UpdateItem', 'GetItem'], cache: ['GetItem'], config: true },
  request: {},
  response: z.undefined(),
  errors: [],
  cacheControl: 'no-store',
  impact: 'Nothing.',
}

test('A function uses the actions that identify its caller, and those of its contract', () => {
  expect(listUses(CONTRACT)).toEqual({
    clients: ['Query', 'PutItem'],
    users: ['GetItem', 'UpdateItem'],
    cache: ['UpdateItem', 'GetItem'],
    config: true,
  })
})
