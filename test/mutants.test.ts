import { globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { expect, test } from 'vitest'

const PATCHES = globSync('test/mutants/*/*.patch').toSorted()

test('Mutants cover everything that decides the signed transactions and the reported numbers', () => {
  const areas = new Set(PATCHES.map((path) => dirname(path).slice('test/mutants/'.length)))
  expect(areas).toEqual(new Set(['bridge', 'calldata', 'fees', 'fold', 'limits', 'signatures', 'terms']))
  expect(PATCHES.length).toBeGreaterThanOrEqual(50)
})

test.for(PATCHES)('%s names its mistake and still applies', (path) => {
  const [mistake = '', from = '', to = '', ...lines] = readFileSync(path, 'utf8').trimEnd().split('\n')
  expect(mistake).toMatch(/^[A-Z].*\.$/)
  const file = from.slice('--- a/'.length)
  expect(to).toBe(`+++ b/${file}`)
  const code = readFileSync(file, 'utf8')
  for (const hunk of lines
    .join('\n')
    .split(/^@@ .*\n/m)
    .slice(1)) {
    const before = hunk
      .trimEnd()
      .split('\n')
      .filter((line) => !line.startsWith('+'))
      .map((line) => `${line.slice(1)}\n`)
    expect(code).toContain(before.join(''))
  }
})
