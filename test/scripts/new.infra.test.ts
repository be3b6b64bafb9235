import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const COPIED = [
  ...[
    'functions',
    'lib',
    'scripts',
    'reference',
    'docs/api',
    'docs/errors.md',
    'client/package.json',
    'client/src/api.ts',
    'test/functions/openapi.service.test.ts',
  ],
  ...['package.json', 'biome.json', '.gitignore'],
]

/** Copies the repository's sources. Returns a function that runs commands in the copy. */
function copySources() {
  const folder = mkdtempSync(join(tmpdir(), 'new-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const path of COPIED) cpSync(path, join(folder, path), { recursive: true })
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  const run = (command: string, ...args: string[]) => spawnSync(command, args, { cwd: folder, encoding: 'utf8' })
  return { folder, run, create: (place: string) => run('node', 'scripts/new.ts', 'endpoint', place) }
}

test('The generator distinguishes jobs from endpoints and starts a new area with its tag', () => {
  const { create } = copySources()
  const job = 'A job is no endpoint: functions/jobs/refresh-tokens is a short one to copy.\n'
  expect(create('jobs/refresh-rewards')).toMatchObject({ status: 1, stderr: job })
  const area = 'There is no area user-rewards: enter UserRewards in API_AREAS of lib/frame/contract.ts first.\n'
  expect(create('user-rewards/list')).toMatchObject({ status: 1, stderr: area })
})

test('A generated endpoint in a new area runs, passes the linter, and cannot be generated twice', () => {
  const { folder, run, create } = copySources()
  const frame = join(folder, 'lib/frame/contract.ts')
  writeFileSync(frame, readFileSync(frame, 'utf8').replace("System: '", "UserRewards: 'Something new',\n  System: '"))
  expect(create('user-rewards/list')).toMatchObject({ status: 0, stderr: '' })
  expect(run('node', 'functions/user-rewards/list/handler.ts')).toMatchObject({ status: 0, stderr: '' })
  expect(run('biome', 'check', '--vcs-enabled=false', 'functions/contracts.ts', 'functions/user-rewards').status).toBe(
    0,
  )
  expect(readFileSync(join(folder, 'functions/contracts.ts'), 'utf8')).toContain("'user-rewards/list':")
  expect(readFileSync(join(folder, 'docs/api/index.md'), 'utf8')).toContain('/user-rewards/list')
  expect(create('user-rewards/list')).toMatchObject({
    status: 1,
    stderr: 'functions/user-rewards/list is there already.\n',
  })
})
