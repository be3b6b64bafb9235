import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ERRORS } from '../lib/core/errors.ts'

const ERROR_TABLE = /^var ERRORS = \{\n.*?^\};$/ms
const DESCRIPTION = /\.describe\(\s*(?:"(?:[^"\\]|\\.)*"|`[^`$]*`)\s*\)/g

/**
 * Returns a function's own code, as esbuild writes it, without unused errors and without the descriptions of fields. An error is used if
 * its code is a word in the function's code. Throws if there is no table of errors.
 */
export function trimOwnCode(code: string): string {
  if (!ERROR_TABLE.test(code)) throw new Error('The own code of a function has no table of errors.')
  const words = new Set(code.replace(ERROR_TABLE, '').match(/\w+/g))
  const raised = Object.entries(ERRORS).filter(([code]) => words.has(code))
  return code
    .replace(ERROR_TABLE, () => `var ERRORS = ${JSON.stringify(Object.fromEntries(raised))};`)
    .replaceAll(DESCRIPTION, '')
}

/** zod writes and compiles a function for each object schema when it first parses one. */
const COMPILES = /^ *if \(!fastpass\)\n *fastpass = generateFastpass\(def\.shape\);$/m
const DECLARES = /^ *let fastpass;$/m
/** Parses of a schema before zod compiles it. A cold start takes fewer, and zod's other way reads them without a compiler. */
const MIN_PARSES = 100
const SCHEMA_WRITER = /^ *inst\._zod\.processJSONSchema = .*;\n/gm
const REFUSAL = `function refuse() {
  throw new Error('Bundles have no writer of JSON schemas.')
}
`

/**
 * Copies zod into the `node_modules` of a directory, for bundles. Removes the writer of JSON schemas: 18 KiB, which only the reference
 * needs. Delays the compilation of a schema. Throws if zod's code has changed there.
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
