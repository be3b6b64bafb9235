import { expect, test } from 'vitest'
import { runConcurrently } from '../../lib/core/side-by-side.ts'

test('After a failed task none starts, and the failure is thrown once running tasks have ended', async () => {
  const begun: number[] = []
  const ended: number[] = []
  const failing = runConcurrently(Array.from({ length: 40 }).keys(), async (task) => {
    begun.push(task)
    if (task === 0) throw new Error('refused')
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
    ended.push(task)
  })
  await expect(failing).rejects.toThrow('refused')
  expect(begun).toEqual([0, 1, 2, 3, 4, 5, 6, 7])
  expect(ended).toEqual(begun.slice(1))
})
