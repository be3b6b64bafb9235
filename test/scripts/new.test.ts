import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const COPIED = [
  ...['functions', 'lib', 'scripts', 'docs/api.md', 'test/functions/openapi.test.ts'],
  ...['package.json', 'biome.json', '.gitignore'],
]

test('A new endpoint runs, is as the linter wants it, and is there once', () => {
  const folder = mkdtempSync(join(tmpdir(), 'new-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const path of COPIED) cpSync(path, join(folder, path), { recursive: true })
  symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
  const run = (command: string, ...args: string[]) => spawnSync(command, args, { cwd: folder, encoding: 'utf8' })
  const create = () => run('node', 'scripts/new.ts', 'endpoint', 'system/some-example')

  expect(create()).toMatchObject({ status: 0, stderr: '' })
  expect(run('node', 'functions/system/some-example/handler.ts')).toMatchObject({ status: 0, stderr: '' })
  expect(run('biome', 'check', '--vcs-enabled=false', 'functions/contracts.ts', 'functions/system').status).toBe(0)
  expect(readFileSync(join(folder, 'functions/contracts.ts'), 'utf8')).toContain("'system/some-example':")
  expect(readFileSync(join(folder, 'docs/api.md'), 'utf8')).toContain('/system/some-example')
  expect(create()).toMatchObject({ status: 1, stderr: 'functions/system/some-example is there already.\n' })
})
