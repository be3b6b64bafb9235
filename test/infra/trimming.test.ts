import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test, vi } from 'vitest'
import * as zod from 'zod'
import { copyZod, trimOwnCode } from '../../infra/trimming.ts'
import { ERRORS } from '../../lib/core/errors.ts'

const TABLE = `var ERRORS = {
  internal: "500 | Internal server error | Report it.",
  not_found: ""
};`
const SOURCES = globSync('{lib,functions}/**/*.ts').filter((path) => path !== 'lib/core/errors.ts')

test('Own code keeps exactly the errors whose codes occur in it', () => {
  const code = trimOwnCode(`${TABLE}\nthrow new AppError("vault_not_found");\nconst codes = ["internal"];\n`)
  const { vault_not_found, internal } = ERRORS
  expect(code).toContain(JSON.stringify(vault_not_found))
  expect(code).toContain(JSON.stringify(internal))
  expect(code).not.toContain(ERRORS.not_found)
  expect(code).not.toContain(ERRORS.coin_not_found)
})

test('Own code keeps a field’s description only if it is concatenated', () => {
  const code = 'z.string().describe(\n  "A \\"name\\" (text)"\n).optional().describe(`Or ` + one).describe(`None`)'
  expect(trimOwnCode(`${TABLE}\n${code}`)).toMatch(/z\.string\(\)\.optional\(\)\.describe\(`Or ` \+ one\)$/)
})

test('Own code without a table of errors is refused', () => {
  expect(() => trimOwnCode('export const handler = 1')).toThrow('has no table of errors')
})

test('Errors are found only by literal codes, and only the reply reads their table', () => {
  const codes = Object.keys(ERRORS)
  const built = SOURCES.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/`([a-z_]*(?:\$\{[^{}]*\}[a-z_]*)+)`/g)].flatMap(
      ([text, template = '']) => {
        const literal = template.replaceAll(/\$\{[^{}]*\}/g, '')
        const form = new RegExp(`^${template.replaceAll(/\$\{[^{}]*\}/g, '[a-z_]+')}$`)
        return literal.includes('_') && codes.some((code) => form.test(code)) ? [`${path}: ${text}`] : []
      },
    ),
  )
  expect(built).toEqual([])
  const reads = /\b(ERRORS|getErrorDefinition|listErrorDefinitions)\b/
  expect(SOURCES.filter((path) => reads.test(readFileSync(path, 'utf8')))).toEqual(['lib/frame/replies.ts'])
})

test('The copy of zod parses like zod, compiles a schema at its hundredth parse, and writes no JSON schema', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'vaultline-zod-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  copyZod('.', directory)
  const copy: typeof zod = await import(pathToFileURL(join(directory, 'node_modules/zod/index.js')).href)
  const inputs = [{ a: 1, b: 'x', c: 2 }, { a: 1 }, { a: '1', b: 2 }, null, {}]
  const schemaOf = (z: typeof zod) => z.object({ a: z.number(), b: z.string().optional(), d: z.number().default(3) })
  const [original, copied] = [schemaOf(zod), schemaOf(copy)]

  let compiled = 0
  const construct = (target: typeof Function, args: string[]) => {
    compiled += 1
    return Reflect.construct(target, args)
  }
  vi.stubGlobal('Function', new Proxy(Function, { construct }))
  onTestFinished(() => void vi.unstubAllGlobals())
  const compiledAt = Array.from({ length: 150 }, (_, index) => {
    const input = inputs[index % inputs.length]
    const before = compiled
    const { data, error } = copied.safeParse(input)
    const hasCompiled = compiled > before
    const expected = original.safeParse(input)
    expect({ data, issues: error?.issues }).toEqual({ data: expected.data, issues: expected.error?.issues })
    return hasCompiled ? [index] : []
  }).flat()
  // One of the five inputs (null) is no object and does not count, so the hundredth parse of an object has the index 124.
  expect(compiledAt).toEqual([124])
  expect(() => copied.toJSONSchema()).toThrow('Bundles have no writer of JSON schemas.')
})
