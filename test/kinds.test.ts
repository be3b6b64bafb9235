import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { TEST_KINDS } from './support/kinds.ts'

const OUTSIDE = /^node:(child_process|http|https|net|tls)$/
const TABLES = join('test', 'support', 'memory-dynamo.ts')

function importsOf(path: string, text: string): string[] {
  const imports = text.matchAll(/^(?:import|export)\b(?! type)[^'"]*?from '([^']+)'|\bimport\(?\s?'([^']+)'/gm)
  return [...imports]
    .map(([, one = '', other = one]) => other)
    .map((name) => (name.startsWith('.') ? join(dirname(path), name) : name))
}

/**
 * Returns the modules that a test imports, directly or through other test and sandbox files. Imports inside the
 * service's own files are not followed.
 */
function reach(path: string, read: (path: string) => string): Set<string> {
  const reached = new Set<string>()
  const follow = (from: string) => {
    for (const name of importsOf(from, read(from))) {
      if (reached.has(name)) continue
      reached.add(name)
      if (/^(test|sandbox)\b.*\.ts$/.test(name)) follow(name)
    }
  }
  follow(path)
  return reached
}

/** Returns the reason why a test's imports do not match the kind in its file name, or undefined if they match. */
function findMisfit(path: string, read = (file: string) => readFileSync(file, 'utf8')): string | undefined {
  const kind = TEST_KINDS.find((one) => path.endsWith(`.${one}.test.ts`)) ?? 'unit'
  if (!['unit', 'table', 'service'].includes(kind)) return undefined
  const reached = [...reach(path, read)]
  const outside = reached.find((name) => OUTSIDE.test(name))
  if (kind === 'service') return outside === undefined ? `${path} is no service test` : undefined
  if (outside !== undefined) return `${path} is no ${kind} test: it reaches ${outside}`
  const hasTables = reached.includes(TABLES)
  if (hasTables === (kind === 'table')) return undefined
  return hasTables ? `${path} is a table test` : `${path} is a unit test`
}

test('A unit test reaches no table, server, chain or process, and a table test only tables in memory', () => {
  const files: Record<string, string> = {
    'test/a.test.ts': "import { b } from './support/b.ts'",
    'test/a.table.test.ts': "import { b } from './support/b.ts'",
    'test/c.table.test.ts': "import { memoryDynamo } from './support/memory-dynamo.ts'",
    'test/support/b.ts': "import {\n  createServer,\n} from 'node:http'",
    [TABLES]: '',
  }
  const misfit = (path: string) => findMisfit(path, (file) => files[file] ?? '')
  expect(misfit('test/a.test.ts')).toBe('test/a.test.ts is no unit test: it reaches node:http')
  expect(misfit('test/a.table.test.ts')).toBe('test/a.table.test.ts is no table test: it reaches node:http')
  expect(misfit('test/c.table.test.ts')).toBeUndefined()
  // gates.test.ts is exempt: it is a unit test, although it runs the linter as a process.
  const tests = globSync('test/**/*.test.ts').filter((path) => path !== join('test', 'gates.test.ts'))
  expect(tests.flatMap((path) => findMisfit(path) ?? [])).toEqual([])
})

test('No file is imported by a computed URL, which hides the tests that a change affects', () => {
  const hides = (text: string) => /\bimport\(new URL\(/.test(text)
  expect(hides("await import(new URL('a.ts', here).href)")).toBe(true)
  const files = ['sandbox', 'test', 'lib', 'functions', 'admin'].flatMap((root) => globSync(`${root}/**/*.ts`))
  expect(files.filter((path) => !path.endsWith('kinds.test.ts') && hides(readFileSync(path, 'utf8')))).toEqual([])
})
