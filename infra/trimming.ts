import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ERRORS } from '../lib/core/errors.ts'

const ERROR_TABLE = /^var ERRORS = \{\n.*?^\};$/ms
const DESCRIPTION = /\.describe\(\s*(?:"(?:[^"\\]|\\.)*"|`[^`$]*`)\s*\)/g

/**
 * Returns the code of a function without two unused parts: errors that the function never raises, and descriptions of schema fields. An
 * error counts as used if its code appears as a word in the function's code. Throws if the code has no table of errors.
 */
export function trimOwnCode(code: string): string {
  if (!ERROR_TABLE.test(code)) throw new Error('The own code of a function has no table of errors.')
  const words = new Set(code.replace(ERROR_TABLE, '').match(/\w+/g))
  const raised = Object.entries(ERRORS).filter(([code]) => words.has(code))
  return code
    .replace(ERROR_TABLE, () => `var ERRORS = ${JSON.stringify(Object.fromEntries(raised))};`)
    .replaceAll(DESCRIPTION, '')
}

/** Matches the lines in which zod generates and compiles a parser for an object schema at its first parse. */
const COMPILES = /^ *if \(!fastpass\)\n *fastpass = generateFastpass\(def\.shape\);$/m
const DECLARES = /^ *let fastpass;$/m
/** Number of parses of a schema before zod compiles a parser for it. A cold start needs fewer parses, so zod compiles nothing during it. */
const MIN_PARSES = 100
const SCHEMA_WRITER = /^ *inst\._zod\.processJSONSchema = .*;\n/gm
const REFUSAL = `function refuse() {
  throw new Error('Bundles have no writer of JSON schemas.')
}
`

/**
 * Copies zod into the `node_modules` of a directory, for bundles. The copy has no generator of JSON Schema (18 KiB), which only the API
 * reference uses. The copy compiles a schema's parser only after many parses. Throws if zod's code lacks the lines to change.
 */
export function copyZod(root: string, directory: string): void {
  const zod = join(directory, 'node_modules', 'zod')
  cpSync(join(root, 'node_modules', 'zod'), zod, {
    recursive: true,
    filter: (path) => !/\.c?ts$|\/(src|v3)$/.test(path),
  })
  const rewrite = (file: string, change: (code: string) => string) => {
    const before = readFileSync(join(zod, 'v4', file), 'utf8')
    const after = change(before)
    if (after === before) throw new Error(`zod has other code in ${file} than the bundles expect.`)
    writeFileSync(join(zod, 'v4', file), after)
  }
  rewrite('core/schemas.js', (code) => {
    if (!DECLARES.test(code)) return code
    const interprets = `if (!fastpass && ++parses < ${MIN_PARSES}) return superParse(payload, ctx);`
    const compiles = `${interprets} fastpass ??= generateFastpass(def.shape);`
    return code.replace(DECLARES, 'let fastpass, parses = 0;').replace(COMPILES, compiles)
  })
  rewrite('classic/schemas.js', (code) => code.replaceAll(SCHEMA_WRITER, ''))
  for (const file of ['core/to-json-schema.js', 'core/json-schema-processors.js']) {
    rewrite(file, (code) => {
      const names = [...code.matchAll(/^export (?:const|function) (\w+)/gm)].map(([, name]) => `refuse as ${name}`)
      return names.length > 0 ? `${REFUSAL}export { ${names.join(', ')} }\n` : code
    })
  }
}
