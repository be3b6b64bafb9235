import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'

async function run(script: string, ...words: string[]) {
  const child = spawn(process.execPath, [`scripts/${script}.ts`, ...words], { timeout: 20_000 })
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { status, stdout, stderr }
}

test.concurrent.for(['cost', 'down', 'load', 'smoke', 'up'])(
  '`npm run %s -- --help` tells its usage, and does nothing',
  async (script) => {
    const { status, stdout, stderr } = await run(script, '--help')
    expect(stdout).toMatch(new RegExp(`^Usage: .*npm run ${script}`))
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  },
)

test.concurrent.for([
  ['cost', '--bogus', ''],
  ['load', '--bogus', ''],
  ['load', '--seconds', 'x'],
  ['smoke', '--bogus', ''],
  ['smoke', '--url', 'localhost:6400'],
  ['down', '--stage', 'qa'],
  ['up', '--bogus', ''],
] as const)(
  '`npm run %s -- %s %s` says what is wrong, tells the usage and ends with 2',
  async ([script, option, value]) => {
    const { status, stdout, stderr } = await run(script, option, ...(value ? [value] : []))
    expect(stderr).toMatch(new RegExp(`^.*${option}.*\n\nUsage: .*npm run ${script}`))
    expect(stderr).not.toContain('    at ')
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
  },
)
