import { expect } from 'vitest'
import { test } from '../../support/service.ts'

test('The list has every vault of the client with its live state', async ({ service }) => {
  const { status, body } = await service.call('GET', '/defi-vaults/v1/vaults')
  expect(status).toBe(200)
  expect(body.success).toBe(true)
  expect(body.data).toHaveLength(10)
})
