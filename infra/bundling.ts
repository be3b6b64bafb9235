import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, buildSync } from 'esbuild'
import type { FunctionName } from './functions.ts'

/** What is uploaded for one function, and the bytes that each source file has in it. */
export type Bundle = {
  readonly code: Uint8Array
  readonly sourceMap: Uint8Array
  readonly bytesByFile: ReadonlyMap<string, number>
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const LAMBDA_CREDENTIALS = fileURLToPath(import.meta.resolve('./lambda-credentials.ts'))
const FILE = 'index.mjs'

const OPTIONS = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  // Packages' ES modules first: their CommonJS forms call `require`, which an ES module does not have.
  mainFields: ['module', 'main'],
  // The AWS SDK that was tested is the one that runs, not the one that the runtime happens to have.
  external: [],
  alias: { '@aws-sdk/credential-provider-node': LAMBDA_CREDENTIALS },
  minify: true,
  legalComments: 'none',
  sourcemap: true,
  // A stack trace needs the map's positions alone; the sources would make it three times as large.
  sourcesContent: false,
  metafile: true,
  write: false,
  absWorkingDir: ROOT,
  // Nothing is written here, but the source map's paths start here: wherever the bundle is put, its bytes are the same.
  outfile: join(ROOT, FILE),
} satisfies BuildOptions

/** Bundles one function into one ES module, as it is deployed. Throws when esbuild does. */
export function bundle(name: FunctionName): Bundle {
  const { outputFiles, metafile } = buildSync({ ...OPTIONS, entryPoints: [`functions/${name}/handler.ts`] })
  const code = outputFiles.find(({ path }) => path.endsWith('.mjs'))
  const sourceMap = outputFiles.find(({ path }) => path.endsWith('.map'))
  if (!code || !sourceMap) throw new Error(`esbuild made no bundle of ${name}.`)
  const inputs = metafile.outputs[FILE]?.inputs ?? {}
  const bytesByFile = Object.entries(inputs).map(([file, { bytesInOutput }]) => [file, bytesInOutput] as const)
  return { code: code.contents, sourceMap: sourceMap.contents, bytesByFile: new Map(bytesByFile) }
}

/** Bundles one function into a directory, which is made where it does not exist. */
export function writeBundle(name: FunctionName, directory: string): Bundle {
  const made = bundle(name)
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, FILE), made.code)
  writeFileSync(join(directory, `${FILE}.map`), made.sourceMap)
  return made
}

/** The functions whose budget is not that of all others, and why. */
const OTHER_BUDGETS: Partial<Record<FunctionName, number>> = {
  // They bring the library that verifies passkeys, with all formats of certificates: 450 KiB.
  'auth/register': 900,
  'auth/login': 900,
  // The frame alone: middy, the logger, zod and every error's text.
  'system/health': 135,
  'system/apple-app-site-association': 135,
  'system/assetlinks': 135,
  // The frame and every contract, without any AWS client or chain reader; grows by 1 or 2 KiB with each endpoint.
  'system/openapi': 220,
  'system/unknown-route': 220,
}

/** How large a function's minified bundle may be, in KiB. */
export function bundleBudget(name: FunctionName): number {
  return OTHER_BUDGETS[name] ?? 500
}
