import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

// In a process of its own, beside the other tests: it computes for some 15 seconds.
test('The compiled contracts are what the sources compile to', { timeout: 120_000 }, async () => {
  const check = spawn(process.execPath, ['scripts/contracts.ts', '--check'])
  const [stderr, [code]] = await Promise.all([text(check.stderr), once(check, 'exit')])
  expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
})
