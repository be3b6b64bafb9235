import { QueryObserver } from '@tanstack/react-query'
import { expect, test, vi } from 'vitest'
import { createQueries } from '../../wallet/src/queries.ts'

class Outage extends Error {}

function observe(queryFn: () => Promise<string>) {
  const queries = createQueries((error) => (error instanceof Outage ? 10 : undefined))
  const observer = new QueryObserver(queries, { queryKey: ['asked'], queryFn, retry: false })
  const statuses: string[] = []
  const stop = observer.subscribe(({ status }) => statuses.push(status))
  return { observer, statuses, stop }
}

test('A failed query on the page is retried, and its error stays until a response', async () => {
  let isDown = true
  const ask = vi.fn(async () => {
    if (isDown) throw new Outage()
    return 'answer'
  })
  const { observer, statuses, stop } = observe(ask)
  await expect.poll(() => ask.mock.calls.length).toBeGreaterThan(3)
  expect(statuses.filter((status) => status === 'error')).toHaveLength(1)
  isDown = false
  await expect.poll(() => observer.getCurrentResult().data).toBe('answer')
  stop()
})

test('A query with a permanent error is not retried', async () => {
  const ask = vi.fn(async () => Promise.reject(new Error('There is no such vault.')))
  const { observer, stop } = observe(ask)
  await expect.poll(() => observer.getCurrentResult().status).toBe('error')
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(ask).toHaveBeenCalledTimes(1)
  stop()
})
