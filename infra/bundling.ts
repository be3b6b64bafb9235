import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, buildSync, type OutputFile } from 'esbuild'
import type { FunctionName } from './functions.ts'

/** What is uploaded for one function, and the bytes that each file of packages, and our own code, has in it. */
export type Bundle = {
  readonly code: Uint8Array
  readonly bytesByFile: ReadonlyMap<string, number>
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const LAMBDA_CREDENTIALS = fileURLToPath(import.meta.resolve('./lambda-credentials.ts'))
const FILE = 'index.mjs'
/** Where a client of the SDK tells its version. */
const SDK_VERSION = /(^|\/)node_modules\/@aws-sdk\/[^/]+\/package\.json$/
/** What our own code is called in the list of what a bundle is made of. */
const OWN_FILE = 'own-code.js'

const OPTIONS = {
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  write: false,
  absWorkingDir: ROOT,
} satisfies BuildOptions

/** Our own code, which says its functions' names: stack traces then need no source map, which takes 20 ms of each cold start. */
const OWN_CODE = { ...OPTIONS, packages: 'external', keepNames: true } satisfies BuildOptions

const WITH_PACKAGES = {
  ...OPTIONS,
  // Packages' ES modules first: their CommonJS forms call `require`, which an ES module does not have.
  mainFields: ['module', 'main'],
  // The AWS SDK that was tested is the one that runs, not the one that the runtime happens to have.
  // Imported when an operation has an event stream; no operation of DynamoDB or Secrets Manager has one: 14 KiB.
  external: ['@smithy/core/event-streams'],
  alias: { '@aws-sdk/credential-provider-node': LAMBDA_CREDENTIALS },
  // The SDK's clients read their own package.json for the version that their user agent tells: 2 KiB each. Nothing else
  // may read JSON: `verifyInputs`.
  loader: { '.json': 'empty' },
  minify: true,
  legalComments: 'none',
  metafile: true,
  outfile: join(ROOT, FILE),
} satisfies BuildOptions

/** Bundles one function into one ES module, as it is deployed. Throws when esbuild does, and where a package reads JSON. */
export function bundle(name: FunctionName): Bundle {
  const own = buildSync({ ...OWN_CODE, entryPoints: [`functions/${name}/handler.ts`] })
  const { outputFiles, metafile } = buildSync({
    ...WITH_PACKAGES,
    stdin: { contents: textOf(own), resolveDir: ROOT, sourcefile: OWN_FILE },
  })
  verifyInputs(Object.keys(metafile.inputs))
  const bytesByFile = Object.entries(metafile.outputs[FILE]?.inputs ?? {})
  return {
    code: new TextEncoder().encode(textOf({ outputFiles })),
    bytesByFile: new Map(bytesByFile.map(([file, { bytesInOutput }]) => [file, bytesInOutput])),
  }
}

/** Throws where a bundle of these files has a JSON file that would be empty in it, though its package may need it. */
export function verifyInputs(files: readonly string[]): void {
  const emptied = files.filter((file) => file.endsWith('.json') && !SDK_VERSION.test(file))
  if (emptied.length > 0) throw new Error(`A bundle would be without the content of ${emptied.join(', ')}.`)
}

function textOf({ outputFiles: [file] }: { outputFiles: readonly OutputFile[] }): string {
  if (!file) throw new Error('esbuild made no bundle.')
  return file.text
}

/** Bundles one function into a directory, which is made where it does not exist. */
export function writeBundle(name: FunctionName, directory: string): Bundle {
  const made = bundle(name)
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, FILE), made.code)
  return made
}

/** The functions whose budget is not that of all others, and why. */
const OTHER_BUDGETS: Partial<Record<FunctionName, number>> = {
  // They bring the library that verifies passkeys, with all formats of certificates: 450 KiB.
  'accounts/register': 900,
  'accounts/login': 900,
  // The records and the bridge together; nobody waits for it.
  'jobs/refresh-chain': 560,
  // The frame alone: middy, the logger, zod and every error's text.
  'system/health': 135,
  'system/apple-app-site-association': 135,
  'system/assetlinks': 135,
  // The frame and every contract, without any AWS client or chain reader; grows by 1 or 2 KiB with each endpoint.
  'system/openapi': 222,
  'system/unknown-route': 222,
}

/** How large a function's minified bundle may be, in KiB. */
export function bundleBudget(name: FunctionName): number {
  return OTHER_BUDGETS[name] ?? 500
}
